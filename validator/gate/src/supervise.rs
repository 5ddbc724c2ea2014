//! Stays above a program of somebody else until it has ended, and everything that it started with it.
//!
//! A process can leave its group and its session, but not the processes below its supervisor: what loses its parent comes to
//! the supervisor. That also holds where the one that started the supervisor is killed and cannot tidy up.

use std::io;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;

use nix::sys::prctl;
use nix::sys::signal::{raise, SigSet, Signal};
use nix::unistd::getppid;

use crate::{process, service};

/// What is added to the number of a signal where it can only be told as an exit code, as shells do.
const BY_SIGNAL: i32 = 128;

/// Runs a program and ends as it did: with its exit code, or by its signal. Where the process `parent`, which started this
/// one, ends first, the program is ended.
pub(crate) fn supervise(command: &mut Command, parent: u32) -> io::Result<ExitCode> {
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGTERM);
    awaited.add(Signal::SIGCHLD);
    awaited.thread_block()?;
    process::adopt_strays()?;
    let mut child = begin(command)?;
    prctl::set_pdeathsig(Signal::SIGTERM)?;
    let mut is_over = u32::try_from(getppid().as_raw()).ok() != Some(parent);
    loop {
        let status = child.try_wait()?;
        if is_over || status.is_some() {
            process::end_children();
        }
        if is_over && u32::try_from(getppid().as_raw()).ok() != Some(parent) {
            remove_scratch();
        }
        match status {
            Some(status) => return Ok(end_as(status)),
            None if is_over => return Ok(code(BY_SIGNAL + Signal::SIGTERM as i32)),
            None => is_over = awaited.wait()? == Signal::SIGTERM,
        }
    }
}

/// Removes the folder in which the program may leave files: who made it is gone and cannot.
fn remove_scratch() {
    if let Some(folder) = std::env::var_os(service::MARK) {
        // It may be gone, too.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Starts the program. It has the signal mask of the thread that starts it, so that is one where nothing is blocked.
fn begin(command: &mut Command) -> io::Result<Child> {
    thread::scope(|scope| {
        let starter = scope.spawn(|| {
            SigSet::all().thread_unblock()?;
            command.spawn()
        });
        starter.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts the program ended")))
    })
}

/// Ends this process as another one ended.
fn end_as(status: ExitStatus) -> ExitCode {
    let Some(number) = process::signal(status) else { return code(status.code().unwrap_or(1)) };
    if let Ok(signal) = Signal::try_from(number) {
        // The handler that the standard library has for faults of memory lets the second one through. Whatever becomes of it,
        // the exit code says it as well.
        let _ = SigSet::all().thread_unblock().and_then(|()| raise(signal)).and_then(|()| raise(signal));
    }
    code(BY_SIGNAL + number)
}

fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
