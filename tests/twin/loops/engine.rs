//! The fast engine on a program with loops.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spirv_tv::behaviour::{Bound, End, Stopped};
use spirv_tv::event::UndefinedKind;
use spirv_tv::explore::{explore, Races, Settings};
use spirv_tv::launch::{build_dispatch, Input, Launch, LaunchOptions, Size3};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::model::vulkan::{Revision, Variant};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;

use super::program::Program;
use super::render::{render, results_length};
use super::search::Undefined;
use crate::engine::words;
use crate::enumerate::Outcome;
use crate::model;

/// Programs that take the fast engine longer are not compared.
const TIMEOUT: Duration = Duration::from_secs(3);

/// No program of these has more turns of a loop that comes to its end.
const SPIN_BOUND: u32 = 24;

/// What the fast engine says about a program.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcomes: BTreeSet<Outcome>,
    pub hangs: bool,
    pub undefined: BTreeSet<Undefined>,
}

/// Why it has no answer.
#[derive(Clone, Debug)]
pub enum NoAnswer {
    TooSlow,
    /// What grows for ever was cut.
    Grows,
    /// The search was cut, or could not decide.
    Incomplete(String),
    /// Something that no program of these has.
    Unexpected(String),
}

fn unexpected(error: impl ToString) -> NoAnswer {
    NoAnswer::Unexpected(error.to_string())
}

/// Runs the fast engine.
pub fn answer(
    program: &Program,
    variant: model::Variant,
    races: Races,
    shortcuts: bool,
    jobs: usize,
) -> Result<Answer, NoAnswer> {
    let module = Module::from_text(&render(program), "twin", &ReadOptions::default()).map_err(unexpected)?;
    let lowered = lower(&module, &LowerOptions::default()).map_err(unexpected)?;
    let shape = program.shape;
    let options = LaunchOptions {
        workgroups: Some(Size3([shape.workgroups as u32, 1, 1])),
        subgroup_size: Some(shape.subgroup_size as u32),
        ..LaunchOptions::default()
    };
    let launch = Launch::resolve(&options, &lowered, None).map_err(unexpected)?;
    let bytes = |words: &[u32]| -> Vec<Byte> {
        words.iter().flat_map(|word| word.to_le_bytes().map(Byte::Known)).collect()
    };
    let buffers = BTreeMap::from([
        ("0.0".parse().map_err(NoAnswer::Unexpected)?, bytes(&program.initial)),
        ("0.1".parse().map_err(NoAnswer::Unexpected)?, bytes(&vec![0; results_length(program)])),
    ]);
    let input = Input {
        name: "given".to_owned(),
        buffers,
        images: Default::default(),
        acceleration_structures: Default::default(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: Default::default(),
    };
    let dispatch = build_dispatch(&lowered, &launch, &input).map_err(unexpected)?;
    let settings = Settings {
        model: Variant {
            revision: if variant.from_reads_by_location_order { Revision::R2025 } else { Revision::R2024 },
            chains: variant.chains,
        }
        .into(),
        races,
        jobs,
        shortcuts,
        verify_engine: true,
        strict_hangs: true,
        spin_bound: SPIN_BOUND,
        timeout: Some(TIMEOUT),
        ..Settings::default()
    };
    let found = explore(&lowered, &dispatch, &settings);
    let mut undefined = BTreeSet::new();
    for (behaviour, _) in &found.undefined {
        undefined.insert(match behaviour.kind {
            UndefinedKind::DataRace => Undefined::DataRace,
            UndefinedKind::DivisionByZero => Undefined::DivisionByZero,
            UndefinedKind::DivergentBarrier => Undefined::DivergentBarrier,
            other => return Err(NoAnswer::Unexpected(format!("{other:?}: {}", behaviour.detail))),
        });
    }
    if !found.complete {
        if found.stopped == Some(Stopped::Timeout) {
            return Err(NoAnswer::TooSlow);
        }
        if found.bounded == Some(Bound::SpinBound) && found.undecided.is_empty() && program.may_grow() {
            return Err(NoAnswer::Grows);
        }
        return Err(NoAnswer::Incomplete(format!(
            "{:?} {:?} {:?}",
            found.stopped, found.bounded, found.undecided
        )));
    }
    let observed: Vec<&str> =
        dispatch.objects.iter().filter(|o| o.observed).map(|o| o.key.as_str()).collect();
    let mut outcomes = BTreeSet::new();
    let mut hangs = false;
    for (outcome, _) in &found.outcomes {
        match outcome.end {
            End::Hang => hangs = true,
            End::Terminated => {
                // A buffer that the program does not use is no object.
                let memory_of =
                    |key: &str, unused: &[u32]| match observed.iter().position(|observed| *observed == key) {
                        Some(position) => words(&outcome.memory[position]).map_err(NoAnswer::Unexpected),
                        None => Ok(unused.to_vec()),
                    };
                let mut results = memory_of("0.1", &[])?;
                results.truncate(program.shape.threads() * program.reads().len());
                outcomes.insert(Outcome { memory: memory_of("0.0", &program.initial)?, results });
            }
        }
    }
    Ok(Answer { outcomes, hangs, undefined })
}
