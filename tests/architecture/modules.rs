//! The modules of the workspace, and which of them a path leads to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::uses::{scan, Source};

/// A module: the folder of its crate, without those around it, then its path in it. `main.rs` is one, too.
pub type Module = Vec<String>;

/// A path to another module.
#[derive(Debug)]
pub struct Reference {
    pub file: PathBuf,
    pub line: usize,
    /// As the code has it.
    pub path: String,
    pub from: Module,
    pub to: Module,
}

/// The modules of several crates, without tests.
#[derive(Default)]
pub struct Modules {
    files: Vec<(PathBuf, Module, Source)>,
    all: BTreeSet<Module>,
    /// What an import in a module is called there, and the path that it has.
    imports: HashMap<(Module, String), Vec<String>>,
}

/// Imports that import each other lead nowhere.
const LONGEST_CHAIN: usize = 16;

impl Modules {
    /// Those of all crates whose folders lie in `root`, or in the folder of such a crate.
    pub fn read(root: &Path) -> Self {
        let mut found = Vec::new();
        for folder in packages(root) {
            packages(&folder).into_iter().chain([folder]).for_each(|it| files(&it.join("src"), &mut found));
        }
        let sources = found.into_iter().map(|path| {
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.strip_prefix(root).expect("a file lies in its root").to_owned(), text)
        });
        Self::of(sources)
    }

    /// Those of files with their texts. What is below a module of tests belongs to it.
    pub fn of(sources: impl Iterator<Item = (PathBuf, String)>) -> Self {
        let mut modules = Self::default();
        for (path, text) in sources {
            let source = scan(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let module = module_of(&path);
            modules.files.push((path, module, source));
        }
        let tests: BTreeSet<Module> =
            modules.files.iter().flat_map(|(_, module, source)| below(module, &source.tests)).collect();
        let is_test = |module: &Module| (1..=module.len()).any(|length| tests.contains(&module[..length]));
        modules.files.retain(|(_, module, _)| !is_test(module));
        for (_, module, source) in &modules.files {
            modules.all.insert(module.clone());
            modules.all.extend(below(module, &source.modules));
            for used in &source.uses {
                if let Some(name) = &used.name {
                    let place = ([&module[..], &used.module].concat(), name.clone());
                    modules.imports.insert(place, used.path.clone());
                }
            }
        }
        modules
    }

    pub fn contains(&self, module: &Module) -> bool {
        self.all.contains(module)
    }

    /// The modules right inside of one.
    pub fn inside<'a>(&'a self, parent: &'a [String]) -> impl Iterator<Item = &'a Module> {
        self.all.iter().filter(move |module| module.split_last().is_some_and(|(_, rest)| rest == parent))
    }

    /// The files of a module and those inside of it, by their modules.
    pub fn files_below(&self, folder: &[&str]) -> BTreeMap<Module, String> {
        let below = self.files.iter().filter(|(_, module, _)| {
            module.len() >= folder.len() && module.iter().zip(folder).all(|(name, other)| name == other)
        });
        below.map(|(file, module, _)| (module.clone(), file.display().to_string())).collect()
    }

    /// Every path that leads out of its module.
    pub fn references(&self) -> Vec<Reference> {
        let mut references = Vec::new();
        for (file, module, source) in &self.files {
            for used in &source.uses {
                let from = [&module[..], &used.module].concat();
                if let Some((to, _)) = self.resolve(&from, &used.path, 0).filter(|(to, _)| *to != from) {
                    let (file, path) = (file.clone(), used.path.join("::"));
                    references.push(Reference { file, line: used.line, path, from, to });
                }
            }
        }
        references
    }

    /// The module that a path leads to, or that has the item that it leads to (then `true`). An item that a module imports is
    /// in the module that it comes from, unless a glob imported it. None for names of other crates and for local ones; in code
    /// (`chain` is 0) what was imported is local, since the import itself is a use.
    fn resolve(&self, from: &Module, path: &[String], chain: usize) -> Option<(Module, bool)> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => from[..1].to_vec(),
            "self" => from.clone(),
            "super" => from.split_last()?.1.to_vec(),
            "spirv_tv" => vec!["validator".to_owned()],
            name => match name.strip_prefix("spirv_tv_") {
                Some(other) => vec![other.to_owned()],
                None if self.contains(&child(from, name)) => child(from, name),
                None if chain == 0 => return None,
                None => {
                    let (at, is_item) = self.import(from, name, chain)?;
                    if is_item {
                        return Some((at, true));
                    }
                    at
                }
            },
        };
        while let Some((name, next)) = rest.split_first() {
            if name == "super" {
                at.pop();
            } else if self.contains(&child(&at, name)) {
                at = child(&at, name);
            } else {
                match self.import(&at, name, chain) {
                    Some((module, false)) => at = module,
                    Some((module, true)) => return Some((module, true)),
                    None => return Some((at, true)),
                }
            }
            rest = next;
        }
        Some((at, false))
    }

    fn import(&self, module: &Module, name: &str, chain: usize) -> Option<(Module, bool)> {
        let path = self.imports.get(&(module.clone(), name.to_owned())).filter(|_| chain < LONGEST_CHAIN)?;
        self.resolve(module, path, chain + 1)
    }
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_owned()]].concat()
}

fn below<'a>(module: &'a Module, paths: &'a [Vec<String>]) -> impl Iterator<Item = Module> + 'a {
    paths.iter().map(move |path| [&module[..], path].concat())
}

/// The module of a file `crate/src/….rs`.
fn module_of(file: &Path) -> Module {
    let stem = file.with_extension("");
    let mut names: Module = stem.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let src = names.iter().position(|name| name == "src").expect("code lies in src/");
    names.remove(src);
    names.drain(..src - 1);
    if names.len() == 2 && names[1] == "lib" || names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

/// The folders in a folder that are packages with code in `src/`.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let mut folders = entries(folder);
    folders.retain(|folder| folder.join("Cargo.toml").is_file() && folder.join("src").is_dir());
    folders
}

/// The files of a folder with Rust code, and of those in it.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// What lies in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut entries = read().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the paths of a file lead, if it lies beside the others.
    fn targets(file: &str, text: &str) -> Vec<String> {
        let files = [
            ("validator/src/lib.rs", "mod a; mod b; pub use spirv_tv_graphs as graphs;"),
            ("validator/src/a/mod.rs", "mod deep;\npub use deep::{Item, other as renamed};\nuse crate::b;"),
            (
                "validator/src/a/deep.rs",
                "mod inner { fn f() {} }\npub use self::inner::f;\n#[cfg(test)] mod tests;",
            ),
            ("validator/src/a/deep/tests.rs", "use crate::b::c;"),
            ("validator/src/a/deep/tests/more.rs", "use crate::b::d;"),
            ("validator/src/b.rs", "pub use self::x as y; pub use self::y as x;"),
            ("validator/graphs/src/lib.rs", "mod event;"),
            ("validator/graphs/src/event.rs", ""),
            ("tools/src/lib.rs", "mod text;"),
            ("tools/src/text.rs", ""),
        ];
        let others = files.iter().copied().filter(|(path, _)| *path != file).chain([(file, text)]);
        let modules = Modules::of(others.map(|(path, text)| (path.into(), text.to_owned())));
        let of_file = modules.references().into_iter().filter(|it| it.file == Path::new(file));
        of_file.map(|it| format!("{} {}", it.path, it.to.join("/"))).collect()
    }

    /// Where one path leads from a module.
    fn target(file: &str, path: &str) -> Option<String> {
        let found = targets(file, &format!("fn f() {{ {path}() }}")).pop()?;
        Some(found.strip_prefix(path).unwrap().trim().to_owned())
    }

    #[test]
    fn paths_lead_to_modules() {
        let from_new = |path| target("validator/src/a/new.rs", path).unwrap();
        assert_eq!(from_new("crate::b::g"), "validator/b");
        assert_eq!(from_new("super::super::b::g"), "validator/b");
        assert_eq!(from_new("super::deep::Type::new"), "validator/a/deep");
        assert_eq!(from_new("super::h"), "validator/a");
        assert_eq!(from_new("crate::h"), "validator");
        assert_eq!(from_new("spirv_tv_tools::text::h"), "tools/text");
        assert_eq!(target("tools/src/text.rs", "spirv_tv::a::h").unwrap(), "validator/a");
        assert_eq!(target("tools/src/text.rs", "crate::h").unwrap(), "tools");
        assert_eq!(from_new("spirv_tv_graphs::event::h"), "graphs/event");
        assert_eq!(from_new("crate::graphs::event::h"), "graphs/event");
        assert_eq!(target("validator/graphs/src/new.rs", "crate::event::h").unwrap(), "graphs/event");
    }

    #[test]
    fn paths_to_nowhere_else() {
        for path in ["self::g", "Type::new", "std::mem::take", "rayon::join", "super::new::g"] {
            assert_eq!(target("validator/src/a/new.rs", path), None, "{path}");
        }
        assert_eq!(target("validator/src/lib.rs", "a::g").unwrap(), "validator/a");
        assert_eq!(target("validator/src/b.rs", "a::g"), None);
    }

    #[test]
    fn imports_are_followed() {
        let from_new = |path| target("validator/src/a/new.rs", path).unwrap();
        assert_eq!(from_new("super::Item::new"), "validator/a/deep");
        assert_eq!(from_new("super::renamed"), "validator/a/deep");
        assert_eq!(from_new("super::b::g"), "validator/b");
        assert_eq!(from_new("super::deep::f"), "validator/a/deep/inner");
        // Each of these two is the other.
        assert_eq!(from_new("crate::b::x"), "validator/b");
    }

    #[test]
    fn inline_modules_have_parents() {
        let text = "mod inner { use super::x; use super::super::y; use super::super::super::b::z; }";
        let expected = ["super::x validator/a/new", "super::super::y validator/a"];
        let found = targets("validator/src/a/new.rs", text);
        assert_eq!(found, [&expected[..], &["super::super::super::b::z validator/b"]].concat());
    }

    #[test]
    fn tests_are_left_out() {
        assert_eq!(targets("validator/src/a/deep/tests.rs", "use crate::b::c;"), [""; 0]);
        assert_eq!(targets("validator/src/a/deep/tests/more.rs", "use crate::b::c;"), [""; 0]);
        assert_eq!(targets("validator/src/a/tests.rs", "use crate::b::c;"), ["crate::b::c validator/b"]);
    }
}
