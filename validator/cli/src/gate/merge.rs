//! `spirv-tv gate merge`: the results of shards as those of one run.

use std::collections::BTreeMap;
use std::path::Path;

use spirv_tv_gate::log::{self, Head, Log, Logged};
use spirv_tv_gate::{Record, Status};

use super::arguments::MergeArguments;
use super::finish::{self, Finished};
use super::{plan, told};
use crate::CliError;

/// Joins results.
pub(super) fn run(arguments: &MergeArguments) -> Result<u8, CliError> {
    let mut shards: Vec<(&Path, Logged)> = Vec::new();
    for path in &arguments.results {
        shards.push((path, log::read(path)?));
    }
    let Some((first, head)) = shards.first().map(|(path, shard)| (*path, shard.head.clone())) else {
        return Err(CliError::usage("no results"));
    };
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    let mut remarks = Vec::new();
    let out = arguments.out.as_deref().unwrap_or(Path::new(""));
    for (path, shard) in shards {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        if shard.head.about != head.about {
            return Err(CliError::usage(format!(
                "{} and {} are results of other versions, tools or options, which say nothing together",
                first.display(),
                path.display()
            )));
        }
        if shard.torn {
            remarks.push(format!("{} ends in the middle of a record: its run was ended", path.display()));
        }
        for (case, record) in shard.records {
            let record = record.moved(folder, out);
            match records.get(&case) {
                // What one shard skipped another may have run.
                Some(other) if other.status != Status::Skip && record.status != Status::Skip => {
                    let is_same = other.status == record.status && other.bucket == record.bucket;
                    if !is_same {
                        let (first, second) = (other.status, record.status);
                        remarks.push(format!("{case} is {first} in one of the results and {second} in another; the first counts"));
                    }
                }
                Some(other) if other.status != Status::Skip => {}
                Some(_) | None => {
                    records.insert(case, record);
                }
            }
        }
    }
    let expectations = plan::expectations(&arguments.expectations)?;
    let missing =
        expectations.baseline.cases().filter(|case| !records.contains_key(*case)).map(str::to_owned);
    let missing = missing.collect();
    if let Some(out) = &arguments.out {
        let runs: Vec<&str> = records.keys().map(String::as_str).collect();
        let hash = spirv_tv_gate::hash(runs.join("\n").as_bytes());
        let mut log = Log::begin(out, &Head::new(head.about.clone(), hash))?;
        for record in records.values() {
            log.append(record)?;
        }
        log.sync()?;
    }
    let finished = Finished {
        about: head.about,
        command: format!("spirv-tv gate merge ({} results)", arguments.results.len()),
        seconds: records.values().map(|record| record.seconds).sum(),
        records,
        missing,
        remarks,
        is_whole: true,
    };
    let results = finish::judge(
        finished,
        &arguments.expectations,
        &expectations,
        arguments.reports.explain_drift.as_deref(),
    )?;
    match &arguments.out {
        Some(out) => finish::write(&results, out, &arguments.reports)?,
        None => finish::write_reports(&results, out, &arguments.reports)?,
    }
    if arguments.expectations.bless {
        return finish::bless(&results, &arguments.expectations);
    }
    told::print_results(&results, &arguments.reports)?;
    Ok(finish::exit_code(&results))
}
