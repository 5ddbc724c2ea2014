//! Manifests: cases as TOML (docs/gate.md).
//!
//! ```toml
//! pipelines = { fast = "-O", loops = "--loop-unroll --ccp" }     # for groups that name none
//! options = "--max-executions 100000"
//!
//! [[cases]]
//! modules = ["modules/*.spvasm", "!modules/slow-*.spvasm"]      # globs; `!` takes matches out again
//! launch = "{stem}.toml"                                        # beside each module
//! pipelines = ["fast", "--ccp", "every pass", "!--ccp"]         # names from above, flags, each pass by itself; `!`
//!
//! [[cases]]
//! pairs = "pairs/*"                                             # folders with a before and an after
//! expect = "Fail"
//! note = "known since version 1.2"
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use walkdir::WalkDir;

use crate::cases::{self, plan, Finder, Found, Pipeline, Planned, Shared, Source};
use crate::error::{CaseError, ManifestError};
use crate::expectation::Expected;

/// What stands for each pass by itself among pipelines.
const EVERY_PASS: &str = "every pass";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    pipelines: BTreeMap<String, String>,
    #[serde(default)]
    options: String,
    cases: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Group {
    #[serde(default)]
    modules: OneOrMany,
    #[serde(default)]
    pairs: OneOrMany,
    #[serde(default)]
    launch: OneOrMany,
    pipelines: Option<OneOrMany>,
    #[serde(default)]
    options: String,
    expect: Option<String>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        OneOrMany::Many(Vec::new())
    }
}

impl OneOrMany {
    fn as_slice(&self) -> &[String] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// Reads the cases of a manifest. `given` are the pipelines of the command line, which stand in for those of groups that
/// name none where the manifest has none; `passes` is every pass.
///
/// # Errors
/// See [`CaseError`]; a glob that matches nothing is an error.
pub fn read(
    path: &Path,
    given: &[Pipeline],
    passes: &[Pipeline],
    finder: &mut Finder<'_>,
) -> Result<Vec<Planned>, CaseError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| ManifestError::Io { path: path.to_owned(), error })?;
    let file: File = toml::from_str(&text)
        .map_err(|error| ManifestError::Toml { path: path.to_owned(), error: Box::new(error) })?;
    let base = path.parent().unwrap_or(Path::new(""));
    let mut named = BTreeMap::new();
    for (name, flags) in &file.pipelines {
        named.insert(name.as_str(), Pipeline { name: name.clone(), ..cases::pipeline(flags)? });
    }
    let all: Vec<Pipeline> = named.values().cloned().collect();
    let default = if all.is_empty() { given } else { &all[..] };
    let mut planned = Vec::new();
    for (group, number) in file.cases.iter().zip(1..) {
        let wrong =
            |why: String| CaseError::from(ManifestError::Group { path: path.to_owned(), group: number, why });
        let found = found(group, base, finder, &wrong)?;
        let own = match &group.pipelines {
            None => default.to_vec(),
            Some(texts) => pipelines(texts.as_slice(), &named, passes)?,
        };
        let expected = group.expect.as_deref().map(|text| text.parse().map_err(&wrong)).transpose()?;
        let mut options = Vec::new();
        for text in [&file.options, &group.options] {
            options.extend(shlex::split(text).ok_or_else(|| CaseError::Quotes(text.clone()))?);
        }
        let launches = group.launch.as_slice();
        for one in found {
            let launches: Vec<(Option<String>, PathBuf)> = launches
                .iter()
                .map(|text| {
                    let launch = beside(text, &one, base);
                    let name = launch.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                    (name.filter(|_| launches.len() > 1), launch)
                })
                .collect();
            if let Some((_, missing)) = launches.iter().find(|(_, launch)| !launch.is_file()) {
                return Err(wrong(format!(
                    "the launch file {} of {} is not there",
                    missing.display(),
                    one.name
                )));
            }
            let note = group.note.clone();
            let shared = Shared { pipelines: &own, launches, options: options.clone(), expected, note };
            planned.extend(plan(vec![one], &shared));
        }
    }
    Ok(planned)
}

impl std::str::FromStr for Expected {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Expected::parse(text)
    }
}

/// What a group's globs name.
fn found(
    group: &Group,
    base: &Path,
    finder: &mut Finder<'_>,
    wrong: &dyn Fn(String) -> CaseError,
) -> Result<Vec<Found>, CaseError> {
    let mut all = Vec::new();
    for (globs, folders) in [(group.modules.as_slice(), false), (group.pairs.as_slice(), true)] {
        if globs.is_empty() {
            continue;
        }
        for path in matching(globs, base, folders, wrong)? {
            let mut found = finder.find(&path)?;
            // Names are those of the manifest, wherever it is read from.
            for one in &mut found {
                let full = cases::name_of(&path);
                let own = cases::name_of(path.strip_prefix(base).unwrap_or(&path));
                if let Some(rest) = one.name.strip_prefix(&full) {
                    one.name = format!("{own}{rest}");
                }
            }
            all.extend(found);
        }
    }
    match all.is_empty() {
        true => Err(wrong("it names no cases: there are `modules` and `pairs`".to_owned())),
        false => Ok(all),
    }
}

/// The paths that globs match: files, or folders.
fn matching(
    globs: &[String],
    base: &Path,
    folders: bool,
    wrong: &dyn Fn(String) -> CaseError,
) -> Result<Vec<PathBuf>, CaseError> {
    let set = |texts: &mut dyn Iterator<Item = &str>| -> Result<GlobSet, CaseError> {
        let mut builder = GlobSetBuilder::new();
        for text in texts {
            builder.add(Glob::new(text).map_err(|error| wrong(error.to_string()))?);
        }
        builder.build().map_err(|error| wrong(error.to_string()))
    };
    let out = set(&mut globs.iter().filter_map(|glob| glob.strip_prefix('!')))?;
    let mut all = Vec::new();
    for glob in globs.iter().filter(|glob| !glob.starts_with('!')) {
        let wanted = set(&mut std::iter::once(glob.as_str()))?;
        let root = base.join(fixed_part(glob));
        let mut some = Vec::new();
        for entry in WalkDir::new(&root).follow_links(true).sort_by_file_name() {
            let entry = entry.map_err(|error| wrong(format!("'{glob}': {error}")))?;
            let path = entry.path();
            let own = path.strip_prefix(base).unwrap_or(path);
            if entry.file_type().is_dir() == folders && wanted.is_match(own) && !out.is_match(own) {
                some.push(path.to_owned());
            }
        }
        if some.is_empty() {
            return Err(wrong(format!("'{glob}' matches nothing in {}", root.display())));
        }
        all.extend(some);
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// The folders at the beginning of a glob that are no patterns.
fn fixed_part(glob: &str) -> PathBuf {
    let is_pattern = |part: &&str| part.contains(['*', '?', '[', '{']);
    let parts: Vec<&str> = glob.split('/').take_while(|part| !is_pattern(part)).collect();
    parts.join("/").into()
}

/// The pipelines that texts name.
fn pipelines(
    texts: &[String],
    named: &BTreeMap<&str, Pipeline>,
    passes: &[Pipeline],
) -> Result<Vec<Pipeline>, CaseError> {
    let mut all: Vec<Pipeline> = Vec::new();
    for text in texts {
        if let Some(without) = text.strip_prefix('!') {
            all.retain(|pipeline| pipeline.name != without);
            continue;
        }
        match (named.get(text.as_str()), text.as_str()) {
            (Some(pipeline), _) => all.push(pipeline.clone()),
            (None, EVERY_PASS) => all.extend_from_slice(passes),
            (None, flags) => all.push(cases::pipeline(flags)?),
        }
    }
    Ok(all)
}

/// The launch file of a module: `{stem}` is its name without the extension, beside it; other names are relative to the
/// manifest.
fn beside(text: &str, found: &Found, base: &Path) -> PathBuf {
    if !text.contains("{stem}") {
        return base.join(text);
    }
    let file = match &found.source {
        Source::Module(path) | Source::Compiled(path) | Source::Fossil { database: path, module: _ } => path,
        Source::Pair { before, after: _ } => before,
    };
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    file.parent().unwrap_or(base).join(text.replace("{stem}", &stem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tests::{finder, folder};
    use crate::cases::Kind;
    use crate::status::Status;

    fn planned(manifest: &str) -> Result<Vec<Planned>, Box<dyn std::error::Error>> {
        let files = [
            "m/a.spv",
            "m/a.toml",
            "m/b.spvasm",
            "m/b.toml",
            "m/slow.spv",
            "p/x/before.spv",
            "p/x/after.spv",
        ];
        let folder = folder(&files)?;
        let path = folder.path().join("gate.toml");
        std::fs::write(&path, manifest)?;
        let given = [cases::pipeline("-Os")?];
        let passes = [cases::pipeline("--ccp")?, cases::pipeline("--merge-blocks")?];
        Ok(read(&path, &given, &passes, &mut finder(Kind::Modules))?)
    }

    fn names(planned: &[Planned]) -> Vec<&str> {
        planned.iter().map(|one| one.case.name.as_str()).collect()
    }

    #[test]
    fn groups_are_globs_times_pipelines_times_launches() -> Result<(), Box<dyn std::error::Error>> {
        let all = planned(
            r#"
            pipelines = { fast = "-O" }
            options = "--races keep"
            [[cases]]
            modules = ["m/*.spv*", "!m/slow.spv"]
            launch = "{stem}.toml"
            pipelines = ["fast", "every pass", "!--ccp"]
            [[cases]]
            pairs = "p/*"
            options = "--seed 3"
            expect = "Fail"
            note = "known"
            "#,
        )?;
        let expected =
            ["m/a.spv@fast", "m/a.spv@--merge-blocks", "m/b.spvasm@fast", "m/b.spvasm@--merge-blocks", "p/x"];
        assert_eq!(names(&all), expected);
        assert!(all[0].case.launch.as_ref().is_some_and(|launch| launch.ends_with("m/a.toml")));
        assert_eq!(all[0].case.pipeline, ["-O"]);
        assert_eq!(all[4].case.options, ["--races", "keep", "--seed", "3"]);
        assert_eq!(all[4].expected, Some(Expected::Status(Status::Fail)));
        assert_eq!(all[4].note.as_deref(), Some("known"));
        Ok(())
    }

    #[test]
    fn several_launches_are_several_cases() -> Result<(), Box<dyn std::error::Error>> {
        let all = planned("[[cases]]\nmodules = \"m/a.spv\"\nlaunch = [\"{stem}.toml\", \"m/b.toml\"]\n")?;
        assert_eq!(names(&all), ["m/a.spv@-Os@a", "m/a.spv@-Os@b"]);
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        let told = |manifest| planned(manifest).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told("[[cases]]\nmodules = \"q/*.spv\"\n").contains("number 1: 'q/*.spv'"));
        assert!(told("[[cases]]\nmodules = \"m/*.txt\"\n").contains("matches nothing"));
        assert!(told("[[cases]]\nnote = \"x\"\n").contains("names no cases"));
        assert!(told("[[cases]]\nmodule = \"m/a.spv\"\n").contains("unknown field"));
        assert!(told("[[cases]]\nmodules = \"m/a.spv\"\nexpect = \"Good\"\n").contains("'Good' is no status"));
        assert!(told("[[cases]]\nmodules = \"m/slow.spv\"\nlaunch = \"{stem}.toml\"\n")
            .contains("slow.toml of m/slow.spv"));
        assert!(
            told("[[cases]]\nmodules = \"m/a.spv\"\npipelines = \"--ccp 'x\"\n").contains("quotation mark")
        );
    }
}
