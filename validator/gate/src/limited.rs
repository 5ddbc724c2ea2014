//! Other people's programs with limits: the hidden subcommand [`SUBCOMMAND`] limits its own process, so that limits hold for
//! the program and whatever it starts. On Linux it then stays above the program, elsewhere it becomes the program.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

/// The name that a parent starts this program with.
pub const SUBCOMMAND: &str = "__limited";

/// The exit code where the program cannot be run, as that of a shell.
pub(crate) const NOT_RUN: u8 = 127;

/// What the program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    /// Address space, in bytes.
    pub(crate) memory: u64,
    /// Processor time, in seconds.
    pub(crate) seconds: u64,
    /// The length of a file that it writes, in bytes.
    pub(crate) file: u64,
    /// The process that asks for it, with which it ends.
    pub(crate) parent: u32,
}

impl Own {
    /// The arguments behind [`SUBCOMMAND`].
    pub(crate) fn arguments(self) -> [String; 4] {
        [self.memory, self.seconds, self.file, self.parent.into()].map(|number: u64| number.to_string())
    }

    fn parse(arguments: &mut impl Iterator<Item = OsString>) -> Option<Own> {
        let mut number = || arguments.next()?.to_str()?.parse::<u64>().ok();
        let (memory, seconds, file) = (number()?, number()?, number()?);
        Some(Own { memory, seconds, file, parent: number()?.try_into().ok()? })
    }
}

/// Serves the subcommand if it is the first of `arguments` (without the program's name); `None` is any other command
/// line. Where the program ended by a signal, so does this process.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != SUBCOMMAND {
        return None;
    }
    let own = Own::parse(&mut arguments);
    let program = arguments.next();
    let (Some(own), Some(program)) = (own, program) else {
        complain("limits and a program are expected");
        return Some(ExitCode::from(NOT_RUN));
    };
    let mut command = Command::new(&program);
    command.args(arguments);
    match limit(own).and_then(|()| run(&mut command, own)) {
        Ok(code) => Some(code),
        Err(error) => {
            complain(&format!("{}: {error}", program.to_string_lossy()));
            Some(ExitCode::from(NOT_RUN))
        }
    }
}

fn complain(message: &str) {
    // Nothing is left to do where standard error is closed too.
    let _ = writeln!(io::stderr(), "{message}");
}

#[cfg(unix)]
fn limit(own: Own) -> io::Result<()> {
    use nix::sys::resource::{setrlimit, Resource};
    let limits = [
        (Resource::RLIMIT_AS, own.memory),
        (Resource::RLIMIT_CPU, own.seconds),
        (Resource::RLIMIT_FSIZE, own.file),
        (Resource::RLIMIT_CORE, 0),
    ];
    for (resource, most) in limits {
        match setrlimit(resource, most, most) {
            Ok(()) => {}
            // Some systems do not limit the address space.
            Err(nix::errno::Errno::EINVAL) => {}
            // What is limited further already stays so.
            Err(nix::errno::Errno::EPERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The process ends where the one that started it does.
#[cfg(target_os = "linux")]
pub fn die_with_parent() -> io::Result<()> {
    Ok(nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?)
}

/// Only Linux can end a process with the one that started it; elsewhere the limit of processor time ends it.
#[cfg(not(target_os = "linux"))]
pub fn die_with_parent() -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn run(command: &mut Command, own: Own) -> io::Result<ExitCode> {
    crate::supervise::supervise(command, own.parent)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn run(command: &mut Command, _own: Own) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

/// No limits but that of time, which the parent has.
#[cfg(not(unix))]
fn limit(_own: Own) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn run(command: &mut Command, _own: Own) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
