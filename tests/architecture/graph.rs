//! Which file of a folder uses which.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;

/// The files of a folder, by their paths, each with those that it uses.
pub struct FileGraph(BTreeMap<String, BTreeSet<String>>);

impl FileGraph {
    /// Of the folder of a module.
    pub fn of(modules: &Modules, folder: &[&str]) -> Self {
        let files = modules.files_below(folder);
        let mut uses: BTreeMap<String, BTreeSet<String>> =
            files.values().map(|file| (file.clone(), BTreeSet::new())).collect();
        let file_of = |module: &[String]| {
            (0..=module.len()).rev().find_map(|length| files.get(&module[..length])).cloned()
        };
        for reference in modules.references() {
            let (Some(from), Some(to)) = (file_of(&reference.from), file_of(&reference.to)) else { continue };
            if from != to {
                uses.entry(from).or_default().insert(to);
            }
        }
        FileGraph(uses)
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.0.len()
    }

    /// Each file with the number of files that use it.
    pub fn users(&self) -> impl Iterator<Item = (String, usize)> + '_ {
        self.0.keys().map(|file| (file.clone(), self.0.values().filter(|used| used.contains(file)).count()))
    }

    /// Files that use each other, as groups: each uses every other one of its group, directly or by others.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&String, BTreeSet<&String>> =
            self.0.keys().map(|file| (file, self.reached(file))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (file, others) in &reached {
            let back = others.iter().filter(|other| reached[**other].contains(*file));
            let circle: Vec<String> = back.map(|other| (*other).clone()).collect();
            if !circle.is_empty() {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// All that a file uses, directly or by others.
    fn reached(&self, file: &String) -> BTreeSet<&String> {
        let mut reached = BTreeSet::new();
        let mut rest: Vec<&String> = self.0[file].iter().collect();
        while let Some(next) = rest.pop() {
            if reached.insert(next) {
                rest.extend(&self.0[next]);
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(state: &'static str) -> FileGraph {
        let files = [
            ("validator/src/lib.rs", "use crate::a::state;"),
            ("validator/src/a/mod.rs", "mod state; mod search;\nuse crate::a::search::run;"),
            ("validator/src/a/search.rs", "use super::state::{State, Other};\nfn run() { crate::b::f() }"),
            ("validator/src/a/state.rs", state),
            ("validator/src/b.rs", "use crate::a::search;"),
        ];
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned()));
        FileGraph::of(&Modules::of(files), &["validator", "a"])
    }

    #[test]
    fn files_are_counted_with_their_users() {
        let users: Vec<_> = graph("").users().collect();
        let expected = [("mod.rs", 0), ("search.rs", 1), ("state.rs", 1)];
        assert_eq!(users, expected.map(|(file, users)| (format!("validator/src/a/{file}"), users)));
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(graph("").circles(), [[""; 0]; 0]);
        let circle = ["mod.rs", "search.rs", "state.rs"].map(|file| format!("validator/src/a/{file}"));
        assert_eq!(graph("use super::run;\nfn f() { super::g() }").circles(), std::slice::from_ref(&circle));
        assert_eq!(graph("fn f() { super::search::run() }").circles(), [circle[1..].to_vec()]);
    }
}
