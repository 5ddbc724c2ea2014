//! What changed between two runs: by the compiler, or by spirv-tv.

use std::collections::BTreeMap;

use crate::log::Head;
use crate::record::Record;
use crate::results::{About, Remark};

/// Cases of each kind that are named.
const NAMED: usize = 5;

/// Why a case has another result than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// The modules are others: the compiler, or its input, changed.
    Modules,
    /// The modules are the same: spirv-tv, or what it was told, changed.
    Tool,
    /// Nobody can tell: one of the runs made no modules.
    Unknown,
}

impl Cause {
    const fn told(self) -> &'static str {
        match self {
            Cause::Modules => "with other modules, so that the compiler changed something",
            Cause::Tool => "with the same modules, so that spirv-tv or its options changed something",
            Cause::Unknown => "without modules in one of the runs",
        }
    }
}

/// What differs from an earlier run, in lines.
pub fn explain(
    old: (&Head, &BTreeMap<String, Record>),
    new: (&About, &BTreeMap<String, Record>),
) -> Vec<Remark> {
    let ((head, old), (about, new)) = (old, new);
    let mut lines = vec![format!(
        "drift from spirv-tv {} (generation {}) to {} (generation {}){}{}",
        head.about.version,
        head.about.generation,
        about.version,
        about.generation,
        differing("tools", &head.about.tools, &about.tools),
        if head.about.options == about.options { "" } else { "; with other options" }
    )];
    let mut differing: BTreeMap<Cause, Vec<String>> = BTreeMap::new();
    for (case, record) in new {
        let Some(before) = old.get(case) else { continue };
        if before.status == record.status && before.bucket == record.bucket {
            continue;
        }
        let told = |record: &Record| match &record.bucket {
            Some(bucket) => format!("{} [{bucket}]", record.status),
            None => record.status.to_string(),
        };
        let change = format!("{case}: {} -> {}", told(before), told(record));
        differing.entry(cause(before, record)).or_default().push(change);
    }
    if differing.is_empty() {
        lines.push("drift: no case that both runs have differs".to_owned());
    }
    for (cause, changes) in &differing {
        lines.push(format!("drift: {} {}:", count(changes.len()), cause.told()));
        lines.extend(changes.iter().take(NAMED).map(|change| format!("drift:   {change}")));
        if changes.len() > NAMED {
            lines.push(format!(
                "drift:   and {} more; results.jsonl of both runs has them",
                changes.len() - NAMED
            ));
        }
    }
    let only = |these: &BTreeMap<String, Record>, those: &BTreeMap<String, Record>| {
        these.keys().filter(|case| !those.contains_key(*case)).count()
    };
    let (gone, added) = (only(old, new), only(new, old));
    if gone + added > 0 {
        lines.push(format!("drift: {} new, {} gone", count(added), count(gone)));
    }
    lines.into_iter().map(|text| Remark { fails: false, text }).collect()
}

fn count(cases: usize) -> String {
    format!("{cases} case{}", if cases == 1 { "" } else { "s" })
}

fn cause(before: &Record, after: &Record) -> Cause {
    match (&before.modules, &after.modules) {
        (Some(before), Some(after)) if before == after => Cause::Tool,
        (Some(_), Some(_)) => Cause::Modules,
        (None, _) | (_, None) => Cause::Unknown,
    }
}

/// The tools whose versions differ.
fn differing(what: &str, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> String {
    let names = old.keys().chain(new.keys()).collect::<std::collections::BTreeSet<_>>();
    let version = |tools: &BTreeMap<String, String>, name: &str| {
        tools.get(name).map_or("none", String::as_str).to_owned()
    };
    let told: Vec<String> = names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| format!("{name} {} -> {}", version(old, name), version(new, name)))
        .collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("; {what}: {}", told.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    fn records(all: &[(&str, Status, Option<&str>)]) -> BTreeMap<String, Record> {
        let record = |(case, status, modules): &(&str, Status, Option<&str>)| {
            let modules = modules.map(str::to_owned);
            ((*case).to_owned(), Record { modules, ..Record::new(*case, *status, "") })
        };
        all.iter().map(record).collect()
    }

    #[test]
    fn what_the_compiler_did_is_told_from_what_spirv_tv_did() {
        let old = records(&[
            ("same", Status::Pass, Some("m")),
            ("tool", Status::Pass, Some("m")),
            ("compiler", Status::Pass, Some("m")),
            ("crash", Status::Pass, Some("m")),
            ("gone", Status::Pass, None),
        ]);
        let new = records(&[
            ("same", Status::Pass, Some("n")),
            ("tool", Status::Hollow, Some("m")),
            ("compiler", Status::Fail, Some("n")),
            ("crash", Status::OptimizerCrash, None),
            ("new", Status::Pass, None),
        ]);
        let about = About { version: "2".into(), generation: 3, ..About::default() };
        let mut of_old = About { version: "1".into(), generation: 2, ..About::default() };
        of_old.tools.insert("spirv-opt".into(), "v1".into());
        let head = Head::new(of_old, String::new());
        let lines: Vec<String> =
            explain((&head, &old), (&about, &new)).into_iter().map(|remark| remark.text).collect();
        let text = lines.join("\n");
        assert!(
            text.contains("from spirv-tv 1 (generation 2) to 2 (generation 3); tools: spirv-opt v1 -> none"),
            "{text}"
        );
        for (cause, case) in [
            ("with other modules", "compiler: Pass -> Fail"),
            ("with the same modules", "tool: Pass -> Hollow"),
            ("without modules", "crash: Pass -> OptimizerCrash"),
        ] {
            let at = lines.iter().position(|line| line.contains(cause)).unwrap_or(usize::MAX);
            assert!(lines.get(at + 1).is_some_and(|line| line.contains(case)), "{text}");
        }
        assert!(text.contains("1 case new, 1 case gone"), "{text}");
        assert!(!text.contains("same:"), "{text}");
    }
}
