//! Child processes in groups of their own, so that what they started ends with them.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The shortest and the longest time between two looks at a child.
const LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// How much of what a child says is kept by default: the end of it, in bytes.
pub(crate) const SAID: usize = 1 << 14;

/// Starts a command in a process group of its own.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.spawn()
}

/// Ends a child and everything that it started.
pub(crate) fn kill(child: &mut Child) -> io::Result<ExitStatus> {
    #[cfg(unix)]
    if let Ok(pid) = i32::try_from(child.id()) {
        // It may be gone already.
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    }
    // Likewise.
    let _ = child.kill();
    child.wait()
}

/// Waits until a child ends; `None` where it had not after this time.
pub(crate) fn wait(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let [mut pause, longest] = LOOKS;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let Some(left) = time.checked_sub(begun.elapsed()) else { return Ok(None) };
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(longest);
    }
}

/// The signal that ended a process, if one did.
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    return {
        let _ = status;
        None
    };
}

/// How a process ended, in words.
pub(crate) fn ended(status: ExitStatus) -> String {
    match (signal(status), status.code()) {
        (Some(signal), _) => format!("ended by signal {signal}"),
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Reads what a child says until it ends, and keeps the last `most` bytes of it: a full pipe would block the child.
pub(crate) fn listen(mut pipe: impl Read + Send + 'static, most: usize) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut said = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = pipe.read(&mut part) {
            said.extend_from_slice(part.get(..count).unwrap_or_default());
            if said.len() / 2 > most {
                said.drain(..said.len() - most);
            }
        }
        let text = String::from_utf8_lossy(&said).into_owned();
        text.trim().to_owned()
    })
}
