//! Other people's optimisers and compilers: commands that read one file and write another.
//!
//! They are not trusted. Each run is a process of its own with a scratch folder, a small environment, and limits of time,
//! memory and the length of files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limited::{self, Own, NOT_RUN};
use crate::service::MARK;
use crate::{process, signature};

/// Where the command has the file that it reads.
const INPUT: &str = "{in}";

/// Where the command has the file that it writes.
const OUTPUT: &str = "{out}";

/// Where the command has the flags of the pipeline.
const FLAGS: &str = "{flags}";

/// Variables of the environment that a program gets, if they are there.
const KEPT: [&str; 7] =
    ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "SYSTEMDRIVE"];

/// The length of a file that a program may write, in bytes.
const LONGEST_FILE: u64 = 1 << 30;

/// A command: with `{in}`, `{out}` and `{flags}`, or without `{in}` and `{out}` as spirv-opt is called:
/// `COMMAND FLAGS IN -o OUT`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Program {
    words: Vec<String>,
}

/// A command that cannot be run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It has no words, or quotes that do not close.
    #[error("'{0}' is no command: it is empty, or a quotation mark is open")]
    Words(String),
    /// It is not there.
    #[error("there is no program '{0}'")]
    Missing(String),
    /// It has one of the two files only.
    #[error("'{command}' has {there} and no {missing}")]
    Half {
        /// The command.
        command: String,
        /// What it has.
        there: &'static str,
        /// What it lacks.
        missing: &'static str,
    },
}

/// What a program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Duration,
    /// Memory, in bytes.
    pub memory: u64,
    /// How much of what it says is kept: the end of it, in bytes.
    pub said: usize,
}

impl Limits {
    /// Limits of time, and of memory in bytes.
    pub const fn new(time: Duration, memory: u64) -> Limits {
        Limits { time, memory, said: process::SAID }
    }
}

/// Why a program gave no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramFailure {
    /// A signal ended it.
    Crashed {
        /// The signal.
        signal: i32,
        /// The end of what it said.
        said: String,
    },
    /// It ended with an exit code other than 0.
    Failed {
        /// The code.
        code: i32,
        /// The end of what it said.
        said: String,
    },
    /// It ended well and wrote no file.
    NoOutput {
        /// The end of what it said.
        said: String,
    },
    /// It had not ended after this time.
    TimedOut {
        /// The time.
        after: Duration,
    },
    /// It could not be started: not its fault.
    NotRun {
        /// What the system says.
        why: String,
    },
}

impl fmt::Display for ProgramFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |said: &String| match telling_line(said) {
            "" => String::new(),
            line => format!(": {line}"),
        };
        match self {
            ProgramFailure::Crashed { signal, said } => {
                write!(f, "it was ended by signal {signal}{}", told(said))
            }
            ProgramFailure::Failed { code, said } => {
                write!(f, "it failed with exit code {code}{}", told(said))
            }
            ProgramFailure::NoOutput { said } => write!(f, "it wrote no file{}", told(said)),
            ProgramFailure::TimedOut { after } => {
                write!(f, "it had not ended after {} s", after.as_secs_f64())
            }
            ProgramFailure::NotRun { why } => write!(f, "it could not be started: {why}"),
        }
    }
}

impl std::error::Error for ProgramFailure {}

impl ProgramFailure {
    /// What tells it from other failures of the same program.
    pub fn signature(&self) -> String {
        match self {
            ProgramFailure::Crashed { signal, said } => {
                signature::of_said(said).unwrap_or_else(|| format!("signal-{signal}"))
            }
            ProgramFailure::Failed { code, said } => {
                signature::of_said(said).unwrap_or_else(|| format!("exit-code-{code}"))
            }
            ProgramFailure::NoOutput { .. } => "no-output".to_owned(),
            ProgramFailure::TimedOut { .. } => "timed-out".to_owned(),
            ProgramFailure::NotRun { .. } => "not-started".to_owned(),
        }
    }
}

/// What tells most of what a program said: the line with an error, or else the last one.
fn telling_line(said: &str) -> &str {
    let last = || said.lines().map(str::trim).rfind(|line| !line.is_empty());
    signature::error_line(said).map(|(line, _)| line).or_else(last).unwrap_or_default()
}

impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| ProgramError::Words(text.to_owned()))?;
        let has = |part: &str| words.iter().any(|word| word.contains(part));
        let half = |there, missing| ProgramError::Half { command: text.to_owned(), there, missing };
        match (has(INPUT), has(OUTPUT)) {
            (true, false) => Err(half(INPUT, OUTPUT)),
            (false, true) => Err(half(OUTPUT, INPUT)),
            (true, true) | (false, false) => Ok(Program { words }),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = shlex::try_join(self.words.iter().map(String::as_str));
        f.write_str(&words.unwrap_or_else(|_| self.words.join(" ")))
    }
}

/// A file that a program wrote.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The end of what the program said on standard error.
    pub said: String,
}

impl Program {
    /// Whether the program is there: at its path, or in a folder of `PATH`.
    ///
    /// # Errors
    /// Where it is not.
    pub fn look_for(&self) -> Result<(), ProgramError> {
        let Some(name) = self.words.first() else { return Err(ProgramError::Words(String::new())) };
        let is_there = match name.contains(std::path::MAIN_SEPARATOR) {
            true => Path::new(name).is_file(),
            false => {
                let paths = std::env::var_os("PATH").unwrap_or_default();
                let names = [name.clone(), format!("{name}{}", std::env::consts::EXE_SUFFIX)];
                std::env::split_paths(&paths)
                    .any(|folder| names.iter().any(|name| folder.join(name).is_file()))
            }
        };
        match is_there {
            true => Ok(()),
            false => Err(ProgramError::Missing(name.clone())),
        }
    }

    /// The files among its words, such as a script.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.words.iter().map(Path::new).filter(|path| path.is_file())
    }

    /// Whether it is called as spirv-opt is.
    pub fn is_like_spirv_opt(&self) -> bool {
        !self.words.iter().any(|word| word.contains(INPUT))
    }

    /// The words of the command. Those that name a file that is there become absolute, since the program runs in a folder
    /// of its own.
    fn command(&self, input: &Path, output: &Path, flags: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        let absolute = |word: &String| match Path::new(word).is_file() {
            true => std::path::absolute(word)
                .map_or_else(|_| word.clone(), |path| path.to_string_lossy().into_owned()),
            false => word.clone(),
        };
        let (input, output) = (input.to_string_lossy(), output.to_string_lossy());
        // The program is looked for in the PATH unless its name is a path.
        let is_name = |index: usize, word: &str| index == 0 && !word.contains(std::path::MAIN_SEPARATOR);
        let mut has_flags = false;
        for (index, word) in self.words.iter().enumerate() {
            if word == FLAGS {
                has_flags = true;
                words.extend(flags.iter().cloned());
            } else if word.contains(INPUT) || word.contains(OUTPUT) {
                words.push(word.replace(INPUT, &input).replace(OUTPUT, &output));
            } else if is_name(index, word) {
                words.push(word.clone());
            } else {
                words.push(absolute(word));
            }
        }
        if !has_flags {
            words.extend(flags.iter().cloned());
        }
        if self.is_like_spirv_opt() {
            words.extend([input.into_owned(), "-o".to_owned(), output.into_owned()]);
        }
        words
    }

    /// Runs it on a file with this content and this extension, in a scratch folder that is gone afterwards.
    /// `launcher` is this program, which serves [`limited::SUBCOMMAND`].
    ///
    /// # Errors
    /// See [`ProgramFailure`].
    pub fn run(
        &self,
        launcher: &Path,
        content: &[u8],
        extension: &str,
        flags: &[String],
        limits: Limits,
    ) -> Result<Written, ProgramFailure> {
        let not_run = |error: io::Error| ProgramFailure::NotRun { why: error.to_string() };
        let scratch = tempfile::Builder::new().prefix("spirv-tv-").tempdir().map_err(not_run)?;
        let input = scratch.path().join(format!("in{extension}"));
        std::fs::write(&input, content).map_err(not_run)?;
        self.run_in(launcher, scratch.path(), &input, flags, limits)
    }

    /// Runs it on a file where it lies, since sources name others beside them.
    ///
    /// # Errors
    /// See [`ProgramFailure`].
    pub fn run_on(
        &self,
        launcher: &Path,
        source: &Path,
        flags: &[String],
        limits: Limits,
    ) -> Result<Written, ProgramFailure> {
        let not_run = |error: io::Error| ProgramFailure::NotRun { why: error.to_string() };
        let scratch = tempfile::Builder::new().prefix("spirv-tv-").tempdir().map_err(not_run)?;
        let source = std::path::absolute(source).map_err(not_run)?;
        self.run_in(launcher, scratch.path(), &source, flags, limits)
    }

    fn run_in(
        &self,
        launcher: &Path,
        scratch: &Path,
        input: &Path,
        flags: &[String],
        limits: Limits,
    ) -> Result<Written, ProgramFailure> {
        let not_run = |error: io::Error| ProgramFailure::NotRun { why: error.to_string() };
        let output = scratch.join("out.spv");
        // Threads may use several cores; the wall clock is what counts.
        let seconds = limits.time.as_secs().saturating_add(1).saturating_mul(PROCESSORS);
        let own = Own { memory: limits.memory, seconds, file: LONGEST_FILE, parent: std::process::id() };
        let mut command = Command::new(launcher);
        command.arg(limited::SUBCOMMAND).args(own.arguments()).args(self.command(input, &output, flags));
        command.current_dir(scratch).env_clear();
        command.envs(KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // By the mark its supervisor removes the folder, where this process is killed.
        command.envs(["HOME", "TMPDIR", "TEMP", "TMP", MARK].map(|name| (name, scratch)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process::spawn(&mut command).map_err(not_run)?;
        let stdout = child.stdout.take().map(|pipe| process::listen(pipe, limits.said));
        let stderr = child.stderr.take().map(|pipe| process::listen(pipe, limits.said));
        let status = process::wait(&mut child, limits.time);
        // Also what it started and left behind.
        let killed = match status {
            Ok(None) => process::end(&mut child),
            Ok(Some(_)) | Err(_) => process::kill(&mut child),
        };
        process::end_strays(scratch);
        let said =
            |listener: Option<process::Listener>| listener.map(process::Listener::said).unwrap_or_default();
        let (out, said) = (said(stdout), said(stderr));
        let said = if said.is_empty() { out } else { said };
        let status = match status.map_err(not_run)? {
            Some(status) => status,
            None => {
                killed.map_err(not_run)?;
                return Err(ProgramFailure::TimedOut { after: limits.time });
            }
        };
        match (process::signal(status), status.code()) {
            (Some(signal), _) => return Err(ProgramFailure::Crashed { signal, said }),
            (None, Some(0)) => {}
            (None, Some(code)) if code == i32::from(NOT_RUN) => {
                return Err(ProgramFailure::NotRun { why: said })
            }
            (None, code) => return Err(ProgramFailure::Failed { code: code.unwrap_or(1), said }),
        }
        read(&output, said)
    }
}

/// How many seconds of processor time a second of the wall clock may take.
const PROCESSORS: u64 = 64;

fn read(output: &PathBuf, said: String) -> Result<Written, ProgramFailure> {
    // A link would be followed out of the folder.
    let is_file =
        std::fs::symlink_metadata(output).is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_FILE);
    match is_file.then(|| std::fs::read(output)) {
        Some(Ok(bytes)) => Ok(Written { bytes, said }),
        Some(Err(_)) | None => Err(ProgramFailure::NoOutput { said }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str, flags: &[&str]) -> Result<Vec<String>, ProgramError> {
        let program: Program = text.parse()?;
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Ok(program.command(Path::new("/s/in.spv"), Path::new("/s/out.spv"), &flags))
    }

    #[test]
    fn commands_have_places_for_files_or_are_called_as_spirv_opt() -> Result<(), ProgramError> {
        assert_eq!(command("opt", &["-O"])?, ["opt", "-O", "/s/in.spv", "-o", "/s/out.spv"]);
        assert_eq!(command("c --i={in} {out}", &["-O"])?, ["c", "--i=/s/in.spv", "/s/out.spv", "-O"]);
        assert_eq!(
            command("c {flags} -- {in} {out}", &["a", "b"])?,
            ["c", "a", "b", "--", "/s/in.spv", "/s/out.spv"]
        );
        assert_eq!(command("'my tool' {in} {out}", &[])?[0], "my tool");
        assert!(matches!(command("c {in}", &[]), Err(ProgramError::Half { missing: "{out}", .. })));
        assert!(command("", &[]).is_err() && command("c 'x", &[]).is_err());
        Ok(())
    }

    #[test]
    fn the_line_that_tells_most_is_told() {
        let glslang =
            "a.comp\nERROR: a.comp:3: 'x' : undeclared\nERROR: 1 compilation errors.  No code generated.\n\n";
        assert_eq!(telling_line(glslang), "ERROR: a.comp:3: 'x' : undeclared");
        assert_eq!(
            telling_line("optimising\nAssertion `a' failed.\nStack dump:\n 0\n"),
            "Assertion `a' failed."
        );
        assert_eq!(telling_line("one\n two \n\n"), "two");
        assert_eq!(telling_line(" \n"), "");
    }

    #[test]
    fn files_that_are_there_are_named_from_everywhere() -> Result<(), ProgramError> {
        let words = command("python3 src/lib.rs {in} {out}", &[])?;
        assert!(Path::new(&words[1]).is_absolute(), "{words:?}");
        assert_eq!(words[0], "python3");
        Ok(())
    }

    /// A stand-in for this program, which limits nothing.
    #[cfg(unix)]
    fn launcher(folder: &Path) -> io::Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("launcher");
        std::fs::write(&path, "#!/bin/sh\nshift 5\nexec \"$@\"\n")?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    #[cfg(unix)]
    #[test]
    fn each_way_to_end_is_told() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let launcher = launcher(folder.path())?;
        let limits = Limits::new(Duration::from_millis(700), 1 << 30);
        let run = |script: &str| -> Result<Written, ProgramFailure> {
            let script = format!("sh -c '{script}' sh {{in}} {{out}}");
            let program: Program = script.parse().map_err(|_| ProgramFailure::NotRun { why: script })?;
            program.run(&launcher, b"module", ".spv", &[], limits)
        };
        assert_eq!(
            run("cp $1 $2").map(|written| written.bytes),
            Ok(b"module".to_vec()).map_err(|()| unreachable!())
        );
        assert!(
            matches!(run("echo no >&2; exit 3"), Err(ProgramFailure::Failed { code: 3, said }) if said == "no")
        );
        assert!(matches!(run("kill -SEGV $$"), Err(ProgramFailure::Crashed { signal: 11, .. })));
        assert!(matches!(run("true"), Err(ProgramFailure::NoOutput { .. })));
        assert!(matches!(run("ln -s /etc/passwd $2"), Err(ProgramFailure::NoOutput { .. })));
        // What it leaves behind would keep the pipes open.
        assert!(matches!(run("sleep 60 & sleep 60"), Err(ProgramFailure::TimedOut { .. })));
        assert!(run("sleep 60 & cp $1 $2").is_ok());
        #[cfg(target_os = "linux")]
        {
            process::adopt_strays()?;
            let written = run("setsid sleep 4321 & cp $1 $2; sleep 0.2")?;
            assert_eq!(written.bytes, b"module");
            let lists = std::fs::read_dir("/proc")?.filter_map(Result::ok);
            let mut lines = lists.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
            assert!(!lines.any(|line| line.starts_with(b"sleep\x004321")));
        }
        // A small environment, and a folder of its own.
        let said = run("env > $2; pwd >> $2")?;
        let text = String::from_utf8(said.bytes)?;
        assert!(text.contains("spirv-tv-") && !text.contains("CARGO"), "{text}");
        Ok(())
    }
}
