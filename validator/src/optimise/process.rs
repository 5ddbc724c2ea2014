//! The parent's side of a pass: starts the child, feeds it, and tells how it ended.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use spirv_tv_toolchain::OptimizeOptions;

use super::child::{self, EXIT_FAILED, EXIT_FLAG};
use crate::behaviour::Bug;

/// How long a pass may run by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How optimiser passes are run.
#[derive(Clone, Debug)]
pub struct OptimiserProcess {
    /// A program that serves [`child::SUBCOMMAND`] with [`child::serve`].
    pub program: PathBuf,
    /// Options of the run. The child never validates its input.
    pub options: OptimizeOptions,
    /// The wall-clock time that one run may take.
    pub timeout: Duration,
}

/// An optimiser run that gave no valid module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptimiserFailure {
    /// The optimiser brought its process down, as a failed assertion does.
    Crashed {
        /// The signal, where the system has signals and one ended the process.
        signal: Option<i32>,
        stderr: String,
    },
    /// The optimiser gave up with an error.
    Failed { message: String },
    /// The optimiser refuses the flag or its argument.
    Flag { message: String },
    /// The optimiser wrote a module that spirv-val rejects.
    Invalid { message: String },
    /// The pass was ended after this time.
    TimedOut { after: Duration },
    /// The child process could not be run at all: not the optimiser's fault.
    NotRun { message: String },
    /// The child panicked in our own code.
    Bug { message: String },
}

impl OptimiserFailure {
    /// A name for reports.
    pub fn kind(&self) -> &'static str {
        match self {
            OptimiserFailure::Crashed { .. } => "crashed",
            OptimiserFailure::Failed { .. } => "failed",
            OptimiserFailure::Flag { .. } => "flag",
            OptimiserFailure::Invalid { .. } => "invalid",
            OptimiserFailure::TimedOut { .. } => "timed-out",
            OptimiserFailure::NotRun { .. } => "not-run",
            OptimiserFailure::Bug { .. } => "bug",
        }
    }

    /// Is it the optimiser that failed, rather than the call?
    pub fn is_optimisers(&self) -> bool {
        match self {
            OptimiserFailure::Crashed { .. }
            | OptimiserFailure::Failed { .. }
            | OptimiserFailure::Invalid { .. }
            | OptimiserFailure::TimedOut { .. } => true,
            OptimiserFailure::Flag { .. }
            | OptimiserFailure::NotRun { .. }
            | OptimiserFailure::Bug { .. } => false,
        }
    }
}

impl fmt::Display for OptimiserFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptimiserFailure::Crashed { signal, stderr } => {
                f.write_str("the optimiser crashed")?;
                if let Some(signal) = signal {
                    write!(f, " (signal {signal})")?;
                }
                if stderr.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {stderr}")
                }
            }
            OptimiserFailure::Failed { message } => write!(f, "the optimiser failed: {message}"),
            OptimiserFailure::Flag { message } => write!(f, "the optimiser refuses the flag: {message}"),
            OptimiserFailure::Invalid { message } => {
                write!(f, "the optimiser wrote an invalid module: {message}")
            }
            OptimiserFailure::TimedOut { after } => {
                write!(f, "the optimiser had not ended after {} s", after.as_secs_f64())
            }
            OptimiserFailure::NotRun { message } => {
                write!(f, "the optimiser could not be started: {message}")
            }
            OptimiserFailure::Bug { message } => write!(f, "{}: {message}", Bug::Panicked),
        }
    }
}

impl std::error::Error for OptimiserFailure {}

impl OptimiserProcess {
    /// Runs passes in this program started again.
    ///
    /// # Errors
    /// Where the system cannot tell the program's path.
    pub fn current(options: OptimizeOptions) -> io::Result<Self> {
        Ok(OptimiserProcess { program: std::env::current_exe()?, options, timeout: DEFAULT_TIMEOUT })
    }

    /// Runs the passes that `flags` name on a module, in one child process.
    ///
    /// # Errors
    /// Everything but [`OptimiserFailure::Invalid`]: the result is not validated here.
    pub fn run(&self, words: &[u32], flags: &[String]) -> Result<Vec<u32>, OptimiserFailure> {
        let not_run = |error: io::Error| OptimiserFailure::NotRun {
            message: format!("{}: {error}", self.program.display()),
        };
        let child = Command::new(&self.program)
            .args(child::arguments(&self.options, flags))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(not_run)?;
        let end = converse(child, child::to_bytes(words), self.timeout).map_err(not_run)?;
        let Some(status) = end.status else {
            return Err(OptimiserFailure::TimedOut { after: self.timeout });
        };
        let message = end.stderr;
        match status.code() {
            Some(0) => child::from_bytes(&end.stdout).ok_or_else(|| OptimiserFailure::Failed {
                message: format!("its output of {} bytes is no sequence of words", end.stdout.len()),
            }),
            Some(code) if code == i32::from(EXIT_FAILED) => Err(OptimiserFailure::Failed { message }),
            Some(code) if code == i32::from(EXIT_FLAG) => Err(OptimiserFailure::Flag { message }),
            Some(code) if code == i32::from(Bug::EXIT_CODE) => Err(OptimiserFailure::Bug { message }),
            _ => Err(OptimiserFailure::Crashed { signal: signal(status), stderr: message }),
        }
    }
}

/// How a child ended.
struct End {
    /// `None`: it was killed for taking too long.
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: String,
}

/// Feeds a child its input and collects its output, all at the same time: a full pipe blocks its writer.
fn converse(mut child: Child, input: Vec<u8>, timeout: Duration) -> io::Result<End> {
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let (ended, wait_for_end) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A child that crashed reads no more; its exit status tells more than the broken pipe.
            let _ = stdin.map(|mut pipe| pipe.write_all(&input));
        });
        let output = scope.spawn(move || {
            let bytes = read_all(stdout);
            // The receiver lives until this scope ends.
            let _ = ended.send(());
            bytes
        });
        let messages = scope.spawn(move || read_all(stderr));
        // Standard output closes when the process ends, however it ends.
        let timed_out = wait_for_end.recv_timeout(timeout).is_err();
        if timed_out {
            child.kill()?;
        }
        let status = child.wait()?;
        let lost = |_| io::Error::other("a thread that reads from the optimiser panicked");
        Ok(End {
            status: (!timed_out).then_some(status),
            stdout: output.join().map_err(lost)??,
            stderr: String::from_utf8_lossy(&messages.join().map_err(lost)??).trim().to_owned(),
        })
    })
}

fn read_all(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
