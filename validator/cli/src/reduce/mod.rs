//! `spirv-tv reduce`: makes a failing case smaller while it shows the same failure; `spirv-tv interesting`: whether a case
//! shows it, for other reducers.

mod arguments;
mod bucket;
mod executed;
mod folder;
mod judge;
mod launch;
mod optimised;
mod pairs;
mod told;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spirv_tv::check::{CheckOptions, Watch};
use spirv_tv::launch::LaunchOptions;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::report::{text, Painter};
use spirv_tv_reducer::{self as reducer, Answer, Case, Counts, Limits, Observer, Oracle};
use spirv_tv_toolchain::{validate, TargetEnv, Validator};

use super::interrupt::stopper;
use super::progress::ProgressLine;
use super::{print, save, CliError, ComparisonArguments, TextOrJson};
use arguments::SubjectArguments;
pub use arguments::{InterestingArguments, ReduceArguments};
use bucket::{Bucket, Wanted};
use executed::Executed;
use folder::Folder;
use judge::{Comparer, Failure, Judge, LaunchText, Pair, Shown};
use launch::CaseLaunch;
use optimised::Optimised;
use told::{Size, Told};

/// What the command line asks about.
struct Subject {
    modules: Vec<Module>,
    options: CheckOptions,
    judge: Box<dyn Judge>,
    wanted: Option<Wanted>,
}

impl Subject {
    /// Reads the modules and starts what judges. `time` is that of one check; `jobs` run at once.
    fn of(arguments: &SubjectArguments, time: Option<Duration>, reads_whole: bool) -> Result<Self, CliError> {
        let SubjectArguments { before, after, comparison, optimiser, .. } = arguments;
        if before == "-" && after.as_deref() == Some("-") {
            return Err(CliError::usage("only one of BEFORE and AFTER can be standard input"));
        }
        let ComparisonArguments { pair, read, .. } = comparison;
        if pair.full || pair.save_failing.is_some() || read.emit_asm.is_some() {
            return Err(CliError::usage("--full, --save-failing and --emit-asm are options of check"));
        }
        comparison.choices.bounds.has_time()?;
        let flags = arguments.flags()?;
        let wanted = arguments.bucket.as_deref().map(Bucket::wanted).transpose().map_err(CliError::usage)?;
        let options = comparison.options()?;
        let read = comparison.read.options();
        let names = std::iter::once(before).chain(after);
        // A file that is not there comes before one that was not named.
        let modules = names.map(|name| Module::load(name, &read)).collect::<Result<Vec<_>, _>>()?;
        if flags.is_none() && !arguments.is_run() && after.is_none() {
            let what = "one module shows nothing by itself: give AFTER, --pipeline or --optimizer, or --executor or --device";
            return Err(CliError::usage(what));
        }
        let mut of_checks = options.clone();
        if reads_whole {
            // The time of the command is that of the reduction.
            of_checks.bounds.timeout = None;
            // Checks run side by side.
            of_checks.bounds.jobs = 1;
        }
        let comparer = Comparer { options: of_checks, read: strict(&read, &modules), made: read, time };
        let judge: Box<dyn Judge> = match flags {
            Some(flags) => {
                Box::new(Optimised::new(comparer, optimiser, flags, comparison.read.max_id_bound)?)
            }
            None if arguments.is_run() => Box::new(Executed::new(comparer, arguments)?),
            None => Box::new(Pair(comparer)),
        };
        Ok(Subject { modules, options, judge, wanted })
    }

    fn words(&self) -> Vec<Vec<u32>> {
        self.modules.iter().map(|module| module.words.clone()).collect()
    }

    /// The failure that the modules show as they were given.
    fn failure(&self) -> Result<Result<Box<Failure>, String>, CliError> {
        match self.judge.judge(&self.words(), &self.options.launch)? {
            Shown::Failure(failure) => match &self.wanted {
                Some(wanted) if !wanted.has(&failure.bucket) => {
                    Ok(Err(format!("it shows {}, which is not {wanted}", failure.bucket)))
                }
                Some(_) | None => Ok(Ok(failure)),
            },
            Shown::Nothing(why) => Ok(Err(format!("it shows no failure: {why}"))),
            Shown::Invalid(error) => Err(error),
        }
    }
}

/// Runs `interesting`: 0 where the case shows the failure, 1 where not.
pub(super) fn interesting(arguments: &InterestingArguments) -> Result<u8, CliError> {
    let found = Subject::of(&arguments.subject, None, false)?.failure()?;
    if !arguments.quiet {
        print(&match &found {
            Ok(failure) => format!("{}\n", failure.bucket),
            Err(why) => format!("{why}\n"),
        })?;
    }
    Ok(u8::from(found.is_err()))
}

/// Runs `reduce`.
pub(super) fn run(arguments: &ReduceArguments) -> Result<u8, CliError> {
    let watch = Arc::new(Watch::default());
    let progress = ProgressLine::start(&watch, arguments.color);
    watch.enter("looking for the failure");
    let subject = Subject::of(&arguments.subject, Some(arguments.step_timeout), true)?;
    let failure = subject.failure()?.map_err(CliError::Usage)?;
    let mut warnings = Vec::new();
    let launch = given_launch(&subject, &failure, &mut warnings);
    let oracle = Asked { subject: &subject, wanted: failure.bucket.itself(), trouble: Mutex::default() };
    let case = Case { modules: numbered(&subject.modules)?, launch };
    let names: &[&str] = match (subject.modules.len(), arguments.subject.is_run()) {
        (1, true) => &["module"],
        _ => &["before", "after"],
    };
    let about = about(&subject, arguments, &oracle.wanted, &case);
    let folder = Folder::open(&arguments.out, arguments.resume, about.as_bytes())
        .map_err(|error| CliError::of_option("--out", error))?;
    let mut log = Log { folder, names, watch: &watch, stop: stopper()?, trouble: None };
    let bounds = &subject.options.bounds;
    let limits = Limits {
        jobs: match bounds.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        },
        until: bounds.begun.zip(bounds.timeout).and_then(|(begun, time)| begun.checked_add(time)),
        checks: arguments.max_checks,
    };
    let first = sizes_of(&case.modules);
    let reduced = reducer::reduce(case, &oracle, limits, &mut log);
    if let Some(error) = oracle.trouble.into_inner().ok().flatten().or(log.trouble.take()) {
        return Err(error);
    }
    watch.enter("writing the result");
    let last = sizes_of(&reduced.case.modules);
    let end = subject.ended(&log.folder, names, &reduced.case, arguments)?;
    let sizes = names.iter().zip(first.into_iter().zip(last)).map(|(name, (first, last))| Size {
        name,
        instructions: [first.0, last.0],
        words: [first.1, last.1],
    });
    drop(progress);
    let told = Told {
        bucket: end.0,
        sizes: sizes.collect(),
        counts: reduced.counts,
        stopped: reduced.stopped,
        folder: log.folder.path().display().to_string(),
        command: end.1,
        warnings,
    };
    print(&match arguments.format {
        TextOrJson::Json => format!("{}\n", told.json()),
        TextOrJson::Text if arguments.quiet => format!("{}\n", told.line()),
        TextOrJson::Text => told.text(),
    })?;
    Ok(told.exit_code())
}

/// How smaller modules are read: as strictly as the modules permit, where the user does not say for which environment.
fn strict(read: &ReadOptions, modules: &[Module]) -> ReadOptions {
    let is_chosen = read.assemble_env.is_some() || read.lenient || read.validate_with != Validator::Own;
    let mut strict = read.clone();
    strict.validator.target_env = TargetEnv::Vulkan1_3;
    let is_valid = |module: &Module| validate(&module.words, &strict.validator).is_ok();
    match !is_chosen && modules.iter().all(is_valid) {
        true => strict,
        false => read.clone(),
    }
}

/// Instructions and words of modules.
fn sizes_of(modules: &[reducer::Module]) -> Vec<(usize, usize)> {
    modules.iter().map(|module| (module.len(), module.words().len())).collect()
}

/// The modules as the reducer takes them, with one number for what corresponds.
fn numbered(modules: &[Module]) -> Result<Vec<reducer::Module>, CliError> {
    let load = |module: &Module| {
        reducer::Module::load(&module.words)
            .map_err(|error| CliError::Usage(format!("{}: {error}", module.name)))
    };
    match modules {
        [before, after] => {
            let pairs = pairs::corresponding(before, after);
            let before = load(before)?;
            let after = load(after)?.numbered_as(&before, &pairs);
            Ok(vec![before, after])
        }
        others => others.iter().map(load).collect(),
    }
}

/// The launch on the input that shows the failure, all of which is given, if it does so by itself; else the user's own.
fn given_launch(subject: &Subject, failure: &Failure, warnings: &mut Vec<String>) -> CaseLaunch {
    let has_own_subgroups = subject.judge.has_own_subgroups();
    let own = || CaseLaunch { options: subject.options.launch.clone(), is_given: false, has_own_subgroups };
    let Some(launch) = &failure.launch else { return own() };
    let wanted = failure.bucket.itself();
    let shows = |options: &LaunchOptions| match subject.judge.judge(&subject.words(), options) {
        Ok(Shown::Failure(failure)) => wanted.has(&failure.bucket),
        Ok(Shown::Nothing(_) | Shown::Invalid(_)) | Err(_) => false,
    };
    match launch.options() {
        Ok(options) if shows(&options) => CaseLaunch { options, is_given: true, has_own_subgroups },
        Ok(_) | Err(_) => {
            warnings.push(
                "the input that shows it cannot be given by itself: the launch was not reduced".to_owned(),
            );
            own()
        }
    }
}

/// What the answers depend on.
fn about(subject: &Subject, arguments: &ReduceArguments, wanted: &Wanted, case: &Case<CaseLaunch>) -> String {
    let mut options = subject.options.clone();
    options.bounds.timeout = None;
    let read = &arguments.subject.comparison.read;
    let choices = save::command(&options, &[], false, read);
    let SubjectArguments { pipeline, optimiser, executor, device, times, run_timeout, .. } =
        &arguments.subject;
    let by = format!("{pipeline:?} {optimiser:?} {executor:?} {device:?} {times} {run_timeout:?}");
    let time = arguments.step_timeout;
    let words: Vec<Vec<u32>> = case.modules.iter().map(reducer::Module::words).collect();
    format!("{wanted} {choices} {by} {time:?} {:?} {words:?}", case.launch.options)
}

/// The judge as the reducer asks it.
struct Asked<'a> {
    subject: &'a Subject,
    wanted: Wanted,
    /// What went wrong beside the cases: it ends the reduction.
    trouble: Mutex<Option<CliError>>,
}

impl Oracle<CaseLaunch> for Asked<'_> {
    fn answer(&self, case: &Case<CaseLaunch>) -> Answer {
        let words: Vec<Vec<u32>> = case.modules.iter().map(reducer::Module::words).collect();
        match self.subject.judge.judge(&words, &case.launch.options) {
            Ok(Shown::Failure(failure)) if self.wanted.has(&failure.bucket) => Answer::Interesting,
            Ok(Shown::Failure(_) | Shown::Nothing(_)) => Answer::Uninteresting,
            Ok(Shown::Invalid(_)) => Answer::Invalid,
            // A bug of spirv-tv on a smaller case is no reason to lose what there is.
            Err(error) if error.bug().is_some() => Answer::Uninteresting,
            Err(error) => {
                if let Ok(mut trouble) = self.trouble.lock() {
                    trouble.get_or_insert(error);
                }
                Answer::Uninteresting
            }
        }
    }
}

/// Keeps everything in the folder, and says how it goes.
struct Log<'a> {
    folder: Folder,
    names: &'a [&'a str],
    watch: &'a Watch,
    stop: Arc<AtomicBool>,
    /// What cannot be written.
    trouble: Option<CliError>,
}

impl Observer<CaseLaunch> for Log<'_> {
    fn known(&mut self, hash: u128) -> Option<Answer> {
        self.folder.known(hash)
    }

    fn answered(&mut self, hash: u128, answer: Answer) {
        if let Err(error) = self.folder.keep(hash, answer) {
            let path = self.folder.path().to_owned();
            self.trouble.get_or_insert(CliError::File { path, error });
        }
    }

    fn accepted(&mut self, case: &Case<CaseLaunch>, counts: &Counts) {
        let instructions: Vec<String> = case.instructions().iter().map(usize::to_string).collect();
        self.watch.title(format!("{} instructions, {} checks", instructions.join(" and "), counts.checks));
        let words: Vec<Vec<u32>> = case.modules.iter().map(reducer::Module::words).collect();
        if let Err(error) = self.folder.keep_modules(self.names, &words) {
            self.trouble.get_or_insert(error);
        }
    }

    fn tries(&mut self, what: &str, _: &Counts) {
        self.watch.enter(what);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || self.trouble.is_some()
    }
}

impl Subject {
    /// Writes the smallest case with everything that shows it; its bucket, and the command that does.
    fn ended(
        &self,
        folder: &Folder,
        names: &[&str],
        case: &Case<CaseLaunch>,
        arguments: &ReduceArguments,
    ) -> Result<(Bucket, String), CliError> {
        let words: Vec<Vec<u32>> = case.modules.iter().map(reducer::Module::words).collect();
        let failure = match self.judge.judge(&words, &case.launch.options)? {
            Shown::Failure(failure) => failure,
            Shown::Nothing(why) => {
                return Err(CliError::Usage(format!("the smallest case does not show it each time: {why}")))
            }
            Shown::Invalid(error) => return Err(error),
        };
        for (name, module) in names.iter().zip(&failure.modules) {
            let binary = spirv_tv::optimise::to_bytes(&module.words);
            folder.write(&format!("{name}.spv"), &binary)?;
            folder.write(&format!("{name}.spvasm"), module.text.as_str().as_bytes())?;
        }
        if let Some(LaunchText { text, files }) = &failure.launch {
            folder.write("launch.toml", text.as_bytes())?;
            for (name, bytes) in files {
                folder.write(name, bytes)?;
            }
        }
        if let Some(report) = &failure.report {
            folder.write("report.txt", text::check(report, Painter { coloured: false }).as_bytes())?;
        }
        let command = self.command(&failure, names, arguments);
        folder.write("command.txt", format!("{command}\n").as_bytes())?;
        Ok((failure.bucket, command))
    }

    /// What shows the failure again in the folder.
    fn command(&self, failure: &Failure, names: &[&str], arguments: &ReduceArguments) -> String {
        let read = &arguments.subject.comparison.read;
        let mut options = self.options.clone();
        options.bounds.timeout = None;
        let files: Vec<String> = names.iter().map(|name| format!("{name}.spvasm")).collect();
        let given = files.get(..self.modules.len()).unwrap_or_default();
        let check = save::command(&options, given, failure.launch.is_some(), read);
        let check = check.trim_end();
        let SubjectArguments { pipeline, optimiser, executor, device, times, run_timeout, .. } =
            &arguments.subject;
        if self.modules.len() == 2 {
            return check.to_owned();
        }
        let quoted = |text: &str| super::html::quoted(text);
        let mut words = vec![check.replacen("check", "interesting", 1)];
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("--{name}={}", quoted(&value))));
        };
        option("pipeline", pipeline.clone());
        option("optimizer", optimiser.optimizer.as_ref().map(ToString::to_string));
        option("spirv-opt", optimiser.spirv_opt.as_ref().map(|path| path.display().to_string()));
        option("executor", executor.clone());
        option("device", device.clone());
        if arguments.subject.is_run() {
            option("times", Some(times.to_string()));
            option("run-timeout", Some(run_timeout.as_secs_f64().to_string()));
        }
        option("bucket", Some(failure.bucket.to_string()));
        words.join(" ")
    }
}
