//! Searches of programs under the model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spirv_tv::dispatch::Dispatch;
use spirv_tv::explore::{explore, Races, Settings};
use spirv_tv::ir;
use spirv_tv::launch::{build_dispatch, Input, Launch, LaunchOptions, Size3};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::model::memory_model::Model;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;

use crate::model::Rc11;
use crate::programs::{Program, LOCATIONS, REGISTERS};
use crate::render::module;

/// What a search finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Undefined,
    /// The shared words and the results.
    Outcomes(BTreeSet<Vec<u32>>),
    /// It was cut.
    Incomplete,
}

/// A program that is ready to be searched.
pub struct Searched {
    program: ir::Program,
    dispatch: Dispatch,
    /// Of both buffers; a buffer that the program does not use is none of its objects.
    words: usize,
}

impl Searched {
    pub fn new(program: &Program) -> Searched {
        let workgroups = if program.one_workgroup { 1 } else { program.invocations() as u32 };
        let words = [LOCATIONS, program.invocations() * REGISTERS];
        Searched::of_text(&module(program), workgroups, words)
    }

    /// A module with so many workgroups, and so many words in each of its two buffers.
    pub fn of_text(text: &str, workgroups: u32, words: [usize; 2]) -> Searched {
        let options = ReadOptions { assemble_env: "spv1.3".parse().ok(), ..ReadOptions::default() };
        let module = Module::from_text(text, "random", &options);
        let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let lowered = lower(&module, &LowerOptions::default());
        let program = lowered.unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let workgroups = Some(Size3([workgroups, 1, 1]));
        let launch =
            Launch::resolve(&LaunchOptions { workgroups, ..LaunchOptions::default() }, &program, None);
        let launch = launch.unwrap_or_else(|error| panic!("{error:?}"));
        let zeros = |words: usize| vec![Byte::Known(0); 4 * words];
        let places = ["0.0", "0.1"].map(|place| place.parse().expect("a set and a binding"));
        let buffers: BTreeMap<_, _> = places.into_iter().zip(words.map(zeros)).collect();
        let input = Input {
            name: "given".to_owned(),
            buffers,
            images: BTreeMap::default(),
            acceleration_structures: BTreeMap::default(),
            push: Vec::new(),
            physical: Vec::new(),
            interface: Default::default(),
        };
        let dispatch = build_dispatch(&program, &launch, &input).unwrap_or_else(|error| panic!("{error:?}"));
        Searched { program, dispatch, words: words.iter().sum() }
    }

    /// `shortcuts` are those of the settings.
    pub fn search(&self, model: Rc11, races: Races, shortcuts: bool) -> Answer {
        let settings = Settings {
            model: Model::new(model),
            races,
            shortcuts,
            jobs: 1,
            timeout: Some(Duration::from_secs(20)),
            ..Settings::default()
        };
        let behaviours = explore(&self.program, &self.dispatch, &settings);
        assert!(behaviours.undecided.is_empty(), "{:?}", behaviours.undecided);
        if !behaviours.undefined.is_empty() {
            return Answer::Undefined;
        }
        if !behaviours.complete {
            return Answer::Incomplete;
        }
        let words = |memory: &Vec<Vec<Byte>>| -> Vec<u32> {
            let word = |bytes: &[Byte]| {
                bytes.iter().rev().fold(0, |word, byte| match byte {
                    Byte::Known(value) => word << 8 | u32::from(*value),
                    Byte::Undef => panic!("nothing is undefined"),
                })
            };
            let mut words: Vec<u32> = memory.iter().flat_map(|bytes| bytes.chunks(4).map(word)).collect();
            words.resize(self.words, 0);
            words
        };
        Answer::Outcomes(behaviours.outcomes.iter().map(|(outcome, _)| words(&outcome.memory)).collect())
    }
}
