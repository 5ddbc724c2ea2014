//! The fast engine on a rendered program.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spirv_tv::behaviour::{Behaviours, Bound, End, Stopped};
use spirv_tv::event::UndefinedKind;
use spirv_tv::explore::{explore, Races, Reductions, Settings};
use spirv_tv::launch::{build_dispatch, Input, Launch, LaunchOptions, Size3};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::model::vulkan::{Revision, Variant};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;

use super::enumerate::Outcome;
use super::model;
use super::program::{Program, Space};
use super::render::{render, results_length};

/// Programs that take the fast engine longer are not compared.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How an answer begins that ran out of time.
pub const TOO_SLOW: &str = "too slow";

/// Ways to ask the fast engine.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub races: Races,
    pub shortcuts: bool,
    pub without: Reductions,
    pub jobs: usize,
    /// Stop at the first race, and look for those of one interleaving before anything else.
    pub early: bool,
}

/// What the fast engine says about a program.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcomes: BTreeSet<Outcome>,
    pub executions: usize,
    pub explored: usize,
    pub racy: bool,
}

pub fn words(bytes: &[Byte]) -> Result<Vec<u32>, String> {
    bytes
        .chunks(4)
        .map(|word| {
            word.iter().enumerate().try_fold(0, |value, (index, byte)| match byte {
                Byte::Known(byte) => Ok(value | u32::from(*byte) << (8 * index)),
                _ => Err("an undefined byte in an outcome".to_owned()),
            })
        })
        .collect()
}

/// Runs the fast engine.
pub fn answer(program: &Program, variant: model::Variant, how: How) -> Result<Answer, String> {
    let text = render(program);
    let module =
        Module::from_text(&text, "twin", &ReadOptions::default()).map_err(|e| format!("{e}\n{text}"))?;
    let lowered = lower(&module, &LowerOptions::default()).map_err(|e| e.to_string())?;
    let shape = program.shape;
    let alias = program.uses(Space::Alias);
    let options = LaunchOptions {
        workgroups: Some(Size3([shape.workgroups as u32, 1, 1])),
        subgroup_size: Some(shape.subgroup_size as u32),
        aliases: if alias && program.uses(Space::Buffer) { vec!["0.0=0.2".parse()?] } else { Vec::new() },
        ..LaunchOptions::default()
    };
    let launch = Launch::resolve(&options, &lowered, None).map_err(|e| e.to_string())?;
    let zeros = |words: usize| vec![Byte::Known(0); 4 * words];
    let mut buffers = BTreeMap::new();
    let bytes = |word: &u32| word.to_le_bytes().map(Byte::Known);
    let initial: Vec<Byte> = program.initial.iter().flat_map(bytes).collect();
    buffers.insert("0.0".parse()?, initial.clone());
    buffers.insert("0.1".parse()?, zeros(results_length(program) as usize));
    if alias {
        buffers.insert("0.2".parse()?, initial);
    }
    let input = Input {
        name: "given".to_owned(),
        buffers,
        images: Default::default(),
        acceleration_structures: Default::default(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: Default::default(),
    };
    let dispatch = build_dispatch(&lowered, &launch, &input).map_err(|e| e.to_string())?;
    let settings = Settings {
        model: Variant {
            revision: if variant.from_reads_by_location_order { Revision::R2025 } else { Revision::R2024 },
            chains: variant.chains,
        }
        .into(),
        races: how.races,
        jobs: how.jobs,
        shortcuts: how.shortcuts,
        without: how.without,
        stop_at_undefined: how.early,
        early_races_from: if how.early { 0 } else { usize::MAX },
        verify_engine: true,
        timeout: Some(TIMEOUT),
        ..Settings::default()
    };
    let found = explore(&lowered, &dispatch, &settings);
    check_complete(&found)?;
    let observed: Vec<&str> =
        dispatch.objects.iter().filter(|o| o.observed).map(|o| o.key.as_str()).collect();
    let mut outcomes = BTreeSet::new();
    for (outcome, _) in &found.outcomes {
        if outcome.end != End::Terminated {
            return Err("a hang".to_owned());
        }
        // A buffer that the program does not use is no object; under the other binding it is the same.
        let memory_of = |keys: &[&str], unused: &[u32]| match observed
            .iter()
            .position(|observed| keys.contains(observed))
        {
            Some(position) => words(&outcome.memory[position]),
            None => Ok(unused.to_vec()),
        };
        let mut results = memory_of(&["0.1"], &[])?;
        results.truncate(program.result_words());
        outcomes.insert(Outcome { memory: memory_of(&["0.0", "0.2"], &program.initial)?, results });
    }
    let mut racy = false;
    for (undefined, _) in &found.undefined {
        match undefined.kind {
            UndefinedKind::DataRace => racy = true,
            other => return Err(format!("undefined behaviour {other:?}: {}", undefined.detail)),
        }
    }
    let (executions, explored) = (found.executions.saturating() as usize, found.explored as usize);
    Ok(Answer { outcomes, executions, explored, racy })
}

fn check_complete(found: &Behaviours) -> Result<(), String> {
    if found.complete {
        return Ok(());
    }
    if found.stopped == Some(Stopped::Timeout) || found.bounded == Some(Bound::SpeculatedReads) {
        return Err(TOO_SLOW.to_owned());
    }
    Err(format!("incomplete: {:?} {:?} {:?}", found.stopped, found.bounded, found.undecided))
}
