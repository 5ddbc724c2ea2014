//! The cases of a run: what a command line names, module by module and pipeline by pipeline.

use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::error::CaseError;
use crate::expectation::Expected;

/// What a worker is asked to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name, which is unique in a run.
    pub name: String,
    /// The modules, or what they are made from.
    pub source: Source,
    /// The flags for the optimiser; empty for pairs and sources.
    pub pipeline: Vec<String>,
    /// A launch file.
    pub launch: Option<PathBuf>,
    /// Further options of a check, as on a command line.
    pub options: Vec<String>,
}

/// The modules of a case, or what they are made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A module that an optimiser is run on.
    Module(PathBuf),
    /// Both modules.
    Pair {
        /// The module before.
        before: PathBuf,
        /// The module after.
        after: PathBuf,
    },
    /// A file that two commands make the modules from.
    Compiled(PathBuf),
    /// A module of a Fossilize database.
    Fossil {
        /// The database.
        database: PathBuf,
        /// The name of the module in it.
        module: String,
    },
}

impl Source {
    /// The file that the user knows.
    pub fn file(&self) -> &Path {
        match self {
            Source::Module(path) | Source::Compiled(path) | Source::Fossil { database: path, module: _ } => {
                path
            }
            Source::Pair { before: _, after } => after,
        }
    }
}

/// A case with what is expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The case.
    pub case: Case,
    /// What a manifest expects of it.
    pub expected: Option<Expected>,
    /// What a manifest notes.
    pub note: Option<String>,
}

/// A list of flags with the name that cases have it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The name.
    pub name: String,
    /// The flags.
    pub flags: Vec<String>,
}

/// What a folder, a file or a list names, before pipelines are put to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// The launch file that lies with a pair.
    pub(crate) launch: Option<PathBuf>,
}

/// What the names of modules end with.
const MODULES: [&str; 2] = ["spv", "spvasm"];

/// What the names of sources end with, in folders. Any other file can be named by itself.
const SOURCES: [&str; 22] = [
    "comp", "vert", "frag", "geom", "tesc", "tese", "mesh", "task", "rgen", "rint", "rahit", "rchit",
    "rmiss", "rcall", "glsl", "hlsl", "wgsl", "slang", "cl", "metal", "cg", "fx",
];

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Modules and pairs.
    Modules,
    /// Sources that commands compile.
    Sources,
}

/// What is known of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The names of its modules.
    pub modules: Vec<String>,
    /// Remarks on what is not among them.
    pub remarks: Vec<String>,
}

/// Names the modules of a database, or says why it cannot be read.
pub type ReadDatabase<'r> = &'r dyn Fn(&Path) -> Result<Listed, String>;

/// Finds what arguments name.
pub struct Finder<'r> {
    /// What is looked for.
    pub kind: Kind,
    /// How databases are read.
    pub read_database: ReadDatabase<'r>,
    /// Remarks on what was found.
    pub remarks: Vec<String>,
}

impl Finder<'_> {
    /// What a path names: a folder everything in it, a database its modules, and any other file itself.
    pub(crate) fn find(&mut self, path: &Path) -> Result<Vec<Found>, CaseError> {
        // However it is spelled, a file is one case.
        let path = &path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        // What cannot be checked must not look like a module that is wrong.
        let kind = std::fs::metadata(path).map_err(|error| CaseError::Io { path: path.to_owned(), error })?;
        let found = match kind.is_dir() {
            true => self.in_folder(path)?,
            false => self.of_file(path)?,
        };
        match found.is_empty() && kind.is_dir() {
            true => Err(CaseError::Empty(path.to_owned())),
            false => Ok(found),
        }
    }

    fn of_file(&mut self, path: &Path) -> Result<Vec<Found>, CaseError> {
        if path.to_str().is_none() {
            return Err(CaseError::Name(path.to_owned()));
        }
        if extension(path) == Some("foz") && self.kind == Kind::Modules {
            let read = (self.read_database)(path);
            let Listed { modules, remarks } =
                read.map_err(|why| CaseError::Database { path: path.to_owned(), why })?;
            self.remarks.extend(remarks.into_iter().map(|remark| format!("{}: {remark}", path.display())));
            let name = name_of(path);
            return Ok(modules
                .into_iter()
                .map(|module| Found {
                    name: format!("{name}:{module}"),
                    source: Source::Fossil { database: path.to_owned(), module },
                    launch: None,
                })
                .collect());
        }
        let source = match self.kind {
            Kind::Modules => Source::Module(path.to_owned()),
            Kind::Sources => Source::Compiled(path.to_owned()),
        };
        Ok(vec![Found { name: name_of(path), source, launch: None }])
    }

    fn in_folder(&mut self, folder: &Path) -> Result<Vec<Found>, CaseError> {
        let mut all = Vec::new();
        let mut entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(|error| CaseError::Io {
                path: error.path().unwrap_or(folder).to_owned(),
                error: error.into(),
            })?;
            let path = entry.path();
            if entry.file_type().is_dir() {
                if let Some(pair) = self.pair_in(path) {
                    all.push(pair);
                    entries.skip_current_dir();
                }
                continue;
            }
            let extension = extension(path).unwrap_or_default();
            let is_wanted = match self.kind {
                Kind::Modules => MODULES.contains(&extension) || extension == "foz",
                Kind::Sources => SOURCES.contains(&extension),
            };
            if is_wanted {
                all.extend(self.of_file(path)?);
            }
        }
        Ok(all)
    }

    /// The pair that a folder is, if it is one.
    fn pair_in(&self, folder: &Path) -> Option<Found> {
        if self.kind == Kind::Sources {
            return None;
        }
        let module = |name: &str| {
            let paths = MODULES.into_iter().map(|extension| folder.join(format!("{name}.{extension}")));
            paths.into_iter().find(|path| path.is_file())
        };
        let (before, after) = (module("before")?, module("after")?);
        let launch = Some(folder.join("launch.toml")).filter(|path| path.is_file());
        Some(Found { name: name_of(folder), source: Source::Pair { before, after }, launch })
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

/// The name of a path in those of cases: the same on every system.
pub(crate) fn name_of(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let text = parts.join("/");
    text.strip_prefix("./").unwrap_or(&text).replace("//", "/")
}

/// What all cases of a command line, or of a group of a manifest, share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared<'s> {
    pub(crate) pipelines: &'s [Pipeline],
    /// Launch files with the names that cases have them by. Without one the launch that lies with a pair counts.
    pub(crate) launches: Vec<(Option<String>, PathBuf)>,
    pub(crate) options: Vec<String>,
    pub(crate) expected: Option<Expected>,
    pub(crate) note: Option<String>,
}

/// Puts pipelines and launches to what was found.
pub(crate) fn plan(found: Vec<Found>, shared: &Shared<'_>) -> Vec<Planned> {
    let mut planned = Vec::new();
    for Found { name, source, launch } in found {
        let own = [(None, launch)];
        let given: Vec<(Option<String>, Option<PathBuf>)> =
            shared.launches.iter().map(|(name, path)| (name.clone(), Some(path.clone()))).collect();
        let launches = if given.is_empty() { &own[..] } else { &given[..] };
        let none = [Pipeline { name: String::new(), flags: Vec::new() }];
        let pipelines = match source {
            Source::Module(_) | Source::Fossil { .. } => shared.pipelines,
            Source::Pair { .. } | Source::Compiled(_) => &none,
        };
        for pipeline in pipelines {
            for (launch_name, launch) in launches {
                let mut name = name.clone();
                for part in [Some(&pipeline.name), launch_name.as_ref()].into_iter().flatten() {
                    if !part.is_empty() {
                        name.push('@');
                        name.push_str(part);
                    }
                }
                let case = Case {
                    name,
                    source: source.clone(),
                    pipeline: pipeline.flags.clone(),
                    launch: launch.clone(),
                    options: shared.options.clone(),
                };
                planned.push(Planned { case, expected: shared.expected, note: shared.note.clone() });
            }
        }
    }
    planned
}

/// Each case once, by name.
///
/// # Errors
/// Where two different ones have the same name.
pub fn unique(planned: Vec<Planned>) -> Result<Vec<Planned>, CaseError> {
    let mut by_name: BTreeMap<String, Planned> = BTreeMap::new();
    for one in planned {
        match by_name.entry(one.case.name.clone()) {
            Entry::Vacant(free) => {
                free.insert(one);
            }
            Entry::Occupied(other) if other.get().case == one.case => {}
            Entry::Occupied(_) => return Err(CaseError::Twice(one.case.name)),
        }
    }
    Ok(by_name.into_values().collect())
}

/// The pipeline of a text of flags, by which it is named.
///
/// # Errors
/// Where a quotation mark is open.
pub fn pipeline(text: &str) -> Result<Pipeline, CaseError> {
    let flags = shlex::split(text).ok_or_else(|| CaseError::Quotes(text.to_owned()))?;
    Ok(Pipeline { name: text.trim().to_owned(), flags })
}

/// The paths that a list names, one a line; empty lines and those that begin with `#` are left out. They are relative to
/// the folder that the list is in.
///
/// # Errors
/// Where the list cannot be read.
pub fn list(path: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| CaseError::Io { path: path.to_owned(), error })?;
    let base = path.parent().unwrap_or(Path::new(""));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(|line| base.join(line)).collect())
}

/// The cases of arguments that are no manifests.
///
/// # Errors
/// See [`CaseError`].
pub fn of_arguments(
    paths: &[PathBuf],
    pipelines: &[Pipeline],
    finder: &mut Finder<'_>,
) -> Result<Vec<Planned>, CaseError> {
    let shared = Shared { pipelines, ..Shared::default() };
    let mut planned = Vec::new();
    for path in paths {
        planned.extend(plan(finder.find(path)?, &shared));
    }
    Ok(planned)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn no_database(_: &Path) -> Result<Listed, String> {
        let modules = vec!["4.0.main".to_owned(), "4.1.main".to_owned()];
        Ok(Listed { modules, remarks: vec!["one entry is torn".to_owned()] })
    }

    pub(crate) fn finder(kind: Kind) -> Finder<'static> {
        Finder { kind, read_database: &no_database, remarks: Vec::new() }
    }

    pub(crate) fn folder(files: &[&str]) -> std::io::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir()?;
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
            std::fs::write(path, "")?;
        }
        Ok(folder)
    }

    fn names(planned: &[Planned], root: &Path) -> Vec<String> {
        let root = name_of(root);
        planned.iter().map(|one| one.case.name.replace(&root, "ROOT")).collect()
    }

    #[test]
    fn folders_have_modules_pairs_and_databases() -> Result<(), Box<dyn std::error::Error>> {
        let files = [
            "b.spv",
            "deep/a.spvasm",
            "notes.txt",
            "pair/before.spv",
            "pair/after.spvasm",
            "pair/launch.toml",
            "x.foz",
        ];
        let folder = folder(&files)?;
        let pipelines = [pipeline("-O")?, pipeline("--ccp --merge-blocks")?];
        let mut finder = finder(Kind::Modules);
        let planned = of_arguments(&[folder.path().to_owned()], &pipelines, &mut finder)?;
        let mut names = names(&planned, folder.path());
        names.sort();
        let expected = [
            "ROOT/b.spv@--ccp --merge-blocks",
            "ROOT/b.spv@-O",
            "ROOT/deep/a.spvasm@--ccp --merge-blocks",
            "ROOT/deep/a.spvasm@-O",
            "ROOT/pair",
            "ROOT/x.foz:4.0.main@--ccp --merge-blocks",
            "ROOT/x.foz:4.0.main@-O",
            "ROOT/x.foz:4.1.main@--ccp --merge-blocks",
            "ROOT/x.foz:4.1.main@-O",
        ];
        assert_eq!(names, expected);
        assert_eq!(finder.remarks.len(), 1);
        let pair = planned.iter().find(|one| one.case.name.ends_with("pair"));
        assert!(pair.is_some_and(|pair| pair.case.launch.is_some()));
        Ok(())
    }

    #[test]
    fn sources_are_compiled() -> Result<(), Box<dyn std::error::Error>> {
        let folder = folder(&["a.comp", "b.wgsl", "c.spv", "README.md"])?;
        let mut finder = finder(Kind::Sources);
        let planned = of_arguments(&[folder.path().to_owned()], &[], &mut finder)?;
        assert_eq!(names(&planned, folder.path()), ["ROOT/a.comp", "ROOT/b.wgsl"]);
        Ok(())
    }

    #[test]
    fn a_name_is_one_case() -> Result<(), Box<dyn std::error::Error>> {
        let folder = folder(&["a.spv", "notes/notes.txt"])?;
        let again = folder.path().join("./notes/.././a.spv");
        let path = folder.path().join("a.spv");
        let given = |paths: &[PathBuf], flags: &str| {
            of_arguments(paths, &[pipeline(flags)?], &mut finder(Kind::Modules))
        };
        let twice = given(&[path.clone(), folder.path().join("./a.spv")], "-O")?;
        assert_eq!(unique(twice)?.len(), 1);
        // Two ways to it are two names.
        assert_eq!(unique(given(&[path.clone(), again], "-O")?)?.len(), 2);
        let mut other = given(&[path], "-O")?;
        let mut both = other.clone();
        other.iter_mut().for_each(|one| one.case.options.push("--all".to_owned()));
        both.extend(other);
        assert!(matches!(unique(both), Err(CaseError::Twice(name)) if name.ends_with("a.spv@-O")));
        assert!(matches!(given(&[folder.path().join("notes")], "-O"), Err(CaseError::Empty(_))));
        Ok(())
    }

    #[test]
    fn what_is_not_there_is_no_case() -> Result<(), Box<dyn std::error::Error>> {
        let folder = folder(&["a.spv"])?;
        for kind in [Kind::Modules, Kind::Sources] {
            for name in ["nosuch", "nosuch.spv", "nosuch.foz", "-"] {
                let found = of_arguments(&[folder.path().join(name)], &[], &mut finder(kind));
                assert!(matches!(found, Err(CaseError::Io { path, .. }) if path.ends_with(name)), "{name}");
            }
        }
        Ok(())
    }

    /// Results are JSON and CSV, which are text.
    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_no_text_are_refused() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::ffi::OsStrExt;
        let folder = folder(&["a.spv"])?;
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"b\xff.spv"));
        std::fs::write(&path, "")?;
        for argument in [path.clone(), folder.path().to_owned()] {
            let found = of_arguments(&[argument], &[], &mut finder(Kind::Modules));
            assert!(matches!(found, Err(CaseError::Name(named)) if named == path));
        }
        Ok(())
    }

    #[test]
    fn lists_name_paths_relative_to_themselves() -> Result<(), Box<dyn std::error::Error>> {
        let folder = folder(&["some/list"])?;
        let path = folder.path().join("some/list");
        std::fs::write(&path, "# modules\n\na.spv\n ../b.spv \n")?;
        let base = folder.path().join("some");
        assert_eq!(list(&path)?, [base.join("a.spv"), base.join("../b.spv")]);
        Ok(())
    }
}
