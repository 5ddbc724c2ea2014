//! `--save-failing DIR`: a violating pair with everything that is needed to see the violation again.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::{CliError, ReadArguments};
use crate::check::{CheckReport, Run};
use crate::module::Module;
use crate::report::json;
use crate::value::Byte;

/// Writes the pair to a new folder of `folder`; gives its path.
pub fn failing(
    folder: &Path,
    before: &Module,
    after: &Module,
    report: &CheckReport,
    read: &ReadArguments,
) -> Result<PathBuf, CliError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| CliError::File { path, error }
    };
    fs::create_dir_all(folder).map_err(fail(folder))?;
    let place = new_folder(folder)?;
    let write = |name: &str, contents: &[u8]| {
        let path = place.join(name);
        fs::write(&path, contents).map_err(fail(&path))
    };
    let mut names = Vec::new();
    for (name, module) in [("before", before), ("after", after)] {
        if module.from_text {
            names.push(format!("{name}.spvasm"));
            write(&format!("{name}.spvasm"), module.text.as_bytes())?;
        } else {
            let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            names.push(format!("{name}.spv"));
            write(&format!("{name}.spv"), &bytes)?;
        }
    }
    if let Some(run) = report.decisive() {
        let (launch, files) = launch_file(report, run);
        write("launch.toml", launch.as_bytes())?;
        for (name, contents) in files {
            write(&name, &contents)?;
        }
    }
    write("report.json", json::check(report).as_bytes())?;
    write("command.txt", command(report, &names, read).as_bytes())?;
    Ok(place)
}

/// The first of `folder/1`, `folder/2`, … that is not there yet.
fn new_folder(folder: &Path) -> Result<PathBuf, CliError> {
    let mut number: u64 = 1;
    loop {
        let place = folder.join(number.to_string());
        match fs::create_dir(&place) {
            Ok(()) => return Ok(place),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(CliError::File { path: place, error }),
        }
    }
}

/// The command that shows the violation again.
fn command(report: &CheckReport, names: &[String], read: &ReadArguments) -> String {
    let choices = &report.choices;
    let mut command = format!("spirv-tv check {} --launch launch.toml", names.join(" "));
    let mut option = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = write!(command, " {text}");
    };
    option(format_args!("--revision {} --races {}", choices.revision, choices.races));
    option(format_args!("--hang {} --legacy {}", choices.hang, choices.legacy));
    option(format_args!("--reconvergence {}", choices.reconvergence));
    if !choices.chains {
        option(format_args!("--no-chains"));
    }
    if !choices.ignore.is_empty() {
        option(format_args!("--ignore {}", choices.ignore.join(",")));
    }
    for argument in read.command_line() {
        option(format_args!("{argument}"));
    }
    option(format_args!("--spin-bound {}", choices.bounds.spin_bound));
    option(format_args!("--max-instructions {}", choices.bounds.max_instructions));
    command.push('\n');
    command
}

/// The launch of a run as TOML, and the files that it names.
fn launch_file(report: &CheckReport, run: &Run) -> (String, Vec<(String, Vec<u8>)>) {
    let mut text = String::new();
    let mut files = Vec::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    if let Some(launch) = report.choices.launch.iter().find(|launch| launch.entry == run.entry) {
        line(format!("entry = {}", quoted(&launch.entry)));
        line(format!("workgroups = {:?}", launch.workgroups));
        line(format!("subgroup-size = {}", launch.subgroup_size));
        if launch.local_size_rewritten {
            line(format!("local-size = {:?}", launch.local_size));
        }
        let aliases = launch.aliases.iter().filter(|(slot, memory)| slot != memory);
        let aliases: Vec<String> =
            aliases.map(|(slot, memory)| quoted(&format!("{slot}={memory}"))).collect();
        line(format!("alias = [{}]", aliases.join(", ")));
        let pointers = launch.push_pointers.iter();
        let pointers: Vec<String> =
            pointers.map(|(offset, target)| quoted(&format!("{offset}={target}"))).collect();
        if !pointers.is_empty() {
            line(format!("push-pointer = [{}]", pointers.join(", ")));
        }
        // Bits, whatever the type.
        let spec = launch.specialisation.iter().map(|(id, bits)| quoted(&format!("{id}={bits:#x}")));
        line(format!("spec = [{}]", spec.collect::<Vec<_>>().join(", ")));
    }
    if !run.input.push.is_empty() {
        line(format!("push = {}", quoted(&contents("push", &run.input.push, &mut files))));
    }
    line("\n[buffer]".to_owned());
    for (slot, bytes) in &run.input.buffers {
        let slot = slot.to_string();
        line(format!("{} = {}", quoted(&slot), quoted(&contents(&slot, bytes, &mut files))));
    }
    for (key, bytes) in run.input.named() {
        let file = key.replace(['/', ':'], "-");
        line(format!("{} = {}", quoted(key), quoted(&contents(&file, bytes, &mut files))));
    }
    if !run.input.images.is_empty() {
        line("\n[image]".to_owned());
    }
    for (slot, image) in &run.input.images {
        let undefined = image.bytes.iter().all(|byte| *byte == Byte::Undef);
        let contents = if undefined {
            "undef".to_owned()
        } else {
            contents(&format!("image-{slot}"), &image.bytes, &mut files)
        };
        line(format!("{} = {}", quoted(&slot.to_string()), quoted(&format!("{}:{contents}", image.layout))));
    }
    let samplers = report.choices.launch.iter().find(|launch| launch.entry == run.entry);
    if let Some(launch) = samplers.filter(|launch| !launch.samplers.is_empty()) {
        line("\n[sampler]".to_owned());
        for (slot, sampler) in &launch.samplers {
            line(format!("{} = {}", quoted(slot), quoted(sampler)));
        }
    }
    if !run.input.acceleration_structures.is_empty() {
        line("\n[acceleration-structure]".to_owned());
        for (slot, structure) in &run.input.acceleration_structures {
            line(format!("{} = {}", quoted(&slot.to_string()), quoted(&structure.text)));
        }
    }
    (text, files)
}

/// Contents in the form of `--buffer`.
fn contents(name: &str, bytes: &[Byte], files: &mut Vec<(String, Vec<u8>)>) -> String {
    let whole_words = bytes.len() % 4 == 0;
    if whole_words && bytes.iter().all(|byte| *byte == Byte::Undef) {
        return format!("undef:{}", bytes.len() / 4);
    }
    let known: Vec<u8> = bytes
        .iter()
        .map(|byte| match byte {
            Byte::Known(value) => *value,
            // Inputs are never defined in part.
            Byte::Undef => 0,
        })
        .collect();
    if whole_words && !known.is_empty() {
        let words = known.chunks(4).map(|word| {
            let value = word.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
            format!("{value:#x}")
        });
        return format!("words:{}", words.collect::<Vec<_>>().join(","));
    }
    let file = format!("{name}.bin");
    files.push((file.clone(), known));
    format!("@{file}")
}
