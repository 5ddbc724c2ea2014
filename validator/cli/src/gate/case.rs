//! One case: its modules are made and compared, and a record says what became of it.

use std::sync::Arc;
use std::time::Instant;

use spirv_tv::check::{check, settle, CheckError, CheckOptions, CheckReport, Run, Watch};
use spirv_tv::compare::{Cut, Verdict};
use spirv_tv::lower::LowerError;
use spirv_tv::module::Module;
use spirv_tv::report::{self, brief, text, Painter};
use spirv_tv_gate::cache::Entry;
use spirv_tv_gate::cases::{Case, Source};
use spirv_tv_gate::{Bucket, Class, Record, Status};

use super::arguments::GateArguments;
use super::cached::{self, Answers, Key};
use super::executed::{self, Runner};
use super::guilty;
use super::make::{Made, Maker, NotMade};
use super::options::CaseOptions;
use crate::memory::MemoryLimit;
use crate::{asm, caught, html, save, CliError};

/// The folder of what fails, in that of the results.
const FAILURES: &str = "failures";

/// Answers cases.
pub(super) struct Answerer<'a> {
    arguments: &'a GateArguments,
    maker: Maker<'a>,
    options: CaseOptions,
    answers: Option<Answers>,
    /// What runs the modules, where they are not compared.
    runner: Option<Runner>,
}

impl<'a> Answerer<'a> {
    pub(super) fn new(arguments: &'a GateArguments, options: CaseOptions) -> Result<Self, CliError> {
        Ok(Answerer {
            arguments,
            maker: Maker::new(arguments)?,
            options,
            answers: Answers::of(arguments)?,
            runner: Runner::of(&arguments.executor)?,
        })
    }

    /// The record of a case.
    pub(super) fn answer(&mut self, case: &Case) -> Record {
        let record = match caught(|| self.checked(case)) {
            Ok(Ok(record)) => record,
            Ok(Err(failed)) => self.not_made(case, failed),
            Err(bug) => Record::new(&case.name, Status::ToolBug, CliError::from(bug).to_string()),
        };
        let file = case.source.file();
        Record { file: Some(file.to_string_lossy().into_owned()), ..record }
    }

    fn checked(&mut self, case: &Case) -> Result<Record, NotMade> {
        let options = self.options.of(case).map_err(refused)?;
        if self.runner.is_some() {
            return self.executed(case, options);
        }
        let answers = self.answers.as_ref();
        let files = answers.and_then(|answers| answers.key_of_files(case, &options));
        let known = |key: &Option<Key>| answers.zip(key.as_ref()).and_then(|(answers, key)| answers.get(key));
        let of_files = known(&files);
        if let Some(entry) = of_files.as_ref().filter(|entry| is_complete(entry)) {
            return Ok(cached::record(case, entry.clone()));
        }
        let made = match self.maker.make(case) {
            Ok(made) => made,
            Err(failed) => {
                let record = self.not_made(case, failed);
                return Ok(self.as_the_reference(case, &options, record));
            }
        };
        let options = CheckOptions { launch: options.launch.clone().over(made.launch.clone()), ..options };
        if made.before.words == made.after.words {
            has_what_is_named(&made.before, &options)?;
            return Ok(Record {
                proved: true,
                optimizer_seconds: made.optimizer_seconds,
                modules: cached::modules(&made.before.words, &made.after.words),
                ..Record::new(&case.name, Status::Pass, "the same words")
            });
        }
        let answers = self.answers.as_ref();
        let key = answers.and_then(|answers| answers.key(&made, &options));
        let of_modules = answers.zip(key.as_ref()).and_then(|(answers, key)| answers.get(key));
        let of_modules = of_modules.map(|entry| cached::told(entry, &made));
        let record = match of_modules.or(of_files) {
            Some(entry) if is_complete(&entry) => {
                // The next time these files need not be read.
                let kept = answers.zip(files.as_ref()).map(|(answers, files)| answers.put(files, &entry));
                Record {
                    optimizer_seconds: made.optimizer_seconds,
                    trouble: kept.and_then(Result::err).map(|error| error.to_string()),
                    ..cached::record(case, entry)
                }
            }
            entry => {
                let keys: Vec<Key> = key.into_iter().chain(files).collect();
                match entry.and_then(|entry| self.told_anew(case, &made, &entry, &options)) {
                    Some(record) => record,
                    None => self.record(case, &made, &options, &keys, None)?,
                }
            }
        };
        Ok(self.as_the_reference(case, &options, record))
    }

    /// The record of a case whose module after is run.
    fn executed(&mut self, case: &Case, options: CheckOptions) -> Result<Record, NotMade> {
        let made = self.maker.make(case)?;
        let Some(runner) = &self.runner else {
            return Err(NotMade::new(Status::ToolBug, "there is no executor"));
        };
        let options = CheckOptions { launch: options.launch.clone().over(made.launch.clone()), ..options };
        let options = runner.options(options);
        let Made { before, after, .. } = &made;
        if let Some(why) = runner.is_new(before, after, &options) {
            return Err(executed::not_run(why));
        }
        let key = self.answers.as_ref().and_then(|answers| answers.key_of_set(before, &options));
        let known = self.answers.as_ref().zip(key.as_ref()).and_then(|(answers, key)| answers.set(key));
        let ran = runner.run(before, after, &options, known.as_deref()).map_err(refused)?;
        let mut record = Record {
            optimizer_seconds: made.optimizer_seconds,
            modules: cached::modules(&before.words, &after.words),
            ..executed::record(&case.name, &ran)
        };
        if known.is_none() {
            let kept = self.answers.as_ref().zip(key.as_ref()).zip(ran.held.set.as_ref());
            let kept = kept.map(|((answers, key), set)| answers.keep_set(key, set));
            record.trouble = kept.and_then(Result::err).map(|error| error.to_string());
        }
        if let Some(what) = &ran.what {
            // Where the optimiser is to blame it is not the executor.
            let is_optimisers = record.status == Status::Fail
                && before.words != after.words
                && compare(before, after, &options)?.verdict == Verdict::Violates;
            record.bucket = Some(match is_optimisers {
                true => {
                    record.pass = guilty::pass(case, &made, &options, &mut self.maker);
                    self.bucket(case, record.pass.as_deref(), what)
                }
                false => Bucket(format!("executor/{what}")),
            });
            let own = format!("{FAILURES}/{}", folder_name(&case.name));
            let given = self.arguments.comparison.pair.save_failing.as_ref();
            let folder = given.map_or_else(
                || self.arguments.results.out.join(&own),
                |folder| folder.join(folder_name(&case.name)),
            );
            let read = &self.arguments.comparison.read;
            ran.save(&folder, [&made.before, &made.after], &self.arguments.executor, &options, read)
                .map_err(|error| {
                    NotMade::new(Status::ToolBug, format!("what fails cannot be kept: {error}"))
                })?;
            record.saved = given.is_none().then_some(own);
        }
        Ok(record)
    }

    /// A failure that is kept, with this case's lines and names; `None` where it does not show any more, so that the
    /// entry is wrong.
    fn told_anew(
        &mut self,
        case: &Case,
        made: &Made,
        entry: &Entry,
        options: &CheckOptions,
    ) -> Option<Record> {
        let own = cached::options_of(entry, options)?;
        let input = entry.launch.as_ref().map(|launch| launch.input.as_str());
        let record = self.record(case, made, &own, &[], input).ok()?;
        (record.status == Status::Fail).then(|| Record {
            cached: true,
            detail: entry.detail.clone(),
            inputs: u64::try_from(entry.inputs.len()).unwrap_or(u64::MAX),
            ..record
        })
    }

    fn not_made(&mut self, case: &Case, failed: NotMade) -> Record {
        let NotMade { status, detail, signature, is_misfit } = failed;
        // What the command line asks of all modules some may lack.
        let is_own = case.launch.is_some() || !case.options.is_empty();
        let pass = match status {
            Status::OptimizerCrash | Status::InvalidAfter => guilty::failing(case, &mut self.maker),
            _ => None,
        };
        let what: Vec<&str> = std::iter::once(status.name()).chain(signature.as_deref()).collect();
        let bucket =
            (status.class() == Class::Bad).then(|| self.bucket(case, pass.as_deref(), &what.join("/")));
        Record { bucket, pass, misfit: is_misfit && is_own, ..Record::new(&case.name, status, detail) }
    }

    /// The record of a comparison, which is kept with the keys. `input` is what the input is called that the options give,
    /// where it was made automatically once.
    fn record(
        &mut self,
        case: &Case,
        made: &Made,
        options: &CheckOptions,
        keys: &[Key],
        input: Option<&str>,
    ) -> Result<Record, NotMade> {
        let mut report = compare(&made.before, &made.after, options)?;
        let violates = |run: &&mut Run| run.comparison.verdict == Verdict::Violates;
        if let Some((run, name)) = report.runs.iter_mut().find(violates).zip(input) {
            name.clone_into(&mut run.input.name);
        }
        let (status, detail) = status_of(&report, options);
        let mut record = Record {
            proved: report.same_program,
            inputs: u64::try_from(report.tried().inputs).unwrap_or(u64::MAX),
            optimizer_seconds: made.optimizer_seconds,
            modules: cached::modules(&made.before.words, &made.after.words),
            ..Record::new(&case.name, status, detail)
        };
        if status == Status::Fail {
            record.pass = guilty::pass(case, made, options, &mut self.maker);
            let found = report::bucket(&report);
            let name = found.as_ref().map_or_else(|| report_reasons(&report), |found| found.name.clone());
            record.bucket = Some(self.bucket(case, record.pass.as_deref(), &name));
            // Lines are those of after; for a module that was optimised, of before where that has the line.
            record.line = found.and_then(|found| found.line);
            record.is_text = matches!(case.source, Source::Pair { .. }) && made.after.from_text;
            record.report = Some(text::check(&report, Painter { coloured: false }));
            record.saved = self.save(case, made, &report, options).map_err(|error| {
                NotMade::new(Status::ToolBug, format!("what fails cannot be kept: {error}"))
            })?;
        }
        if let Some(answers) = &self.answers {
            // The answer is known all the same.
            record.trouble = answers.keep(keys, &record, &report, made).err().map(|error| error.to_string());
        }
        Ok(record)
    }

    /// The bucket of a failure: the pass, or what stands for it, and then what failed.
    fn bucket(&self, case: &Case, pass: Option<&str>, what: &str) -> Bucket {
        let by = match (&case.source, pass) {
            (_, Some(pass)) => pass.to_owned(),
            (Source::Pair { .. }, None) => "pair".to_owned(),
            (Source::Compiled(_), None) => "compiler".to_owned(),
            (Source::Module(_) | Source::Fossil { .. }, None) if case.pipeline.is_empty() => {
                "optimizer".to_owned()
            }
            (Source::Module(_) | Source::Fossil { .. }, None) => case.pipeline.join(" "),
        };
        Bucket(format!("{by}/{what}"))
    }

    /// Whether the reference fails in the same way.
    fn as_the_reference(&mut self, case: &Case, options: &CheckOptions, mut record: Record) -> Record {
        let Some(reference) = &self.arguments.compilers.reference else { return record };
        let is_optimised = matches!(case.source, Source::Module(_) | Source::Fossil { .. });
        if !is_optimised || record.status.class() != Class::Bad {
            return record;
        }
        let (status, what) = match self.maker.make_with(case, reference) {
            Ok(made) => match compare(&made.before, &made.after, options) {
                Ok(report) => {
                    (status_of(&report, options).0, report::bucket(&report).map(|found| found.name))
                }
                Err(failed) => (failed.status, failed.signature),
            },
            Err(failed) => (failed.status, failed.signature),
        };
        let is_same = |bucket: &Bucket| what.as_ref().is_some_and(|what| bucket.0.ends_with(what.as_str()));
        // Where nothing tells two failures apart, they count as the same, unless they violate.
        let same = record.bucket.as_ref().is_some_and(is_same) || (what.is_none() && status != Status::Fail);
        if status == record.status && same {
            record.is_in_reference = true;
            record.detail = format!("the reference does the same: {}", record.detail);
        }
        record
    }

    /// Keeps what fails; the folder, in that of the results.
    fn save(
        &self,
        case: &Case,
        made: &Made,
        report: &CheckReport,
        options: &CheckOptions,
    ) -> Result<Option<String>, CliError> {
        let own = format!("{FAILURES}/{}", folder_name(&case.name));
        let root = match &self.arguments.comparison.pair.save_failing {
            Some(folder) => folder.join(folder_name(&case.name)),
            None => self.arguments.results.out.join(&own),
        };
        let Made { before, after, .. } = made;
        let read = &self.arguments.comparison.read;
        let origin = [case.name.as_str(), &case.pipeline.join(" ")];
        save::into(&root, Some(origin), before, after, report, options, read)?;
        if let Some(folder) = &read.emit_asm {
            let folder = folder.join(folder_name(&case.name));
            for (name, module) in [("before", before), ("after", after)] {
                asm::emit(&folder, name, &module.text)?;
            }
        }
        if self.arguments.reports.html.is_some() {
            let names = ["before", "after"].map(|name| format!("{name}.spv"));
            let alone = save::alone(names, report, options, read);
            let extent =
                html::extent(alone, &options.bounds, Instant::now(), self.arguments.comparison.pair.full);
            html::write(&root.join("report.html"), &report::html::check(report, &extent))?;
        }
        Ok(self.arguments.comparison.pair.save_failing.is_none().then_some(own))
    }
}

/// Whether an entry is all that there is to say.
fn is_complete(entry: &Entry) -> bool {
    entry.status != Status::Fail
}

/// A name for a folder of a case: what there is of letters, and what tells it from others.
pub(super) fn folder_name(case: &str) -> String {
    let plain: String =
        case.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let hash = spirv_tv_gate::hash(case.as_bytes());
    let end = plain.len().saturating_sub(48);
    format!(
        "{}-{}",
        plain.get(end..).unwrap_or_default().trim_matches('-'),
        hash.get(..12).unwrap_or_default()
    )
}

fn compare(before: &Module, after: &Module, options: &CheckOptions) -> Result<CheckReport, NotMade> {
    let watch = Arc::new(Watch::default());
    let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
    check(before, after, options, &watch).map_err(|error| refused(error.into()))
}

/// Looks for what the options name, where nothing is compared.
fn has_what_is_named(module: &Module, options: &CheckOptions) -> Result<(), NotMade> {
    match settle(module, options) {
        // Of a library nothing could be compared, and nothing has to be.
        Ok(_) | Err(CheckError::Lower { error: LowerError::NoEntryPoint, .. }) => Ok(()),
        Err(error) => Err(refused(error.into())),
    }
}

/// The status of options or modules that make no check.
fn refused(error: CliError) -> NotMade {
    let status = match error {
        CliError::Bug(_) => Status::ToolBug,
        CliError::Read(_)
        | CliError::Check(_)
        | CliError::Launch(_)
        | CliError::Usage(_)
        | CliError::File { .. }
        | CliError::Output(_)
        | CliError::Gate(_)
        | CliError::Optimiser(_) => Status::InvalidBefore,
    };
    let is_misfit = matches!(
        &error,
        CliError::Launch(_)
            | CliError::Check(
                CheckError::Launch(_)
                    | CheckError::Lower {
                        error: LowerError::UnknownEntryPoint { .. } | LowerError::Specialisation { .. },
                        ..
                    }
            )
    );
    NotMade { is_misfit, ..NotMade::new(status, error) }
}

/// The status of a verdict, and why it is that.
pub(super) fn status_of(report: &CheckReport, options: &CheckOptions) -> (Status, String) {
    let is_out_of_time = options.bounds.left() == Some(std::time::Duration::ZERO);
    let cuts_time =
        report.tried().cuts.iter().any(|cut| matches!(cut, Cut::Stopped(_)) && cut.of_what() == "time");
    let status = match report.verdict {
        Verdict::Error => Status::InvalidBefore,
        Verdict::Violates => Status::Fail,
        Verdict::Vacuous => Status::Vacuous,
        Verdict::Inconclusive if !report.unsupported.is_empty() => Status::Unsupported,
        Verdict::Inconclusive if is_out_of_time || cuts_time => Status::Timeout,
        Verdict::Inconclusive => Status::Inconclusive,
        Verdict::Refines if report.same_program => Status::Pass,
        Verdict::Refines if report.exercised.is_hollow() => Status::Hollow,
        // Bounded, or compared in part: scopes that the launch does not tell apart, frozen specialisation constants.
        Verdict::Refines if report.exit_code(true) != 0 => Status::Bounded,
        Verdict::Refines => Status::Pass,
    };
    let mut parts = vec![brief::gist(report)];
    parts.extend(brief::qualifiers(report));
    (status, parts.join("; "))
}

/// What a violation without a run is about.
fn report_reasons(report: &CheckReport) -> String {
    report.reasons.iter().map(|reason| reason.name()).collect::<Vec<_>>().join("-")
}
