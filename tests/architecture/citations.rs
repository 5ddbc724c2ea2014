//! Files of the repository that documents and comments name in backticks, and whether they are there.

use std::fs;
use std::path::Path;

/// Files that a text names in backticks, each with its line: those with these endings.
pub fn cited(text: &str, is_code: bool) -> Vec<(usize, &str)> {
    let lines = (1..).zip(text.lines());
    let said = lines.filter_map(|(line, text)| match text.find("//") {
        Some(start) if is_code => Some((line, &text[start..])),
        None if is_code => None,
        _ => Some((line, text)),
    });
    let names =
        said.flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |name| (line, name)));
    names.filter(|(_, name)| is_path(name)).collect()
}

/// Whether that is the path of a Rust file or a document. Names in capitals stand for others.
fn is_path(name: &str) -> bool {
    let is_path = |at: char| at.is_ascii_alphanumeric() || "_-./".contains(at);
    let stem = name.strip_suffix(".rs").or(name.strip_suffix(".md"));
    stem.is_some_and(|stem| !stem.is_empty() && stem.chars().all(is_path) && name != "folder/file.rs")
}

/// All files below a folder, as paths from it, but for what is built and hidden folders.
pub fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = vec![root.to_owned()];
    while let Some(folder) = rest.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("a folder can be read").path()) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                rest.push(path);
            } else if path.is_file() {
                let path = path.strip_prefix(root).expect("a file lies in its root");
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Whether some file has that path or ends with it; the `src` of a package may be left out.
pub fn is_there(files: &[String], name: &str) -> bool {
    let ending = format!("/{}", name.trim_start_matches("./").trim_start_matches("../"));
    files.iter().any(|file| {
        let file = format!("/{file}");
        file.ends_with(&ending) || file.replace("/src/", "/").ends_with(&ending)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_backticks_are_found() {
        let text = "`a/b.rs` and `c.md`,\n`NAME.toml` `f()` `d e.rs`";
        assert_eq!(cited(text, false), [(1, "a/b.rs"), (1, "c.md")]);
        assert_eq!(cited("let x = \"`a.rs`\";\n/// See `README.md`.", true), [(2, "README.md")]);
    }

    #[test]
    fn files_may_be_named_by_their_ends() {
        let files = ["validator/model/src/graph.rs", "README.md"].map(str::to_owned);
        for name in
            ["graph.rs", "model/graph.rs", "validator/model/src/graph.rs", "README.md", "../README.md"]
        {
            assert!(is_there(&files, name), "{name}");
        }
        for name in ["raph.rs", "explore/graph.rs", "EADME.md"] {
            assert!(!is_there(&files, name), "{name}");
        }
    }
}
