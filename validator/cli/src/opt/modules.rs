//! The modules of a command line: files, and those in folders.

use std::path::Path;

use walkdir::WalkDir;

/// What the names of modules in folders end with.
const EXTENSIONS: [&str; 2] = ["spv", "spvasm"];

/// What a command line names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Modules {
    /// Each module by its path, or what cannot be looked into with the reason. In the order of the command line, and
    /// by name within a folder.
    pub(super) found: Vec<Result<String, String>>,
    /// Whether there may be several: results then name their module.
    pub(super) several: bool,
}

/// The modules that `arguments` name: files as they are, and from folders, and the folders in them, those whose names
/// end with `.spv` or `.spvasm`.
pub(super) fn expand(arguments: &[String]) -> Modules {
    let mut modules = Modules { several: arguments.len() > 1, ..Modules::default() };
    for argument in arguments {
        if argument != "-" && Path::new(argument).is_dir() {
            modules.several = true;
            modules.found.extend(in_folder(argument));
        } else {
            modules.found.push(Ok(argument.clone()));
        }
    }
    modules
}

fn in_folder(folder: &str) -> Vec<Result<String, String>> {
    let entries = WalkDir::new(folder).follow_links(true).sort_by_file_name();
    let found: Vec<Result<String, String>> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            Ok(entry) => {
                let path = entry.path();
                let extension = path.extension().and_then(|extension| extension.to_str());
                let is_module = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
                (is_module && !entry.file_type().is_dir()).then(|| Ok(path.to_string_lossy().into_owned()))
            }
            Err(error) => {
                let path = error.path().map_or_else(|| folder.into(), Path::to_string_lossy);
                let reason = match error.loop_ancestor() {
                    Some(ancestor) => format!("is a link to {}, in which it lies", ancestor.display()),
                    None => error.io_error().map_or_else(|| error.to_string(), ToString::to_string),
                };
                Some(Err(format!("{path}: {reason}")))
            }
        })
        .collect();
    match found.is_empty() {
        true => {
            vec![Err(format!("{folder}: no file in this folder has a name that ends with .spv or .spvasm"))]
        }
        false => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_the_modules_in_them() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        std::fs::create_dir_all(root.join("deep/er"))?;
        std::fs::create_dir_all(root.join("empty.spv"))?;
        for file in ["b.spv", "a.spvasm", "notes.txt", "deep/er/c.spv"] {
            std::fs::write(root.join(file), "")?;
        }
        let path = |name: &str| root.join(name).to_string_lossy().into_owned();
        let expanded = expand(&[path(""), "other".to_owned()]);
        let found: Vec<String> = expanded.found.into_iter().filter_map(Result::ok).collect();
        let root = path("");
        let inside = ["a.spvasm", "b.spv", "deep/er/c.spv"].map(|name| format!("{root}{name}"));
        assert_eq!(found, [&inside[..], &["other".to_owned()]].concat());
        assert!(expanded.several);
        let empty = expand(&[path("empty.spv")]);
        assert!(matches!(&empty.found[..], [Err(reason)] if reason.contains("no file in this folder")));
        assert!(!expand(&["-".to_owned()]).several);
        Ok(())
    }
}
