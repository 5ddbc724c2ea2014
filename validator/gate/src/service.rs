//! Programs of other people that are asked many times: they read a line for each question and answer with a line.
//!
//! They are trusted as little as those that run once ([`program`](crate::program)): each is below a supervisor, which ends
//! whatever it starts, its answers are waited for so long and no longer, and what else it says is kept in part.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use crate::limited::{self, Own, NOT_RUN};
use crate::process::{self, Listener};

/// The variable by which what the program leaves behind is known.
pub(crate) const MARK: &str = "SPIRV_TV_SCRATCH";

/// The length of a file that the program may write, in bytes.
const LONGEST_FILE: u64 = 1 << 30;

/// The length of a line that may be an answer, in bytes; what is longer is none.
const LONGEST_LINE: usize = 1 << 10;

/// Answers that may wait until they are asked for: a program that says more is kept waiting.
const WAITING: usize = 16;

/// How long a program may take to end by itself when nothing is left to ask.
const PATIENCE: Duration = Duration::from_secs(2);

/// A program that runs. It is ended with whatever it started when this is dropped.
#[derive(Debug)]
pub struct Service {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<()>,
    said: Option<Listener>,
    mark: OsString,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It had not answered after this time. It runs on until it is dropped.
    TimedOut {
        /// The time.
        after: Duration,
    },
    /// A signal ended it.
    Crashed {
        /// The signal.
        signal: i32,
        /// The end of what it said.
        said: String,
    },
    /// It ended with this exit code.
    Ended {
        /// The code.
        code: i32,
        /// The end of what it said.
        said: String,
    },
    /// It could not be run: not its fault.
    NotRun {
        /// What the system says.
        why: String,
    },
}

impl Service {
    /// Starts a program, the first of the words, with the environment of this one. `launcher` is this program, which serves
    /// [`limited::SUBCOMMAND`]; `folder` is the one that the program may leave files in; `answer` is the line with which it
    /// answers, and other lines are no answers.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(
        launcher: &Path,
        words: &[OsString],
        folder: &Path,
        answer: &'static str,
    ) -> io::Result<Service> {
        // Drivers reserve much address space, and a program that serves takes as long as it is asked.
        let own = Own { memory: u64::MAX, seconds: u64::MAX, file: LONGEST_FILE, parent: std::process::id() };
        let mut command = Command::new(launcher);
        command.arg(limited::SUBCOMMAND).args(own.arguments()).args(words).env(MARK, folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process::spawn(&mut command)?;
        let missing = || io::Error::other("a pipe is missing");
        let requests = child.stdin.take();
        let output = child.stdout.take().ok_or_else(missing)?;
        let said = child.stderr.take().map(|pipe| process::listen(pipe, process::SAID));
        let (sender, answers) = mpsc::sync_channel(WAITING);
        thread::spawn(move || hear(output, answer.as_bytes(), &sender));
        Ok(Service { child, requests, answers, said, mark: folder.into() })
    }

    /// Asks something, on one line, and waits for the answer.
    ///
    /// # Errors
    /// See [`Silence`]. Nothing can be asked any more then.
    pub fn ask(&mut self, line: &str, time: Duration) -> Result<(), Silence> {
        if let Some(requests) = &mut self.requests {
            // One that ended reads no more; how it ended tells more than the broken pipe.
            let _ = writeln!(requests, "{line}").and_then(|()| requests.flush());
        }
        match self.answers.recv_timeout(time) {
            Ok(()) => Ok(()),
            Err(RecvTimeoutError::Timeout) => Err(Silence::TimedOut { after: time }),
            // It may have closed its output and run on.
            Err(RecvTimeoutError::Disconnected) => Err(self.ended(PATIENCE)),
        }
    }

    /// Waits until a program that is asked nothing ends by itself, with exit code 0.
    ///
    /// # Errors
    /// See [`Silence`].
    pub fn finish(mut self, time: Duration) -> Result<(), Silence> {
        self.requests = None;
        match self.ended(time) {
            Silence::Ended { code: 0, .. } => Ok(()),
            silence => Err(silence),
        }
    }

    /// How it ended, or that it did not.
    fn ended(&mut self, time: Duration) -> Silence {
        self.requests = None;
        let status = match process::wait(&mut self.child, time) {
            Ok(Some(status)) => status,
            Ok(None) => return Silence::TimedOut { after: time },
            Err(error) => return Silence::NotRun { why: error.to_string() },
        };
        let said = self.said.take().map(Listener::said).unwrap_or_default();
        match (process::signal(status), status.code()) {
            (Some(signal), _) => Silence::Crashed { signal, said },
            (None, Some(code)) if code == i32::from(NOT_RUN) => Silence::NotRun { why: said },
            (None, code) => Silence::Ended { code: code.unwrap_or(1), said },
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = process::end(&mut self.child);
        process::end_strays(Path::new(&self.mark));
    }
}

/// Hears the lines that are answers until the program says no more.
fn hear(mut pipe: impl Read, answer: &[u8], heard: &SyncSender<()>) {
    let mut part = [0; 4096];
    let mut line = Vec::new();
    while let Ok(count @ 1..) = pipe.read(&mut part) {
        for byte in part.iter().take(count) {
            if *byte != b'\n' {
                // One byte more than fits shows that it is too long.
                if line.len() <= LONGEST_LINE {
                    line.push(*byte);
                }
                continue;
            }
            let is_answer = line.trim_ascii_end() == answer;
            line.clear();
            if is_answer && heard.send(()).is_err() {
                return;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A stand-in for this program, which limits nothing.
    fn start(folder: &Path, script: &str) -> io::Result<Service> {
        use std::os::unix::fs::PermissionsExt;
        let launcher = folder.join("launcher");
        std::fs::write(&launcher, "#!/bin/sh\nshift 5\nexec \"$@\"\n")?;
        std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755))?;
        Service::start(&launcher, &["sh", "-c", script].map(OsString::from), folder, "done")
    }

    #[test]
    fn a_program_is_asked_many_times() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let script = "while read -r line; do echo \"$line\" >> \"$SPIRV_TV_SCRATCH/heard\"; echo noise; echo done; done";
        let mut service = start(folder.path(), script)?;
        for line in ["one", "two", "three"] {
            assert_eq!(service.ask(line, Duration::from_secs(20)), Ok(()));
        }
        assert_eq!(service.finish(Duration::from_secs(20)), Ok(()));
        assert_eq!(std::fs::read_to_string(folder.path().join("heard"))?, "one\ntwo\nthree\n");
        Ok(())
    }

    #[test]
    fn each_way_to_say_nothing_is_told() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let ask = |script: &str, time: u64| {
            start(folder.path(), script)?
                .ask("?", Duration::from_millis(time))
                .map_or_else(|silence| Ok(Some(silence)), |()| Ok::<_, io::Error>(None))
        };
        assert!(matches!(ask("sleep 60", 300)?, Some(Silence::TimedOut { .. })));
        // An endless line, and endless lines, are no answers and take no memory.
        assert!(matches!(ask("tr '\\0' a < /dev/zero", 300)?, Some(Silence::TimedOut { .. })));
        assert!(matches!(ask("yes", 300)?, Some(Silence::TimedOut { .. })));
        assert_eq!(ask("yes done", 20_000)?, None);
        assert!(
            matches!(ask("echo no >&2; exit 3", 20_000)?, Some(Silence::Ended { code: 3, said }) if said == "no")
        );
        assert!(matches!(ask("kill -SEGV $$", 20_000)?, Some(Silence::Crashed { signal: 11, .. })));
        assert!(matches!(ask("exec nothing-of-this-name", 20_000)?, Some(Silence::NotRun { .. })));
        assert!(matches!(ask("exec >&-; sleep 60", 20_000)?, Some(Silence::TimedOut { .. })));
        Ok(())
    }
}
