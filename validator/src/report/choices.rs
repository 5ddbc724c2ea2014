//! Everything that a result rests on, in a few lines.

use super::launches;
use super::parts::Part;
use super::style::Painter;
use crate::check::{Choices, InputChoice, LaunchChoice};

/// The choices, the launches, then the inputs and the bounds. Many launches may be cut.
pub(super) fn part(choices: &Choices, painter: Painter) -> Part {
    let faint = |line: String| painter.faint(&line);
    Part {
        head: vec![faint(model(choices))],
        lines: choices.launch.iter().map(launch).map(faint).collect(),
        tail: vec![faint(inputs(choices))],
    }
}

/// All of these lines.
pub(super) fn lines(choices: &Choices) -> Vec<String> {
    let launches = choices.launch.iter().map(launch);
    std::iter::once(model(choices)).chain(launches).chain([inputs(choices)]).collect()
}

/// The model and the choices.
pub(super) fn model(choices: &Choices) -> String {
    let mut text = format!(
        "model {}{}, races {}, legacy {}, progress {}, hang {}, environment {}, \
         reconvergence {}, out-of-bounds {}, floats {}",
        choices.model,
        choices.parameters,
        choices.races,
        choices.legacy,
        choices.progress,
        choices.hang,
        choices.environment,
        choices.reconvergence,
        choices.out_of_bounds,
        choices.floats,
    );
    if let Some(after) = choices.after_out_of_bounds {
        text.push_str(&format!(", after-out-of-bounds {after}"));
    }
    if let Some(may) = choices.spec_may_freeze {
        text.push_str(&format!(", spec-may-freeze {may}"));
    }
    if !choices.ignore.is_empty() {
        text.push_str(&format!(", ignoring {}", choices.ignore.join(", ")));
    }
    text
}

pub(super) fn launch(launch: &LaunchChoice) -> String {
    let mut text = format!(
        "launch: {}, {}, subgroups of {}",
        launch.entry,
        launches::invocations(launch),
        launch.subgroup_size,
    );
    if let Some(why) = launch.passed_over {
        text.push_str(&format!(", passed over ({why})"));
    }
    for (id, value) in &launch.specialisation {
        if !launch.varied_specs().iter().any(|spec| spec.starts_with(&format!("{id}="))) {
            text.push_str(&format!(", spec {id}={value}"));
        }
    }
    for spec in launch.varied_specs() {
        text.push_str(&format!(", spec {spec} (varied)"));
    }
    for (slot, memory) in launch.aliases.iter().filter(|(slot, memory)| slot != memory) {
        text.push_str(&format!(", {slot} is {memory}"));
    }
    for (offset, target) in &launch.push_pointers {
        text.push_str(&format!(", push constants at byte {offset} point to {target}"));
    }
    text
}

fn inputs(choices: &Choices) -> String {
    let InputChoice { count, looked_at, .. } = choices.inputs;
    let more = if looked_at > 0 { format!(" and {looked_at} by one run each") } else { String::new() };
    format!("inputs {count}{more}, {}", bounds(choices))
}

/// The seed, the bounds and the version.
pub(super) fn bounds(choices: &Choices) -> String {
    let bounds = &choices.bounds;
    let mut text = format!(
        "seed {}; bounds: spin {}, instructions {}, executions {}, memory {}",
        choices.inputs.seed,
        bounds.spin_bound,
        bounds.max_instructions,
        bounds.max_executions,
        bounds.max_memory
    );
    if let Some(seconds) = bounds.timeout {
        text.push_str(&format!(", {seconds} s"));
    }
    if let Some(seconds) = bounds.step_timeout {
        text.push_str(&format!(", {seconds} s a step"));
    }
    text.push_str(&format!("; spirv-tv {}", choices.version));
    text
}
