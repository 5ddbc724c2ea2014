//! The folder of a finding.

use std::fs;
use std::path::Path;

use super::answer::Evidence;
use super::arguments::DriverArguments;
use super::record::Record;
use super::world::World;
use crate::CliError;

/// The folder with the folders of findings.
const FOLDER: &str = "findings";

/// Writes the folder of a finding below `out`; gives its path relative to that.
///
/// # Errors
/// Where a file cannot be written.
pub(super) fn save(
    out: &Path,
    record: &Record,
    evidence: &Evidence,
    arguments: &DriverArguments,
    world: &World,
) -> Result<String, CliError> {
    let name = format!("{FOLDER}/{}", record.case);
    let folder = out.join(&name);
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| CliError::File { path, error }
    };
    fs::create_dir_all(&folder).map_err(fail(&folder))?;
    let write = |file: &str, contents: &[u8]| {
        let path = folder.join(file);
        fs::write(&path, contents).map_err(fail(&path))
    };
    for (file, contents) in &evidence.files {
        write(file, contents)?;
    }
    let report = report(record, evidence, arguments, world);
    write("report.md", report.as_bytes())?;
    let json = serde_json::to_vec_pretty(record)
        .map_err(|error| CliError::File { path: folder.join("record.json"), error: error.into() })?;
    write("record.json", &json)?;
    Ok(name)
}

/// The finding as somebody files it.
fn report(record: &Record, evidence: &Evidence, arguments: &DriverArguments, world: &World) -> String {
    let Record { program, treatment, status, detail, bucket, environment, .. } = record;
    let number = record.case.rsplit('-').next().unwrap_or_default().trim_start_matches('0');
    let number = if number.is_empty() { "0" } else { number };
    let mut lines = vec![
        format!("# {}: {}", status.name(), program),
        String::new(),
        format!("{}: {detail}", world.executor.name),
        String::new(),
        format!("- program: `{program}`"),
        format!("- treatment: {treatment}"),
    ];
    lines.extend(environment.as_ref().map(|environment| format!("- environment: {environment}")));
    lines.extend(bucket.as_ref().map(|bucket| format!("- bucket: `{bucket}`")));
    lines.extend(world.executor.notes.iter().map(|note| format!("- known of the executor: {note}")));
    lines.push(String::new());
    lines.extend(evidence.told.iter().cloned());
    lines.push(String::new());
    lines.push("To see it again:".to_owned());
    lines.push(String::new());
    let words = arguments.decisive().into_iter().filter(|word| !word.starts_with("--partition"));
    let words: Vec<String> = words.map(|word| crate::html::quoted(&word)).collect();
    lines.push(format!("    spirv-tv fuzz driver {} --case {number}", words.join(" ")));
    lines.push(String::new());
    lines.push(format!(
        "`module.spv` is what was run. Found by spirv-tv {}, whose page docs/fuzzing.md says how.",
        env!("CARGO_PKG_VERSION")
    ));
    lines.into_iter().map(|line| line + "\n").collect()
}
