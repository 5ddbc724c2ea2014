//! Where the sources of packages lie: cargo downloads them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The roots of downloaded packages, by name.
pub struct Packages(BTreeMap<String, PathBuf>);

impl Packages {
    /// Downloads the dependencies of the packages in the subfolders of `folder`, at the versions of their lock files.
    pub fn locate(folder: &Path) -> Result<Self, String> {
        let mut roots = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            roots.extend(dependencies(&entry.path().join("Cargo.toml"))?);
        }
        Ok(Packages(roots))
    }

    pub fn root(&self, name: &str) -> Option<&Path> {
        self.0.get(name).map(PathBuf::as_path)
    }
}

/// The roots of a package's dependencies.
fn dependencies(manifest: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    command.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]).arg(manifest);
    // One platform is enough to have the sources.
    command.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten().filter_map(|package| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some((package["name"].as_str()?.to_owned(), manifest.parent()?.to_owned()))
    });
    Ok(packages.collect())
}
