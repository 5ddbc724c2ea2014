//! Executors that are programs (`docs/executor.md`). They are not trusted: each runs below a supervisor, is waited for so
//! long and no longer, and whatever it answers may be wrong.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use spirv_tv_gate::service::{Service, Silence};
use tempfile::TempDir;

use crate::serve::DONE;
use crate::{folder, Case, Description, Execution, Executor};

/// Where a command that is started anew for each request has the folder.
const FOLDER: &str = "{folder}";

/// How long an executor may take beyond what a case may, before it is ended.
const GRACE: Duration = Duration::from_secs(5);

/// How long an executor may take to say what it is.
const TO_DESCRIBE: Duration = Duration::from_secs(60);

/// The command of an executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorCommand {
    words: Vec<OsString>,
}

/// A text that is no command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no command: it is empty, or a quotation mark is open")]
pub struct CommandError(String);

impl FromStr for ExecutorCommand {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| CommandError(text.to_owned()))?;
        Ok(ExecutorCommand { words: words.into_iter().map(OsString::from).collect() })
    }
}

impl ExecutorCommand {
    /// The command of these words.
    pub fn of(words: Vec<OsString>) -> Self {
        ExecutorCommand { words }
    }

    /// Whether it is started anew for each request.
    fn is_started_anew(&self) -> bool {
        self.words.iter().any(|word| word.to_string_lossy().contains(FOLDER))
    }

    /// The words with the folder in its place.
    fn on(&self, folder: &Path) -> Vec<OsString> {
        let placed = |word: &OsString| match word.to_str().filter(|word| word.contains(FOLDER)) {
            Some(word) => word.replace(FOLDER, &folder.to_string_lossy()).into(),
            None => word.clone(),
        };
        self.words.iter().map(placed).collect()
    }
}

/// An executor that is a program. It is started for the first request, and anew where it did not answer.
#[derive(Debug)]
pub struct ExecutorProgram {
    command: ExecutorCommand,
    launcher: PathBuf,
    scratch: TempDir,
    session: Mutex<Session>,
}

#[derive(Debug, Default)]
struct Session {
    service: Option<Service>,
    /// Requests so far: each has a folder of its own, so that no answer is taken for another one's.
    requests: u64,
}

impl ExecutorProgram {
    /// An executor. `launcher` is this program, which serves `spirv_tv_gate::limited::SUBCOMMAND`.
    ///
    /// # Errors
    /// A folder for its files cannot be made.
    pub fn new(command: ExecutorCommand, launcher: PathBuf) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("spirv-tv-").tempdir()?;
        Ok(ExecutorProgram { command, launcher, scratch, session: Mutex::default() })
    }

    /// Asks the executor what it is, which may take so long; it is started for that.
    ///
    /// # Errors
    /// It does not say so.
    pub fn describe_within(&self, time: Duration) -> Result<Description, Execution> {
        self.request(folder::write_describe, [time; 2], folder::read_description)
    }

    /// Makes a request and reads its answer. The times are what it may take, and what it is waited for.
    fn request<T>(
        &self,
        write: impl FnOnce(&Path) -> io::Result<()>,
        times: [Duration; 2],
        read: impl FnOnce(&Path) -> Result<T, Execution>,
    ) -> Result<T, Execution> {
        let not_run = |error: io::Error| Execution::NotRun(error.to_string());
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.requests += 1;
        let folder = self.scratch.path().join(session.requests.to_string());
        std::fs::create_dir(&folder).and_then(|()| write(&folder)).map_err(not_run)?;
        let answer = self.ask(&mut session, &folder, times).and_then(|()| read(&folder));
        if let Err(execution) = &answer {
            // What an executor in an unknown state would answer next is worth nothing.
            if !matches!(execution, Execution::Unsupported(_)) {
                session.service = None;
            }
        }
        // It may have been removed, or be something else by now; then it goes with the scratch folder.
        let _ = std::fs::remove_dir_all(&folder);
        answer
    }

    fn ask(&self, session: &mut Session, folder: &Path, times: [Duration; 2]) -> Result<(), Execution> {
        let [time, limit] = times;
        let start = || {
            let words = self.command.on(folder);
            Service::start(&self.launcher, &words, self.scratch.path(), DONE)
                .map_err(|error| Execution::NotRun(error.to_string()))
        };
        if self.command.is_started_anew() {
            return start()?.finish(limit).map_err(|silence| told(silence, time));
        }
        let service = match &mut session.service {
            Some(service) => service,
            none => none.insert(start()?),
        };
        service.ask(&folder.to_string_lossy(), limit).map_err(|silence| told(silence, time))
    }
}

/// What it means that an executor did not answer.
fn told(silence: Silence, time: Duration) -> Execution {
    let with = |what: String, said: &str| match said.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => format!("{what}: {}", line.trim()),
        None => what,
    };
    match silence {
        Silence::TimedOut { .. } => Execution::TimedOut(time),
        Silence::Crashed { signal, said } => Execution::Crashed(with(format!("signal {signal}"), &said)),
        Silence::Ended { code, said } => {
            Execution::Crashed(with(format!("it ended with exit code {code}"), &said))
        }
        Silence::NotRun { why } => Execution::NotRun(why),
    }
}

impl Executor for ExecutorProgram {
    fn describe(&self) -> Result<Description, Execution> {
        self.describe_within(TO_DESCRIBE)
    }

    fn execute(&self, case: &Case) -> Execution {
        let read = |folder: &Path| match folder::read_execution(folder, case) {
            Execution::Finished(observations) => Ok(observations),
            other => Err(other),
        };
        let times = [case.time, case.time.saturating_add(GRACE)];
        match self.request(|folder| folder::write_case(folder, case), times, read) {
            Ok(observations) => Execution::Finished(observations),
            Err(execution) => execution,
        }
    }
}
