//! `modules.toml`: packages, how their shaders are completed, and the modules to take.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// A package with shaders.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    pub name: String,
    /// Where its shaders lie.
    pub folder: String,
    /// The files that `#import NAME` stands for; `*` in the key stands for the name, and in the value.
    #[serde(default)]
    pub imports: BTreeMap<String, String>,
    /// Macros of GLSL, or the texts that a package's host code puts in for names in braces
    /// (`@FILE` for the text of one).
    #[serde(default)]
    pub defines: BTreeMap<String, String>,
    /// What the host code puts in front of a shader.
    #[serde(default)]
    pub prelude: String,
    #[serde(rename = "module")]
    modules: Vec<Module>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    file: String,
    /// Tells several modules of one file apart.
    variant: Option<String>,
    /// Other files that the host code puts together with it.
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    defines: BTreeMap<String, String>,
    /// Defines of the package that this module does without.
    #[serde(default)]
    without: Vec<String>,
    /// Options of the launch.
    #[serde(default)]
    args: Vec<String>,
    /// What the `-O` result must come to, where it is not `refines`.
    verdict: Option<String>,
    /// Why, where it is not.
    #[serde(default)]
    #[allow(dead_code, reason = "told to readers of the list")]
    why: Option<String>,
    #[serde(default)]
    heavy: bool,
    /// Why the tool may run out of time on it: then `inconclusive` will do, too.
    limit: Option<String>,
}

/// One module to compile and judge.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub package: Package,
    pub file: String,
    pub with: Vec<String>,
    pub defines: BTreeMap<String, String>,
    pub args: Vec<String>,
    pub verdict: String,
    pub heavy: bool,
    /// The tool may run out of time on it.
    pub limited: bool,
}

/// The whole list.
pub struct Catalogue {
    pub entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    package: Vec<Package>,
}

impl Catalogue {
    pub fn load(path: &Path) -> Self {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let entries = file.package.iter().flat_map(|package| {
            package.modules.iter().map(|module| {
                let mut defines = package.defines.clone();
                defines.retain(|name, _| !module.without.contains(name));
                defines.extend(module.defines.clone());
                let stem = module.file.rsplit_once('.').map_or(module.file.as_str(), |(stem, _)| stem);
                let variant = module.variant.as_ref().map(|variant| format!("-{variant}"));
                Entry {
                    name: format!("{}/{stem}{}", package.name, variant.unwrap_or_default()),
                    package: package.clone(),
                    file: module.file.clone(),
                    with: module.with.clone(),
                    defines,
                    args: module.args.clone(),
                    verdict: module.verdict.clone().unwrap_or_else(|| "refines".to_owned()),
                    heavy: module.heavy,
                    limited: module.limit.is_some(),
                }
            })
        });
        Catalogue { entries: entries.collect() }
    }
}
