//! The parent's side of passes: starts a child, sends it one pass after the other, and reports how each ended.

use std::io::{self, Read};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::child::{self, DONE, FAILED, NOT_RUN, REFUSED};
use super::frame;
use super::pipeline::Optimiser;
use super::process::{OptimiserFailure, OptimiserProcess};
use crate::behaviour::Bug;

/// Runs passes, in one child process as long as it lives.
pub struct Session {
    process: OptimiserProcess,
    running: Option<Running>,
}

/// A child and the threads that listen to it: a full pipe blocks its writer.
struct Running {
    child: Child,
    /// Passes that it has run.
    passes: u32,
    requests: ChildStdin,
    answers: Receiver<Vec<Vec<u8>>>,
    messages: JoinHandle<io::Result<Vec<u8>>>,
}

/// What the child said of a pass, or how it ended.
enum Answer {
    Told(Vec<Vec<u8>>),
    TimedOut,
    Ended { status: ExitStatus, stderr: String },
}

impl Session {
    /// One that has no child yet.
    pub fn new(process: &OptimiserProcess) -> Self {
        Session { process: process.clone(), running: None }
    }

    fn run_once(
        &mut self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        let answer = self.ask(words, flags, timeout).map_err(|error| OptimiserFailure::NotRun {
            message: format!("{}: {error}", self.process.program.display()),
        })?;
        match answer {
            Answer::Told(parts) => told(&parts),
            Answer::TimedOut => Err(OptimiserFailure::TimedOut { after: timeout }),
            Answer::Ended { status, stderr: message } => Err(match status.code() {
                Some(code) if code == i32::from(Bug::EXIT_CODE) => OptimiserFailure::Bug { message },
                Some(1) => OptimiserFailure::Failed { message },
                _ => OptimiserFailure::Crashed { signal: signal(status), stderr: message },
            }),
        }
    }

    fn ask(&mut self, words: &[u32], flags: &[String], timeout: Duration) -> io::Result<Answer> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.process)?,
        };
        running.passes += 1;
        let module = child::to_bytes(words);
        let parts: Vec<&[u8]> =
            std::iter::once(&module[..]).chain(flags.iter().map(String::as_bytes)).collect();
        // A child that crashed reads no more; how it ended tells more than the broken pipe.
        let _ = frame::write(&mut running.requests, &parts);
        match running.answers.recv_timeout(timeout) {
            Ok(parts) => {
                self.running = Some(running);
                Ok(Answer::Told(parts))
            }
            Err(RecvTimeoutError::Timeout) => {
                running.child.kill()?;
                running.end()?;
                Ok(Answer::TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let (status, stderr) = running.end()?;
                Ok(Answer::Ended { status, stderr })
            }
        }
    }
}

impl Optimiser for Session {
    /// Where a pass ends a child that has run others before, it is run once more in a fresh one: what those left behind is
    /// not its fault.
    fn run(
        &mut self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        let is_fresh = self.running.as_ref().is_none_or(|running| running.passes == 0);
        match self.run_once(words, flags, timeout) {
            Err(OptimiserFailure::Crashed { .. }) if !is_fresh => self.run_once(words, flags, timeout),
            result => result,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            // Nothing is left to ask it.
            let _ = running.end();
        }
    }
}

impl Running {
    fn start(process: &OptimiserProcess) -> io::Result<Self> {
        let mut child = Command::new(&process.program)
            .args(child::arguments(&process.options))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let requests = child.stdin.take().ok_or_else(missing)?;
        let mut output = child.stdout.take().ok_or_else(missing)?;
        let mut errors = child.stderr.take().ok_or_else(missing)?;
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            // A frame that is cut is none: then the child has ended.
            while let Ok(Some(parts)) = frame::read(&mut output) {
                if sender.send(parts).is_err() {
                    break;
                }
            }
        });
        let messages = thread::spawn(move || {
            let mut bytes = Vec::new();
            errors.read_to_end(&mut bytes).map(|_| bytes)
        });
        Ok(Running { child, passes: 0, requests, answers, messages })
    }

    /// Waits for the end of a child that has nothing to do any more: how it ended, and what it said.
    fn end(self) -> io::Result<(ExitStatus, String)> {
        let Running { mut child, requests, messages, .. } = self;
        drop(requests);
        let status = child.wait()?;
        let lost = |_| io::Error::other("a thread that reads from the optimiser panicked");
        let stderr = messages.join().map_err(lost)??;
        Ok((status, String::from_utf8_lossy(&stderr).trim().to_owned()))
    }
}

/// What an answer says.
fn told(parts: &[Vec<u8>]) -> Result<Vec<u32>, OptimiserFailure> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let no_words = |bytes: usize| OptimiserFailure::Failed {
        message: format!("its output of {bytes} bytes is no sequence of words"),
    };
    let [end, message, words] = parts else { return Err(no_words(0)) };
    match end[..] {
        [DONE] => child::from_bytes(words).ok_or_else(|| no_words(words.len())),
        [FAILED] => Err(OptimiserFailure::Failed { message: text(message) }),
        [REFUSED] => Err(OptimiserFailure::Flag { message: text(message) }),
        [NOT_RUN] => Err(OptimiserFailure::NotRun { message: text(message) }),
        _ => Err(no_words(words.len())),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
