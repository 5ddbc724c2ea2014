//! Litmus programs: many instances at once, each of which must end in an allowed outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use spirv_tv::explore::Races;
use spirv_tv::module::Module;
use spirv_tv::optimise::to_bytes;
use spirv_tv::report;
use spirv_tv_executor::case::{Address, Case, Image, Kind, Resource, Robustness, Slot, View};
use spirv_tv_executor::{Execution, Executor};
use spirv_tv_gate::Bucket;
use spirv_tv_mutators::litmus::{catalogue, many, Class, Environment, Many, Program};
use spirv_tv_mutators::{self as mutators, Mutant, Mutants, WEAKENINGS};
use spirv_tv_toolchain::assemble;

use super::answer::{Answer, Evidence};
use super::guilt::{self, Guilt};
use super::plan::{Planned, Treatment};
use super::record::{Record, Status};
use super::sets::{self, Set, Single};
use super::treatment::{self, SpirvOpt, ENV};
use super::world::{Stress, World};
use crate::CliError;

/// Weakenings of a program whose outcomes are searched for one with more.
const MOST_WEAKENINGS: usize = 4;

/// Programs that are made until one has the name that is wanted.
const MOST_PROGRAMS: usize = 100_000;

/// Programs among which one is chosen to be weakened.
const MOST_CHOICES: u32 = 8;

/// Outcomes that a report lists of each kind.
const LISTED: usize = 20;

/// Runs a case.
///
/// # Errors
/// A bug of spirv-tv: its own module is invalid.
pub(super) fn run(
    planned: Planned,
    world: &World,
    executor: &dyn Executor,
    optimiser: &mut SpirvOpt,
) -> Result<Answer, CliError> {
    let Planned { name, treatment, mut random, .. } = planned;
    let chosen = match &treatment {
        Treatment::Weakened => promising(world, &mut random),
        Treatment::None | Treatment::Rewritten(_) | Treatment::Optimised(_) => program(world, &mut random),
    };
    let Some(program) = chosen else {
        let record = Record::new(name, String::new(), treatment.name());
        return Ok(record.with(Status::NotJudged, "no litmus program has such a name").into());
    };
    let record = Record::new(name, program.name.clone(), treatment.name());
    let (single, environment) = (world.sets.of(&program)?, environment(world, &mut random));
    let allowed = match &single.set {
        Set::Known(set) => set,
        Set::Unknown(why) => return Ok(record.with(Status::NotJudged, why).into()),
    };
    let subgroup = world.subgroup().unwrap_or(1);
    let many = match many(&program, &environment, subgroup) {
        Ok(many) => many,
        Err(why) => return Ok(record.with(Status::Unsupported, why).into()),
    };
    let record = Record {
        environment: Some(environment.to_string()),
        allowed: u64::try_from(allowed.len()).unwrap_or(u64::MAX),
        ..record
    };
    let words = assembled(&many.text)?;
    let mut trial =
        Trial { program: &program, many: &many, single: &single, allowed: allowed.clone(), words };
    let mut record = record;
    match &treatment {
        Treatment::None => {}
        Treatment::Weakened => {
            let Some(weakened) = weakened(&trial, &world.stress, &mut random)? else {
                return Ok(record.with(Status::Redundant, "no weakening that was tried allows more").into());
            };
            record.treatment = format!("weakened: {}", weakened.name);
            trial.words = weakened.words;
            let base = trial.allowed;
            trial.allowed = weakened.outcomes;
            return Ok(stressed(trial, record, &base, (&environment, weakened.kind), world, executor));
        }
        Treatment::Rewritten(times) => match treatment::rewrite(&trial.words, *times, &mut random) {
            Ok(treated) => (trial.words, record.treatment) = (treated.words, treated.how),
            Err((status, why)) => return Ok(record.with(status, why).into()),
        },
        Treatment::Optimised(flags) => match optimiser.optimise(&trial.words, flags) {
            Ok(treated) => (trial.words, record.treatment) = (treated.words, treated.how),
            Err(why) => return Ok(record.with(Status::NotOptimised, why).into()),
        },
    }
    let answer = trial.judge(record, world, executor);
    Ok(match answer.record.status {
        Status::NewOutcome => blamed(answer, &trial, &treatment, optimiser, world.to_explain),
        _ => answer,
    })
}

/// A random program whose name is wanted; `None` where many were made and none was.
pub(super) fn program(world: &World, random: &mut fastrand::Rng) -> Option<Program> {
    let mut classes = vec![Class::Buffer, Class::Buffer, Class::Workgroup];
    if world.has("ImageBuffer") {
        classes.push(Class::Texels);
    }
    classes.push(Class::Image);
    if world.has("PhysicalStorageBufferAddresses") && world.has("Int64") {
        classes.push(Class::Physical);
    }
    let shapes = catalogue();
    let has_subgroups = world.subgroup().is_some();
    let has_device_scope = world.has("VulkanMemoryModelDeviceScope");
    (0..MOST_PROGRAMS).find_map(|_| {
        let shape = &shapes[random.usize(0..shapes.len())];
        let program = shape.random(random, &classes, has_subgroups, has_device_scope);
        program.name.contains(&world.program).then_some(program)
    })
}

/// A program to be weakened: mostly one whose roles are placed as in those that showed weak behaviour.
fn promising(world: &World, random: &mut fastrand::Rng) -> Option<Program> {
    let mut chosen = program(world, random)?;
    for _ in 0..MOST_CHOICES {
        // What never showed anything may do so in another environment.
        if !world.stress.is_hopeless(chosen.placement) || random.u32(0..MOST_CHOICES) == 0 {
            break;
        }
        chosen = program(world, random)?;
    }
    Some(chosen)
}

/// One that is known to be good every second time.
fn environment(world: &World, random: &mut fastrand::Rng) -> Environment {
    let local = world.most("invocations of a workgroup", 128);
    let own = Environment::random(random, world.invocations, local, world.subgroup().unwrap_or(1));
    match random.bool() {
        true => world.stress.good(random).unwrap_or(own),
        false => own,
    }
}

fn assembled(text: &str) -> Result<Vec<u32>, CliError> {
    assemble(text, Some(ENV))
        .map_err(|error| CliError::Usage(format!("a litmus program is no module: {error:?}")))
}

/// What is run and what it may show.
struct Trial<'a> {
    program: &'a Program,
    many: &'a Many,
    single: &'a Single,
    allowed: BTreeSet<Vec<u32>>,
    words: Vec<u32>,
}

/// What a device showed.
struct Shown {
    /// How often each cell was counted.
    cells: BTreeMap<u32, u64>,
    /// How many times the module ran.
    times: u64,
}

impl Trial<'_> {
    /// Runs the module and holds what it shows against what is allowed.
    fn judge(&self, record: Record, world: &World, executor: &dyn Executor) -> Answer {
        let case = self.case(world);
        match self.shown(&case, executor) {
            Ok(shown) => self.judged(record, &shown),
            Err(failure) => Answer { record: record.failed(&failure), evidence: self.evidence(None) },
        }
    }

    fn case(&self, world: &World) -> Case {
        let buffer = |binding: u32, bytes: Vec<u8>| Resource {
            name: format!("0.{binding}"),
            slot: Some(Slot { set: 0, binding, element: 0 }),
            kind: Kind::StorageBuffer,
            bytes,
        };
        let zeros = |words: u32| vec![0; words as usize * 4];
        let Many { words, texels, image, pointed, control, .. } = self.many;
        let mut resources: Vec<Resource> =
            words.iter().map(|(binding, words)| buffer(*binding, zeros(*words))).collect();
        resources.extend(control.map(|binding| buffer(binding, 1_u32.to_le_bytes().to_vec())));
        resources.extend(texels.map(|texels| Resource {
            kind: Kind::StorageTexelBuffer { format: "r32ui".to_owned() },
            ..buffer(Many::TEXELS, zeros(texels))
        }));
        resources.extend(image.map(|[width, height]| {
            let image = Image {
                view: View::Two,
                format: "r32ui".to_owned(),
                extent: [width, height, 1],
                layers: 1,
                levels: 1,
            };
            Resource { kind: Kind::StorageImage { image }, ..buffer(Many::IMAGE, zeros(width * height)) }
        }));
        let mut addresses = Vec::new();
        if let Some(words) = pointed {
            addresses.push(Address { within: None, offset: 0, target: resources.len(), byte: 0 });
            let name = "ptr:push+0".to_owned();
            resources.push(Resource { name, slot: None, kind: Kind::Buffer, bytes: zeros(*words) });
        }
        let is_counts = |resource: &Resource| resource.slot.is_some_and(|slot| slot.binding == Many::COUNTS);
        Case {
            words: self.words.clone(),
            entry: "main".to_owned(),
            workgroups: [self.many.workgroups, 1, 1],
            local_size: [self.many.local_size, 1, 1],
            subgroup_size: self.many.subgroup_size,
            specialisation: Vec::new(),
            push: if pointed.is_some() { vec![0; 8] } else { Vec::new() },
            unwanted: (0..resources.len()).filter(|index| !is_counts(&resources[*index])).collect(),
            resources,
            addresses,
            robustness: Robustness::None,
            times: world.times,
            time: world.time,
        }
    }

    fn shown(&self, case: &Case, executor: &dyn Executor) -> Result<Shown, Execution> {
        let mut shown = Shown { cells: BTreeMap::new(), times: 0 };
        let mut left = case.times;
        while left > 0 {
            let observations = match executor.execute(&Case { times: left, ..case.clone() }) {
                Execution::Finished(observations) => observations,
                failure => return Err(failure),
            };
            let total: u64 = observations.iter().map(|one| u64::from(one.count)).sum();
            let total = u32::try_from(total).ok().filter(|total| (1..=left).contains(total));
            let total =
                total.ok_or_else(|| Execution::Invalid("it tells a wrong number of runs".to_owned()))?;
            left -= total;
            shown.times += u64::from(total);
            for observation in observations {
                let counts = observation.memory.iter().flatten().next();
                let counts = counts.ok_or_else(|| Execution::Invalid("it tells no counts".to_owned()))?;
                for (cell, word) in (0..).zip(counts.chunks_exact(4)) {
                    let count = word.iter().rev().fold(0, |count, byte| count << 8 | u64::from(*byte));
                    if count > 0 {
                        *shown.cells.entry(cell).or_default() += count * u64::from(observation.count);
                    }
                }
            }
        }
        Ok(shown)
    }

    fn judged(&self, record: Record, shown: &Shown) -> Answer {
        let instances = shown.times * u64::from(self.many.instances);
        let uncounted = shown.cells.get(&self.many.cells()).copied().unwrap_or_default();
        let total: u64 = shown.cells.values().fold(0, |total, count| total.saturating_add(*count));
        let outcomes = || shown.cells.iter().filter(|(cell, _)| **cell < self.many.cells());
        let is_allowed = |cell: u32| self.allowed.contains(&self.many.outcome(self.program, cell));
        let wrong: Vec<(u32, u64)> =
            outcomes().filter(|(cell, _)| !is_allowed(**cell)).map(|(cell, count)| (*cell, *count)).collect();
        let seen = outcomes().filter(|(cell, _)| is_allowed(**cell)).count();
        let record = Record {
            instances: total.saturating_sub(uncounted),
            shown: u64::try_from(seen).unwrap_or(u64::MAX),
            ..record
        };
        let evidence = || self.evidence(Some(shown));
        if let Some((cell, count)) = wrong.first() {
            let more = match wrong.len() {
                1 => String::new(),
                all => format!(" and {} others", all - 1),
            };
            let detail = format!(
                "{} was shown{more}, in {count} of {total} instances",
                self.name(&self.many.outcome(self.program, *cell))
            );
            return Answer { record: record.with(Status::NewOutcome, detail), evidence: evidence() };
        }
        if total != instances {
            let detail = format!("{total} instances were counted where {instances} ran");
            let record = Record { bucket: Some(Bucket("device/miscounted".to_owned())), ..record };
            return Answer { record: record.with(Status::Miscounted, detail), evidence: evidence() };
        }
        if uncounted == total {
            return record.with(Status::Unsupported, "subgroups are not full").into();
        }
        record.into()
    }

    /// An outcome in words: `r0=1 r1=0 x=1`.
    fn name(&self, outcome: &[u32]) -> String {
        let greatest = self.many.values - 1;
        let value = |value: u32| match value == greatest {
            true => format!("another value than 0 to {}", greatest - 1),
            false => value.to_string(),
        };
        let parts = outcome.iter().enumerate();
        parts
            .map(|(index, one)| format!("{}={}", self.program.name_of(index), value(*one)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn evidence(&self, shown: Option<&Shown>) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.add("module.spv", to_bytes(&self.words));
        evidence.add("single.spvasm", self.single.module.text.as_bytes());
        let Some(shown) = shown else { return evidence };
        evidence.told.push("| outcome | | instances |".to_owned());
        evidence.told.push("| --- | --- | ---: |".to_owned());
        let mut counted: Vec<(bool, u64, Vec<u32>)> = Vec::new();
        for (cell, count) in &shown.cells {
            if *cell < self.many.cells() {
                let outcome = self.many.outcome(self.program, *cell);
                counted.push((self.allowed.contains(&outcome), *count, outcome));
            }
        }
        for outcome in &self.allowed {
            if !counted.iter().any(|(_, _, known)| known == outcome) {
                counted.push((true, 0, outcome.clone()));
            }
        }
        counted.sort_by_key(|(is_allowed, count, _)| (*is_allowed, std::cmp::Reverse(*count)));
        for (is_allowed, count, outcome) in counted.iter().take(2 * LISTED) {
            let word = match (is_allowed, count) {
                (false, _) => "**not allowed**",
                (true, 0) => "allowed, never seen",
                (true, _) => "allowed",
            };
            evidence.told.push(format!("| `{}` | {word} | {count} |", self.name(outcome)));
        }
        if counted.len() > 2 * LISTED {
            evidence.told.push(format!("| and {} more | | |", counted.len() - 2 * LISTED));
        }
        evidence
    }
}

/// A weakening with more outcomes than the program.
struct Weakened {
    kind: &'static str,
    name: String,
    words: Vec<u32>,
    outcomes: BTreeSet<Vec<u32>>,
}

/// Weakens the program with one instance and that with many in the same way, where that allows more.
fn weakened(
    trial: &Trial<'_>,
    stress: &Stress,
    random: &mut fastrand::Rng,
) -> Result<Option<Weakened>, CliError> {
    let mut mutants = mutants(&trial.single.module.words)?;
    // Texels that are pointed to can be accessed by atomics alone (the SPIR-V specification, OpImageTexelPointer).
    let has_texels = trial.program.has(Class::Texels) || trial.program.has(Class::Image);
    mutants.retain(|mutant| !has_texels || mutant.mutator != "atomic-to-plain");
    random.shuffle(&mut mutants);
    // What never showed anything may do so in another program.
    if random.u32(0..MOST_CHOICES) > 0 {
        mutants.sort_by_key(|mutant| stress.is_kind_hopeless(mutant.mutator));
    }
    for mutant in mutants.into_iter().take(MOST_WEAKENINGS) {
        let Some(outcomes) = outcomes(trial, &mutant)? else { continue };
        if outcomes.is_subset(&trial.allowed) {
            continue;
        }
        let all = mutators::Module::load(&trial.words, ENV).map_err(CliError::usage)?;
        let name = mutant.name();
        let mutator = WEAKENINGS.iter().find(|mutator| mutator.name() == mutant.mutator);
        let like = mutator.and_then(|mutator| mutator.mutants(&all, 0).find(|like| like.name() == name));
        if let Some(like) = like.filter(|like| like.module.validate().is_ok()) {
            return Ok(Some(Weakened { kind: mutant.mutator, name, words: like.module.words(), outcomes }));
        }
    }
    Ok(None)
}

fn mutants(words: &[u32]) -> Result<Vec<Mutant>, CliError> {
    let module = mutators::Module::load(words, ENV).map_err(CliError::usage)?;
    Ok(Mutants::of(&module, WEAKENINGS, 0).valid)
}

/// The outcomes of a weakened program, those of its racy executions too; `None` where they are not known.
fn outcomes(trial: &Trial<'_>, mutant: &Mutant) -> Result<Option<BTreeSet<Vec<u32>>>, CliError> {
    let module = Module::from_words(mutant.module.words(), &mutant.name(), &sets::reading())?;
    let report = sets::report(&module, &trial.single.launch, Races::Keep)?;
    Ok(match sets::set(&report, trial.program) {
        Set::Known(outcomes) => Some(outcomes),
        Set::Unknown(_) => None,
    })
}

/// Runs a weakened program: does the device show what only that allows?
fn stressed(
    trial: Trial<'_>,
    record: Record,
    base: &BTreeSet<Vec<u32>>,
    (environment, kind): (&Environment, &'static str),
    world: &World,
    executor: &dyn Executor,
) -> Answer {
    let shown = match trial.shown(&trial.case(world), executor) {
        Ok(shown) => shown,
        Err(failure) => return Answer { record: record.failed(&failure), evidence: trial.evidence(None) },
    };
    let weak = shown.cells.iter().filter(|(cell, _)| {
        **cell < trial.many.cells() && !base.contains(&trial.many.outcome(trial.program, **cell))
    });
    let weak: u64 = weak.map(|(_, count)| *count).sum();
    world.stress.note(environment, trial.program.placement, kind, weak > 0);
    let answer = trial.judged(record, &shown);
    // A weakened program may race, so that what it does is not held against the device.
    let record = match answer.record.status {
        Status::NewOutcome | Status::Miscounted => {
            Record { bucket: None, ..answer.record.with(Status::Passed, "") }
        }
        _ => answer.record,
    };
    Record { weak: Some(weak), allowed: u64::try_from(trial.allowed.len()).unwrap_or(u64::MAX), ..record }
        .into()
}

/// Says of an outcome that is not allowed what would allow it, and who is to blame.
fn blamed(
    mut answer: Answer,
    trial: &Trial<'_>,
    treatment: &Treatment,
    optimiser: &mut SpirvOpt,
    time: Duration,
) -> Answer {
    let wrong = |text: &str| answer.record.detail.starts_with(&format!("{text} was shown"));
    let explaining = explanations(trial, time, wrong).unwrap_or_default();
    let lost = explaining.first().map_or("unexplained", |name| name.split(':').next().unwrap_or(name));
    let optimised = match treatment {
        Treatment::Optimised(flags) => guilt(trial, flags, optimiser),
        Treatment::None | Treatment::Weakened | Treatment::Rewritten(_) => None,
    };
    // Sites are numbered; the same operation elsewhere is the same loss.
    let lost: String = lost.split('#').next().unwrap_or(lost).replace(' ', "-");
    let class = trial.program.name.clone();
    let shape = class.split('-').next().unwrap_or_default();
    answer.record.bucket = Some(Bucket(match &optimised {
        Some(guilt) => guilt.bucket(),
        None => format!("device/new-outcome/{lost}/{shape}"),
    }));
    let told = &mut answer.evidence.told;
    told.push(String::new());
    match explaining.is_empty() {
        true => told.push("No single weakening of the program allows what was shown.".to_owned()),
        false => {
            told.push("It would be allowed if the program were weakened in one of these ways:".to_owned());
            told.extend(explaining.iter().take(LISTED).map(|name| format!("- {name}")));
        }
    }
    told.extend(optimised.map(|guilt| guilt.told()));
    let report = sets::report(&trial.single.module, &trial.single.launch, Races::Undefined);
    if let Ok(found) = report {
        answer.evidence.add("outcomes.txt", report::outcomes::text(&found, false, crate::fuzz::PLAIN));
        answer.evidence.add("outcomes.json", report::json::outcomes(&found));
        answer.evidence.add("outcomes.html", report::html::outcomes(&found, &crate::fuzz::extent()));
    }
    answer
}

/// Weakenings of the program that allow an outcome of which `is_it` says that it was shown.
fn explanations(
    trial: &Trial<'_>,
    time: Duration,
    is_it: impl Fn(&str) -> bool,
) -> Result<Vec<String>, CliError> {
    let (mut names, begun) = (Vec::new(), Instant::now());
    for mutant in mutants(&trial.single.module.words)? {
        if begun.elapsed() >= time {
            break;
        }
        let allows = outcomes(trial, &mutant)?
            .is_some_and(|outcomes| outcomes.iter().any(|outcome| is_it(&trial.name(outcome))));
        if allows {
            names.push(mutant.name());
        }
    }
    Ok(names)
}

/// What the optimiser makes of the program with one instance, where that violates.
fn guilt(trial: &Trial<'_>, flags: &[String], optimiser: &mut SpirvOpt) -> Option<Guilt> {
    let before = &trial.single.module;
    let after = optimiser.optimise(&before.words, flags).ok()?.words;
    guilt::guilt(before, &after, flags, &trial.single.launch.options().ok()?, optimiser)
}
