//! Generated programs and modules of the user: each must end in what is computed here.

use std::path::Path;
use std::time::Duration;

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{self, CheckOptions};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::to_bytes;
use spirv_tv::report;
use spirv_tv_executor::Executor;
use spirv_tv_gate::Bucket;
use spirv_tv_mutators::generate::{self, GENERATORS};

use super::answer::{Answer, Evidence};
use super::arguments::Kind;
use super::guilt;
use super::mistakes::Search;
use super::plan::{Planned, Treatment};
use super::record::{Record, Status};
use super::refused;
use super::sets::{self, Launch};
use super::treatment::{self, SpirvOpt};
use super::world::World;
use crate::run::{hold, Held, Question, RunVerdict};
use crate::CliError;

/// Bytes of a launch that is told beside a finding.
const LONGEST_LAUNCH: usize = 600;

/// How often each is run: a device may be wrong at times.
const TIMES: u32 = 4;

/// A program that is run.
struct Subject {
    name: String,
    /// What buckets call its kind.
    family: String,
    module: Module,
    launch: Launch,
}

/// Runs a case.
///
/// # Errors
/// A module of the user cannot be read or launched, or a generated one is invalid.
pub(super) fn run(
    planned: Planned,
    world: &World,
    executor: &dyn Executor,
    optimiser: &mut SpirvOpt,
) -> Result<Answer, CliError> {
    let Planned { name, kind, treatment, mut random, .. } = planned;
    let subject = match kind {
        Kind::Modules => of_user(world, &mut random)?,
        Kind::Generated | Kind::Concurrent => generated(&mut random)?,
    };
    let mut record = Record::new(name, subject.name.clone(), treatment.name());
    let words = &subject.module.words;
    let treated = match &treatment {
        Treatment::None | Treatment::Weakened => words.clone(),
        Treatment::Rewritten(times) => match treatment::rewrite(words, *times, &mut random) {
            Ok(treated) => {
                record.treatment = treated.how;
                treated.words
            }
            Err((status, why)) => return Ok(record.with(status, why).into()),
        },
        Treatment::Optimised(flags) => match optimiser.optimise(words, flags) {
            Ok(treated) => {
                record.treatment = treated.how;
                treated.words
            }
            Err(why) => return Ok(record.with(Status::NotOptimised, why).into()),
        },
    };
    let mut options = subject.launch.options()?;
    // Subgroups are as large as the device's.
    options.launch.subgroup_size = options.launch.subgroup_size.or(world.subgroup());
    let question = Question {
        module: &subject.module,
        words: &treated,
        options: &options,
        executor,
        description: &world.executor,
        times: TIMES,
        time: world.time,
        allowed: None,
    };
    let held = hold(&question)?;
    let record = Record { instances: held.times, allowed: held.allowed, shown: held.shown, ..record };
    let evidence = evidence(&subject, &treated, &held);
    Ok(match held.verdict {
        RunVerdict::Refines => record.into(),
        RunVerdict::Inconclusive if held.disagrees => {
            let bucket = Bucket(format!("device/disagrees/{}", subject.family));
            let record = Record { bucket: Some(bucket), ..record };
            let detail = format!("the module itself always ends otherwise; {}", held.line);
            Answer { record: record.with(Status::Disagrees, detail), evidence }
        }
        RunVerdict::Vacuous | RunVerdict::Inconclusive => match held.failure {
            Some(failure) => record.failed(&failure).into(),
            None => record.with(Status::NotJudged, held.line).into(),
        },
        RunVerdict::ExecutorFailed => match &held.failure {
            Some(failure) => {
                let about = refused::about(&question, &held, world.to_explain);
                let record = record.failed(failure);
                let bucket = record.bucket.clone().map(|Bucket(bucket)| Bucket(bucket + &about.in_bucket()));
                let mut evidence = evidence;
                evidence.told.extend(about.told());
                Answer { record: Record { bucket, ..record }, evidence }
            }
            None => Answer { record: record.with(Status::Failed, held.line), evidence },
        },
        RunVerdict::Violates => {
            let detail = held.line.trim_start_matches("new-outcome, ");
            let detail = detail.replacen(&format!("{} ", world.executor.name), "", 1);
            let answer = Answer { record: record.with(Status::NewOutcome, detail), evidence };
            let blame = Blame {
                subject: &subject,
                treated: &treated,
                treatment: &treatment,
                options: &options,
                time: world.to_explain,
            };
            blame.told(answer, held.wrong.as_ref(), optimiser)
        }
    })
}

fn generated(random: &mut fastrand::Rng) -> Result<Subject, CliError> {
    let generator = GENERATORS[random.usize(0..GENERATORS.len())];
    let seed = random.u64(..);
    let program = generator.generate(seed);
    let module = Module::from_words(program.words.clone(), generator.name(), &sets::reading())?;
    let name = format!("{}-{seed}", generator.name());
    Ok(Subject { name, family: generator.name().to_owned(), module, launch: launch(&program) })
}

/// The launch of a generated program, as a command line has it.
fn launch(program: &generate::Program) -> Launch {
    let words = |bytes: &[u8]| {
        let numbers = bytes.chunks(4).map(|word| {
            word.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte)).to_string()
        });
        format!("words:{}", numbers.collect::<Vec<_>>().join(","))
    };
    let [x, y, z] = program.workgroups;
    let mut options = vec![format!("--workgroups={x},{y},{z}")];
    options.extend(program.subgroup_size.map(|size| format!("--subgroup-size={size}")));
    options.extend(program.buffers.iter().map(|buffer| {
        let generate::Buffer { set, binding, bytes } = buffer;
        format!("--buffer={set}.{binding}={}", words(bytes))
    }));
    if !program.push_constants.is_empty() {
        options.push(format!("--push={}", words(&program.push_constants)));
    }
    options.extend(program.specialisation.iter().map(|(id, value)| format!("--spec={id}={value}")));
    Launch(options)
}

fn of_user(world: &World, random: &mut fastrand::Rng) -> Result<Subject, CliError> {
    let path = world.modules.get(random.usize(0..world.modules.len().max(1)));
    let path = path.ok_or_else(|| CliError::usage("there are no modules"))?;
    let module = Module::load(path, &ReadOptions::default())?;
    let file = Path::new(path).with_extension("toml");
    let launch = match file.exists() {
        true => Launch(vec![format!("--launch={}", file.display())]),
        false => Launch::default(),
    };
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Subject { name: path.clone(), family: stem, module, launch })
}

fn evidence(subject: &Subject, treated: &[u32], held: &Held) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.add("module.spv", to_bytes(treated));
    if *treated != subject.module.words[..] {
        evidence.add("original.spv", to_bytes(&subject.module.words));
    }
    evidence.add("launch.txt", subject.launch.line() + "\n");
    evidence.add("run.txt", held.text.clone());
    evidence.told.push("```text".to_owned());
    evidence.told.extend(held.text.lines().take(40).map(str::to_owned));
    evidence.told.push("```".to_owned());
    let launch = subject.launch.line();
    evidence.told.push(match launch.len() <= LONGEST_LAUNCH {
        true => format!("\nThe launch, as options of `spirv-tv run` and `outcomes`: `{launch}`"),
        false => "\n`launch.txt` has the launch, as options of `spirv-tv run` and `outcomes`.".to_owned(),
    });
    evidence
}

/// Who is to blame for an outcome that is not allowed, and for what.
struct Blame<'a> {
    subject: &'a Subject,
    treated: &'a [u32],
    treatment: &'a Treatment,
    options: &'a CheckOptions,
    /// How long a mistake is looked for that explains the outcome.
    time: Duration,
}

impl Blame<'_> {
    fn told(&self, mut answer: Answer, wrong: Option<&Outcome>, optimiser: &mut SpirvOpt) -> Answer {
        let module = &self.subject.module;
        let guilt = match self.treatment {
            Treatment::Optimised(flags) => guilt::guilt(module, self.treated, flags, self.options, optimiser),
            Treatment::None | Treatment::Weakened | Treatment::Rewritten(_) => None,
        };
        let told = &mut answer.evidence.told;
        let bucket = match guilt {
            Some(guilt) => {
                told.push(guilt.told());
                guilt.bucket()
            }
            None => {
                let search = Search { words: self.treated, options: self.options, time: self.time };
                let found = wrong.map(|wrong| search.mistakes(wrong)).unwrap_or_default();
                told.extend(found.told());
                let family = &self.subject.family;
                // The same mistake in another program is the same.
                let what = found.what.unwrap_or_else(|| format!("unexplained/{family}"));
                format!("device/new-outcome/{what}")
            }
        };
        answer.record.bucket = Some(Bucket(bucket));
        if let Ok(found) = check::outcomes(module, self.options, &check::Watch::default()) {
            answer.evidence.add("outcomes.json", report::json::outcomes(&found));
            answer.evidence.add("outcomes.html", report::html::outcomes(&found, &super::extent()));
        }
        answer
    }
}
