//! Which launch a verdict rests on, in words.

use crate::check::{FrozenSpec, LaunchChoice};

/// A size as text reports tell it: `2`, `2x2x1`.
pub(super) fn size([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        _ => format!("{x}x{y}x{z}"),
    }
}

/// Which invocations a launch has: `workgroups 2 of 64`, `a quad of fragments`.
pub(super) fn invocations(launch: &LaunchChoice) -> String {
    if launch.quad {
        return "a quad of fragments".to_owned();
    }
    let (workgroups, local) = (size(launch.workgroups), size(launch.local_size));
    let rewritten = if launch.local_size_rewritten { " (not what it was compiled for)" } else { "" };
    format!("workgroups {workgroups} of {local}{rewritten}")
}

/// So many workgroups: `one workgroup`, `2x2x1 workgroups`.
pub(super) fn workgroups(count: [u32; 3]) -> String {
    match count {
        [1, 1, 1] => "one workgroup".to_owned(),
        _ => format!("{} workgroups", size(count)),
    }
}

/// Whether the entry point was launched twice with one specialisation.
pub(super) fn is_one_of_two(launches: &[LaunchChoice], entry: &str) -> bool {
    launches.iter().filter(|launch| launch.entry == entry && !launch.is_varied()).count() > 1
}

/// What follows the name of an input: `, --spec 3=4`.
pub(super) fn specs_text(specs: &[String]) -> String {
    specs.iter().map(|spec| format!(", --spec {spec}")).collect()
}

/// What follows a verdict on modules of which after has frozen SpecIds: `; at the default of SpecId 7 alone, which after
/// has frozen`.
pub(super) fn frozen_text(frozen: &[FrozenSpec]) -> String {
    let ids: Vec<String> = frozen.iter().map(|one| one.spec_id.to_string()).collect();
    match &ids[..] {
        [] => String::new(),
        [id] => format!("; at the default of SpecId {id} alone, which after has frozen"),
        [others @ .., last] => {
            let others = others.join(", ");
            format!("; at the defaults of SpecIds {others} and {last} alone, which after has frozen")
        }
    }
}

/// What follows a verdict that rests on a launch with fewer workgroups: `; rests on one workgroup (2 workgroups: before is
/// undefined)`.
pub(super) fn rests_text(launches: &[LaunchChoice]) -> String {
    let several = launches.iter().any(|launch| launch.entry != launches[0].entry);
    let usual: Vec<&LaunchChoice> = launches.iter().filter(|launch| !launch.is_varied()).collect();
    let told = usual.chunk_by(|one, next| one.entry == next.entry).filter_map(|of_entry| {
        let counting = of_entry.iter().position(|launch| launch.passed_over.is_none())?;
        let (before, rests_on) = (of_entry.get(..counting)?, of_entry.get(counting)?);
        let why = before
            .iter()
            .filter_map(|launch| Some(format!("{}: {}", workgroups(launch.workgroups), launch.passed_over?)));
        let why = why.collect::<Vec<String>>().join("; ");
        let of = if several { format!(" of {}", rests_on.entry) } else { String::new() };
        (counting > 0).then(|| format!("; rests on {}{of} ({why})", workgroups(rests_on.workgroups)))
    });
    told.collect()
}
