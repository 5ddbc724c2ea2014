//! The outcomes that litmus programs allow: those of the module in which one instance runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Parser;
use spirv_tv::behaviour::End;
use spirv_tv::check::{self, CheckOptions, OutcomesReport, Watch};
use spirv_tv::explore::Races;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;
use spirv_tv_mutators::litmus::{alone, Alone, Class, Program};
use spirv_tv_toolchain::ValidatorOptions;

use super::treatment::ENV;
use crate::arguments::LaunchArguments;
use crate::CliError;

/// How long the outcomes of a program may be searched.
const TIME: Duration = Duration::from_secs(30);

/// Outcomes that are told one by one.
const LISTED: u64 = 1 << 20;

/// How modules are read.
pub(super) fn reading() -> ReadOptions {
    ReadOptions {
        assemble_env: Some(ENV),
        validator: ValidatorOptions::for_env(ENV),
        ..ReadOptions::default()
    }
}

/// A launch as options of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Launch(pub(super) Vec<String>);

#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct LaunchLine {
    #[command(flatten)]
    launch: LaunchArguments,
}

impl Launch {
    /// The options of a search on this launch.
    ///
    /// # Errors
    /// They are none.
    pub(super) fn options(&self) -> Result<CheckOptions, CliError> {
        let line = LaunchLine::try_parse_from(&self.0).map_err(CliError::usage)?;
        let mut options = CheckOptions { launch: line.launch.options()?, ..CheckOptions::default() };
        options.bounds.jobs = 1;
        options.bounds.timeout = Some(TIME);
        options.bounds.multiply_out = LISTED;
        options.bounds.factored_from = LISTED;
        Ok(options)
    }

    /// As a shell takes it.
    pub(super) fn line(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|word| crate::html::quoted(word)).collect();
        words.join(" ")
    }
}

/// The launch of one instance.
pub(super) fn launch(alone: &Alone) -> Launch {
    let mut words = vec![format!("--workgroups={}", alone.workgroups)];
    words.extend(alone.subgroup_size.map(|size| format!("--subgroup-size={size}")));
    words.extend(alone.words.iter().map(|(binding, words)| format!("--buffer=0.{binding}=zeros:{words}")));
    words.extend(alone.control.map(|binding| format!("--buffer=0.{binding}=words:1")));
    words.extend(alone.texels.map(|texels| format!("--image=0.{}=r32ui:{texels}:zeros", Alone::TEXELS)));
    words.extend(alone.image.map(|width| format!("--image=0.{}=r32ui:{width}x1:zeros", Alone::IMAGE)));
    words.extend(alone.pointed.map(|binding| format!("--push-pointer=0=0.{binding}+0")));
    Launch(words)
}

/// What a program allows: for each outcome the values that are observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// All of them.
    Known(BTreeSet<Vec<u32>>),
    /// Why they are not known.
    Unknown(String),
}

/// The program with one instance, read.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) module: Module,
    pub(super) launch: Launch,
    pub(super) set: Set,
}

/// Sets of outcomes, by program.
#[derive(Debug, Default)]
pub(super) struct Sets {
    known: Mutex<HashMap<String, Arc<Single>>>,
}

impl Sets {
    /// The program with one instance, and what it allows.
    ///
    /// # Errors
    /// A bug: the module is invalid.
    pub(super) fn of(&self, program: &Program) -> Result<Arc<Single>, CliError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(single) = known().get(&program.name) {
            return Ok(Arc::clone(single));
        }
        let alone = alone(program);
        let module = Module::from_text(&alone.text, &program.name, &reading())?;
        let launch = launch(&alone);
        let set = set(&report(&module, &launch, Races::Undefined)?, program);
        let single = Arc::new(Single { module, launch, set });
        known().insert(program.name.clone(), Arc::clone(&single));
        Ok(single)
    }
}

/// Searches the outcomes of a module.
pub(super) fn report(module: &Module, launch: &Launch, races: Races) -> Result<OutcomesReport, CliError> {
    let options = CheckOptions { races, ..launch.options()? };
    Ok(check::outcomes(module, &options, &Watch::default())?)
}

/// The outcomes of a report on one instance, as the values that are observed.
pub(super) fn set(report: &OutcomesReport, program: &Program) -> Set {
    let Some(run) = report.runs.first().filter(|_| report.unsupported.is_empty()) else {
        return Set::Unknown("the program is not supported".to_owned());
    };
    let behaviours = &run.explored.behaviours;
    if let Some((undefined, _)) = behaviours.undefined.first() {
        return Set::Unknown(format!("the program is undefined: {:?}", undefined.kind));
    }
    let is_whole = behaviours.complete && behaviours.bounded.is_none() && behaviours.undecided.is_empty();
    if !is_whole || !report.untried.is_empty() {
        return Set::Unknown("the search of its outcomes was not finished".to_owned());
    }
    if behaviours.product.is_some() || behaviours.factored().next().is_some() {
        return Set::Unknown("there are too many outcomes to be listed".to_owned());
    }
    let keys: Vec<&str> = run
        .explored
        .dispatch
        .objects
        .iter()
        .filter(|object| object.observed)
        .map(|object| object.key.as_str())
        .collect();
    let mut known = BTreeSet::new();
    for (outcome, _) in behaviours.listed() {
        if outcome.end == End::Hang {
            return Set::Unknown("it may hang".to_owned());
        }
        let word = |key: &str, number: usize| {
            let object = keys.iter().position(|known| *known == key)?;
            let bytes = outcome.memory.get(object)?.get(number * 4..number * 4 + 4)?;
            bytes.iter().rev().try_fold(0_u32, |value, byte| match byte {
                Byte::Known(byte) => Some(value << 8 | u32::from(*byte)),
                Byte::Undef => None,
            })
        };
        let registers =
            (0..program.registers()).map(|number| word(&format!("0.{}", Alone::REGISTERS), number));
        let lasting = program.final_locations().into_iter().map(|location| {
            let key = match program.locations.get(location) {
                Some(Class::Texels) => format!("image:0.{}", Alone::TEXELS),
                Some(Class::Image) => format!("image:0.{}", Alone::IMAGE),
                Some(Class::Buffer | Class::Workgroup | Class::Physical) | None => {
                    format!("0.{}", Alone::MEMORY)
                }
            };
            word(&key, location)
        });
        match registers.chain(lasting).collect::<Option<Vec<u32>>>() {
            Some(values) => known.insert(values),
            None => return Set::Unknown("an outcome has undefined bytes".to_owned()),
        };
    }
    Set::Known(known)
}

#[cfg(test)]
mod tests {
    use spirv_tv_mutators::litmus::catalogue;

    use super::*;

    /// Images are memory: what a program allows does not depend on where its locations are.
    #[test]
    fn programs_on_images_allow_what_those_on_buffers_do() {
        let (mut known, mut by_accesses) = (0, 0);
        for shape in catalogue() {
            let set = |class: Class| {
                let mut random = fastrand::Rng::with_seed(11);
                let program = shape.random(&mut random, &[class], true, true);
                (program.name.clone(), Sets::default().of(&program).unwrap().set.clone())
            };
            let (name, on_images) = set(Class::Image);
            assert!(name.contains("-image-"), "{name}");
            assert_eq!(on_images, set(Class::Buffer).1, "{name}");
            assert_eq!(on_images, set(Class::Texels).1, "{name}");
            known += u32::from(matches!(on_images, Set::Known(_)));
            by_accesses += u32::from(name.contains("+accesses"));
        }
        assert_eq!((known, by_accesses > 0), (u32::try_from(catalogue().len()).unwrap(), true));
    }
}
