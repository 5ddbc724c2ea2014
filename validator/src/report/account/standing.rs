//! Who waits for ever and for what, and where invocations parted of which some wait at a control barrier.

use std::collections::BTreeMap;

use super::Code;
use crate::dispatch::Dispatch;
use crate::explain::{Parting, Standing, StandsAt};
use crate::ir::Line;
use crate::report::witness::{self, Scene};

/// Branches of a loop that are told.
const BRANCHES: usize = 2;

/// Kinds of waiting that are told.
const KINDS: usize = 4;

/// Who waits for what; equal ones together.
pub(in crate::report) fn hang(standing: &[Standing], code: &Code<'_>, scene: &Scene<'_>) -> Vec<String> {
    let mut kinds: Vec<(String, Line, &Standing, Vec<u32>)> = Vec::new();
    for one in standing {
        let (told, line) = what(one, standing, scene);
        match kinds.iter_mut().find(|(other, ..)| *other == told) {
            Some((.., who)) => who.push(one.invocation),
            None => kinds.push((told, line, one, vec![one.invocation])),
        }
    }
    let shown = if scene.full { usize::MAX } else { KINDS };
    let more = kinds.len().saturating_sub(shown);
    let mut lines = Vec::new();
    for (told, line, one, who) in kinds.into_iter().take(shown) {
        lines.push(format!("  {}: {told}", witness::runs(&who)));
        lines.push(scene.painter.faint(&format!("    line {line}: {}", code.line(line))));
        // At a barrier the others decide; who goes on may go another way next time.
        let tells = !matches!(one.at, StandsAt::Barrier | StandsAt::Unknown(_));
        let branches = one.branches.iter().filter(|_| tells);
        lines.extend(branches.take(BRANCHES).filter_map(|(line, way)| condition(*line, *way, code)));
    }
    if more > 0 {
        lines.push(format!("  … {more} more ways of waiting (--full)"));
    }
    lines
}

/// What keeps an invocation in a loop: the condition of a branch that is always the same.
fn condition(line: Line, way: Option<bool>, code: &Code<'_>) -> Option<String> {
    let id = *code.on(line)?.operands.first()?;
    let way = way?;
    let computed = code.defines(id).filter(|inst| code.function_of(inst.line).is_some());
    Some(match computed {
        Some(inst) => format!(
            "    its branch on line {line} finds {id} {way}: line {}: {}",
            inst.line,
            code.text(inst.line)
        ),
        None => format!("    its branch on line {line} finds {id} {way}"),
    })
}

/// What an invocation waits for, and the line that says most of it.
fn what(one: &Standing, standing: &[Standing], scene: &Scene<'_>) -> (String, Line) {
    let workgroup =
        |invocation: u32| scene.dispatch.places.get(invocation as usize).map(|place| place.workgroup);
    let own = workgroup(one.invocation);
    let of_workgroup = scene.dispatch.places.iter().filter(|place| Some(place.workgroup) == own).count();
    let is_here = |other: &&Standing| other.line == one.line && workgroup(other.invocation) == own;
    let everybody = standing.iter().filter(is_here).count() == of_workgroup;
    let in_loop = one.loop_line.map_or_else(String::new, |line| format!("in the loop on line {line} "));
    let told = match (&one.at, one.loop_line) {
        (StandsAt::Barrier, Some(line)) if everybody => {
            format!("in the loop on line {line} for ever, past the control barrier on line {}", one.line)
        }
        (StandsAt::Barrier, _) => {
            format!("{in_loop}at the control barrier on line {}, to which others never come", one.line)
        }
        (StandsAt::Value { object, offset, bytes }, _) => {
            let place = scene.place_name(*object, *offset);
            let value =
                bytes.as_ref().map(|bytes| format!("{} from ", scene.values_at(*object, *offset, bytes)));
            format!("{in_loop}for ever, where line {} reads {}{place}", one.line, value.unwrap_or_default())
        }
        (StandsAt::Nothing, Some(line)) => return (format!("{in_loop}for ever"), line),
        (StandsAt::Nothing, None) => "for ever".to_owned(),
        (StandsAt::Unknown(bound), _) => {
            format!("whether it waits is not known: followed for {bound}, up to line {}", one.line)
        }
    };
    (told, one.line)
}

/// Where those parted of whom some wait at the control barrier on `line`.
pub(in crate::report) fn parting(
    parting: Option<&Parting>,
    standing: &[Standing],
    code: &Code<'_>,
    dispatch: &Dispatch,
) -> Vec<String> {
    let mut by_line: BTreeMap<Line, Vec<u32>> = BTreeMap::new();
    for one in standing.iter().filter(|one| one.at == StandsAt::Barrier) {
        by_line.entry(one.line).or_default().push(one.invocation);
    }
    let mut lines = Vec::new();
    let waiting: Vec<u32> = by_line.values().flatten().copied().collect();
    for (line, who) in &by_line {
        let waits = if who.len() == 1 { "waits" } else { "wait" };
        lines.push(format!("  {} {waits} at the control barrier on line {line}", witness::runs(who)));
    }
    let others: Vec<u32> =
        (0..dispatch.places.len() as u32).filter(|invocation| !waiting.contains(invocation)).collect();
    if !others.is_empty() && !waiting.is_empty() {
        let verb = if others.len() == 1 { "does" } else { "do" };
        lines.push(format!("  {} {verb} not come there", witness::runs(&others)));
    }
    if let Some(parting) = parting {
        let went = |who: &[u32], to: Line| format!("{} to the block on line {to}", witness::runs(who));
        lines.push(format!(
            "  they part on line {}: {}, {}: {}",
            parting.line,
            went(&parting.there, parting.there_to),
            went(&parting.others, parting.others_to),
            code.line(parting.line)
        ));
    }
    lines
}
