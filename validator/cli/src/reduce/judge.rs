//! What is asked of a case: which failure does it show?

use std::sync::Arc;
use std::time::{Duration, Instant};

use spirv_tv::check::{check, CheckOptions, CheckReport, Choices, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::launch::{file, Input, LaunchOptions};
use spirv_tv::module::{Module, ReadError, ReadOptions};
use spirv_tv::report;

use super::bucket::Bucket;
use crate::memory::MemoryLimit;
use crate::{caught, save, CliError};

/// What a case shows.
pub(super) enum Shown {
    /// A failure.
    Failure(Box<Failure>),
    /// None, and why not.
    Nothing(String),
    /// A module of the case is not valid.
    Invalid(CliError),
}

/// A failure, with what is needed to show it again.
pub(super) struct Failure {
    pub(super) bucket: Bucket,
    /// The modules, before first; after is missing where the optimiser made none.
    pub(super) modules: Vec<Module>,
    /// The comparison, where there was one.
    pub(super) report: Option<CheckReport>,
    /// The launch on the input that shows it, as a launch file with the files that it names; `None` where nothing was launched.
    pub(super) launch: Option<LaunchText>,
}

/// A launch file, and the files that it names.
pub(super) struct LaunchText {
    pub(super) text: String,
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// Says what a case shows. It is asked from several threads.
pub(super) trait Judge: Sync {
    /// What modules with these words show on this launch.
    ///
    /// # Errors
    /// What has nothing to do with the case: a program that cannot be started, a bug of spirv-tv.
    fn judge(&self, modules: &[Vec<u32>], launch: &LaunchOptions) -> Result<Shown, CliError>;

    /// Whether the subgroups of the launch are those of a device.
    fn has_own_subgroups(&self) -> bool {
        false
    }
}

impl LaunchText {
    /// The launch of an input.
    pub(super) fn of(choices: &Choices, launch: usize, input: &Input) -> Self {
        let (text, files) = save::launch_of(choices, launch, input);
        LaunchText { text, files }
    }

    /// The options that it is read as, with the contents of the files.
    ///
    /// # Errors
    /// It cannot be written for a moment, or not be read.
    pub(super) fn options(&self) -> Result<LaunchOptions, CliError> {
        let folder = tempfile::tempdir().map_err(CliError::Output)?;
        let path = folder.path().join("launch.toml");
        let fail = |path: &std::path::Path| {
            let path = path.to_owned();
            move |error| CliError::File { path, error }
        };
        std::fs::write(&path, &self.text).map_err(fail(&path))?;
        for (name, bytes) in &self.files {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).map_err(fail(&path))?;
        }
        Ok(file::read(&path)?.contents_read()?)
    }
}

/// How pairs are compared.
pub(super) struct Comparer {
    pub(super) options: CheckOptions,
    /// How the modules of a case are read: they stay valid for Vulkan, where they are.
    pub(super) read: ReadOptions,
    /// How modules are read that an optimiser made.
    pub(super) made: ReadOptions,
    /// Time for each comparison.
    pub(super) time: Option<Duration>,
}

impl Comparer {
    /// A module of the case.
    pub(super) fn read(&self, words: &[u32], name: &str) -> Result<Module, ReadError> {
        Module::from_words(words.to_vec(), name, &self.read)
    }

    /// The options of one comparison, whose time begins now.
    pub(super) fn options(&self, launch: &LaunchOptions) -> CheckOptions {
        let mut options = CheckOptions { launch: launch.clone(), ..self.options.clone() };
        options.bounds.begun = Some(Instant::now());
        options.bounds.timeout = [options.bounds.timeout, self.time].into_iter().flatten().min();
        options
    }

    /// What a comparison of two modules shows; `by` is what made the second one.
    pub(super) fn compare(
        &self,
        before: Module,
        after: Module,
        launch: &LaunchOptions,
        by: &str,
    ) -> Result<Shown, CliError> {
        let options = self.options(launch);
        let report = caught(|| {
            let watch = Arc::new(Watch::default());
            let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
            check(&before, &after, &options, &watch)
        })?;
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                let error = CliError::from(error);
                return match error.bug() {
                    Some(_) => Err(error),
                    // The launch names what the modules do not have any more.
                    None => Ok(Shown::Nothing(error.to_string())),
                };
            }
        };
        if report.verdict != Verdict::Violates {
            let why = format!("{}: {}", report.verdict, report::brief::gist(&report));
            return Ok(Shown::Nothing(why));
        }
        let what = match report::bucket(&report) {
            Some(bucket) => bucket.name,
            // A SpecId is missing: no run violates.
            None => "frozen".to_owned(),
        };
        let launch = report.decisive().map(|run| LaunchText::of(&report.choices, run.launch, &run.input));
        Ok(Shown::Failure(Box::new(Failure {
            bucket: Bucket::new(by, what),
            modules: vec![before, after],
            report: Some(report),
            launch,
        })))
    }
}

/// A pair, both of whose modules are given.
pub(super) struct Pair(pub(super) Comparer);

impl Judge for Pair {
    fn judge(&self, modules: &[Vec<u32>], launch: &LaunchOptions) -> Result<Shown, CliError> {
        let [before, after] = modules else { return Ok(Shown::Nothing("no pair".to_owned())) };
        let read = |words: &[u32], name: &str| self.0.read(words, name);
        match (read(before, "before"), read(after, "after")) {
            (Ok(before), Ok(after)) => self.0.compare(before, after, launch, "pair"),
            (Err(error), _) | (_, Err(error)) => Ok(Shown::Invalid(error.into())),
        }
    }
}
