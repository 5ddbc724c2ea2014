//! WGSL, completed as the package's host code does it, and compiled by naga.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use naga::back::spv;
use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::catalogue::{Entry, Package};

/// The words of the module.
pub fn compile(source: &Path, entry: &Entry, root: &Path) -> Result<Vec<u32>, String> {
    let mut preprocessor = Preprocessor { entry, root, imported: BTreeSet::new(), prefixes: BTreeSet::new() };
    let mut text = entry.package.prelude.clone();
    text += &preprocessor.file(source)?;
    for file in &entry.with {
        text += &preprocessor.file(&root.join(&entry.package.folder).join(file))?;
    }
    for prefix in &preprocessor.prefixes {
        text = text.replace(&format!("{prefix}::"), "");
    }
    for (name, value) in &entry.defines {
        let value = &match value.strip_prefix('@') {
            Some(file) => preprocessor.file(&root.join(&entry.package.folder).join(file))?,
            None => value.clone(),
        };
        for pattern in [format!("{{{{ {name} }}}}"), format!("{{{{{name}}}}}"), format!("{{{name}}}")] {
            text = text.replace(&pattern, value);
        }
    }
    let module = wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| error.emit_to_string(&text))?;
    let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    spv::write_vec(&module, &info, &options, None).map_err(|error| error.to_string())
}

/// `#import`, `#ifdef` and their like, as far as the packages of the list use them.
struct Preprocessor<'a> {
    entry: &'a Entry,
    root: &'a Path,
    imported: BTreeSet<PathBuf>,
    /// Names of imports: what comes from them is written `NAME::…`.
    prefixes: BTreeSet<String>,
}

impl Preprocessor<'_> {
    fn file(&mut self, path: &Path) -> Result<String, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut out = String::new();
        // Whether the lines of each open condition count.
        let mut conditions: Vec<bool> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || c == ';').collect();
            match words[..] {
                ["#ifdef", name, ..] => conditions.push(self.entry.defines.contains_key(name)),
                ["#ifndef", name, ..] => conditions.push(!self.entry.defines.contains_key(name)),
                ["#else", ..] => {
                    if let Some(last) = conditions.last_mut() {
                        *last = !*last;
                    }
                }
                ["#endif", ..] => _ = conditions.pop(),
                _ if conditions.contains(&false) => {}
                ["#define_import_path", ..] => {}
                ["#import", name, "as", alias, ..] => {
                    self.prefixes.insert(alias.to_owned());
                    out += &self.import(name, path)?;
                }
                ["#import", name, ..] => out += &self.import(name, path)?,
                _ => {
                    out += line;
                    out.push('\n');
                }
            }
        }
        Ok(out)
    }

    /// The text behind an import in the file `from`; nothing the second time.
    fn import(&mut self, name: &str, from: &Path) -> Result<String, String> {
        let Package { imports, .. } = &self.entry.package;
        // In angle brackets: beside the file.
        let beside = name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
        let path = match (imports.get(name), imports.get("*"), beside) {
            (Some(file), _, _) => self.root.join(file),
            (None, Some(pattern), _) => self.root.join(pattern.replace('*', name)),
            (None, None, Some(relative)) => {
                let path = from.parent().unwrap_or(self.root).join(relative);
                path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?
            }
            (None, None, None) => return Err(format!("nothing is known of the import {name}")),
        };
        if !self.imported.insert(path.clone()) {
            return Ok(String::new());
        }
        self.file(&path)
    }
}
