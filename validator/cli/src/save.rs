//! `--save-failing DIR`: saves a violating pair with everything that is needed to reproduce the violation.

use std::fs;
use std::path::{Path, PathBuf};

use super::{html, CliError, ReadArguments};
use spirv_tv::check::{reconvergence_name, Bounds, CheckOptions, CheckReport, Choices, LaunchChoice, Run};
use spirv_tv::compare::Verdict;
use spirv_tv::explore::ReductionName;
use spirv_tv::launch::Input;
use spirv_tv::model::memory_model::Parameter;
use spirv_tv::module::Module;
use spirv_tv::optimise::to_bytes;
use spirv_tv::report::html::Alone;
use spirv_tv::report::json;
use spirv_tv::value::Byte;

/// Writes the pair to a new folder of `folder`; gives its path. `origin`: the module and the pass that it comes from.
pub fn failing(
    folder: &Path,
    origin: Option<[&str; 2]>,
    before: &Module,
    after: &Module,
    report: &CheckReport,
    options: &CheckOptions,
    read: &ReadArguments,
) -> Result<PathBuf, CliError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| CliError::File { path, error }
    };
    fs::create_dir_all(folder).map_err(fail(folder))?;
    let place = new_folder(folder)?;
    into(&place, origin, before, after, report, options, read)?;
    Ok(place)
}

/// Writes the pair to this folder, which is made if it is not there.
pub fn into(
    place: &Path,
    origin: Option<[&str; 2]>,
    before: &Module,
    after: &Module,
    report: &CheckReport,
    options: &CheckOptions,
    read: &ReadArguments,
) -> Result<(), CliError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| CliError::File { path, error }
    };
    fs::create_dir_all(place).map_err(fail(place))?;
    let write = |name: &str, contents: &[u8]| {
        let path = place.join(name);
        fs::write(&path, contents).map_err(fail(&path))
    };
    if let Some([module, pass]) = origin {
        write("origin.txt", format!("module: {module}\npass: {pass}\n").as_bytes())?;
    }
    let mut names = Vec::new();
    for (name, module) in [("before", before), ("after", after)] {
        if module.from_text {
            names.push(format!("{name}.spvasm"));
            write(&format!("{name}.spvasm"), module.text.as_bytes())?;
        } else {
            let bytes = to_bytes(&module.words);
            names.push(format!("{name}.spv"));
            write(&format!("{name}.spv"), &bytes)?;
        }
    }
    // Where a SpecId is missing, no run violates.
    let run = report.decisive().or(report.runs.first());
    if let Some(run) = run {
        let (launch, files) = launch_file(report, run);
        write("launch.toml", launch.as_bytes())?;
        for (name, contents) in files {
            write(&name, &contents)?;
        }
    }
    write("report.json", json::check(report).as_bytes())?;
    write("command.txt", command(options, &names, run.is_some(), read).as_bytes())
}

/// What shows a violation again with the files as they were given; `None` where nothing violates.
pub fn alone(
    names: [String; 2],
    report: &CheckReport,
    options: &CheckOptions,
    read: &ReadArguments,
) -> Option<Alone> {
    let run = report.decisive().filter(|_| report.verdict == Verdict::Violates)?;
    let names = names.map(|name| html::quoted(&name));
    let (launch, files) = launch_file(report, run);
    let command = command(options, &names, true, read).trim_end().to_owned();
    Some(Alone { command, launch, files: files.into_iter().map(|(name, _)| name).collect() })
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

/// The command that shows the violation again: every choice is taken up, or said why not.
pub fn command(options: &CheckOptions, names: &[String], has_launch: bool, read: &ReadArguments) -> String {
    let CheckOptions {
        model,
        races,
        strict_hangs,
        legacy,
        out_of_bounds,
        after_out_of_bounds,
        floats,
        structural_reconvergence,
        bounds,
        ignore,
        spec_must_stay,
        self_check,
        both_ways,
        all,
        // In the launch file, as far as the input leaves it open.
        launch: _,
        local_size_rewritten: _,
        // Of `outcomes`.
        observe: _,
        // Among the options of reading.
        target_env: _,
    } = options;
    let Bounds {
        spin_bound,
        max_instructions,
        max_executions,
        max_memory,
        timeout,
        verify_engine,
        without,
        // How the comparison is done, without an option.
        multiply_out: _,
        factored_from: _,
        // No result depends on it.
        jobs: _,
        begun: _,
        step_timeout,
    } = bounds;
    let mut words = vec![format!("spirv-tv check {}", names.join(" "))];
    words.extend(has_launch.then(|| "--launch launch.toml".to_owned()));
    words.push(format!("--model {}", model.name()));
    for (name, value) in model.parameters() {
        words.extend(match value {
            Parameter::Text(text) => Some(format!("--{name} {text}")),
            Parameter::Flag(_) => None,
        });
    }
    words.push(format!("--races {}", races.name()));
    words.push(format!("--hang {}", if *strict_hangs { "strict" } else { "lenient" }));
    words.push(format!("--legacy {}", legacy.name()));
    words.push(format!("--out-of-bounds {}", out_of_bounds.name()));
    words.extend(after_out_of_bounds.map(|after| format!("--after-out-of-bounds {}", after.name())));
    words.push(format!("--float {}", floats.name()));
    words.push(format!("--reconvergence {}", reconvergence_name(*structural_reconvergence)));
    words.push(format!("--spin-bound {spin_bound} --max-instructions {max_instructions}"));
    words.push(format!("--max-executions {max_executions} --max-memory {max_memory}"));
    let timeout = [*timeout, *step_timeout].into_iter().flatten().min();
    words.extend(timeout.map(|timeout| format!("--timeout {}", timeout.as_secs_f64())));
    let kinds: Vec<&str> = ignore.iter().map(|kind| kind.name()).collect();
    words.extend((!kinds.is_empty()).then(|| format!("--ignore {}", kinds.join(","))));
    words.extend(spec_must_stay.then(|| "--spec-may-freeze no".to_owned()));
    for (name, value) in model.parameters() {
        words.extend((value == Parameter::Flag(false)).then(|| format!("--no-{name}")));
    }
    let flags = [
        (*self_check, "--self-check"),
        (*both_ways, "--both-ways"),
        (*all, "--all"),
        (*verify_engine, "--verify-engine"),
        (without.contains(ReductionName::Merging), "--all-executions"),
    ];
    words.extend(flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned()));
    let others = without.iter().filter(|name| *name != ReductionName::Merging);
    words.extend(others.map(|name| format!("--without {}", name.name())));
    words.extend(read.command_line());
    words.join(" ") + "\n"
}

/// The options of a search of one module, without the command.
pub fn searching(options: &CheckOptions, has_launch: bool, read: &ReadArguments) -> String {
    let line = command(options, &[], has_launch, read);
    line.trim_start_matches("spirv-tv check").trim().to_owned()
}

/// The launch of a run as TOML, and the files that it names.
pub fn launch_file(report: &CheckReport, run: &Run) -> (String, Vec<(String, Vec<u8>)>) {
    launch_of(&report.choices, run.launch, &run.input)
}

/// The launch of this number among the choices, on an input, as TOML, and the files that it names.
pub fn launch_of(choices: &Choices, number: usize, input: &Input) -> (String, Vec<(String, Vec<u8>)>) {
    let mut text = String::new();
    let mut files = Vec::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let launch = choices.launch.get(number);
    if let Some(LaunchChoice {
        entry,
        workgroups,
        local_size,
        local_size_rewritten,
        subgroup_size,
        specialisation,
        aliases,
        push_pointers,
        // The modules say so again.
        quad: _,
        // Among the others.
        varied: _,
        // Below, in a table of their own.
        samplers: _,
        passed_over: _,
    }) = launch
    {
        line(format!("entry = {}", quoted(entry)));
        line(format!("workgroups = {workgroups:?}"));
        line(format!("subgroup-size = {subgroup_size}"));
        if *local_size_rewritten {
            line(format!("local-size = {local_size:?}"));
        }
        let aliases = aliases.iter().filter(|(slot, memory)| slot != memory);
        let aliases: Vec<String> =
            aliases.map(|(slot, memory)| quoted(&format!("{slot}={memory}"))).collect();
        line(format!("alias = [{}]", aliases.join(", ")));
        let pointers: Vec<String> =
            push_pointers.iter().map(|(offset, target)| quoted(&format!("{offset}={target}"))).collect();
        if !pointers.is_empty() {
            line(format!("push-pointer = [{}]", pointers.join(", ")));
        }
        // Bits, whatever the type.
        let spec = specialisation.iter().map(|(id, bits)| quoted(&format!("{id}={bits:#x}")));
        line(format!("spec = [{}]", spec.collect::<Vec<_>>().join(", ")));
    }
    // Where all is given there is one input; the seed stays among the choices.
    line(format!("seed = {}", choices.inputs.seed));
    let Input { name: _, buffers, images, acceleration_structures, push, physical: _, interface: _ } = input;
    if !push.is_empty() {
        line(format!("push = {}", quoted(&contents("push", push, &mut files))));
    }
    line("\n[buffer]".to_owned());
    for (slot, bytes) in buffers {
        let slot = slot.to_string();
        line(format!("{} = {}", quoted(&slot), quoted(&contents(&slot, bytes, &mut files))));
    }
    // Those that physical pointers lead to, and the inputs of a stage.
    for (key, bytes) in input.named() {
        let file = key.replace(['/', ':'], "-");
        line(format!("{} = {}", quoted(key), quoted(&contents(&file, bytes, &mut files))));
    }
    if !images.is_empty() {
        line("\n[image]".to_owned());
    }
    for (slot, image) in images {
        let undefined = image.bytes.iter().all(|byte| *byte == Byte::Undef);
        let contents = if undefined {
            "undef".to_owned()
        } else {
            contents(&format!("image-{slot}"), &image.bytes, &mut files)
        };
        line(format!("{} = {}", quoted(&slot.to_string()), quoted(&format!("{}:{contents}", image.layout))));
    }
    if let Some(launch) = launch.filter(|launch| !launch.samplers.is_empty()) {
        line("\n[sampler]".to_owned());
        for (slot, sampler) in &launch.samplers {
            line(format!("{} = {}", quoted(slot), quoted(sampler)));
        }
    }
    if !acceleration_structures.is_empty() {
        line("\n[acceleration-structure]".to_owned());
        for (slot, structure) in acceleration_structures {
            line(format!("{} = {}", quoted(&slot.to_string()), quoted(&structure.text)));
        }
    }
    (text, files)
}

/// Contents in the form of `--buffer`.
fn contents(name: &str, bytes: &[Byte], files: &mut Vec<(String, Vec<u8>)>) -> String {
    let whole_words = bytes.len().is_multiple_of(4);
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
    if whole_words && !known.is_empty() && known.iter().all(|byte| *byte == 0) {
        return format!("zeros:{}", known.len() / 4);
    }
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
