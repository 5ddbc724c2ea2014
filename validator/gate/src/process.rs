//! Child processes in groups of their own, so that what they started ends with them.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
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

/// Asks a child to end what it started and itself, and ends it where it does not.
pub(crate) fn end(child: &mut Child) -> io::Result<ExitStatus> {
    #[cfg(unix)]
    if let Ok(pid) = i32::try_from(child.id()) {
        // It may be gone already.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM);
        wait(child, PATIENCE)?;
    }
    kill(child)
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

/// How long a pipe may stay open behind the end of its process, where something that the process left behind holds it; and
/// how long a process may take to end what it started.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a child says.
#[derive(Debug)]
pub(crate) struct Listener {
    said: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

/// Reads what a child says until it ends, and keeps the last `most` bytes of it: a full pipe would block the child.
pub(crate) fn listen(mut pipe: impl Read + Send + 'static, most: usize) -> Listener {
    let said = Arc::new(Mutex::new(Vec::new()));
    let (sender, ended) = mpsc::channel();
    let kept = Arc::clone(&said);
    thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = pipe.read(&mut part) {
            let mut said = kept.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(part.get(..count).unwrap_or_default());
            if said.len() / 2 > most {
                let surplus = said.len() - most;
                said.drain(..surplus);
            }
        }
        // Nobody may listen any more.
        let _ = sender.send(());
    });
    Listener { said, ended }
}

impl Listener {
    /// What was said, behind the end of the child.
    pub(crate) fn said(self) -> String {
        // Both ends of waiting are fine: what was said until then is known.
        let _ = self.ended.recv_timeout(PATIENCE);
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).trim().to_owned()
    }
}

/// Makes this process the parent of what its children leave behind, so that [`end_strays`] finds it.
#[cfg(target_os = "linux")]
pub fn adopt_strays() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// Only Linux gives a process what its children leave behind.
#[cfg(not(target_os = "linux"))]
pub fn adopt_strays() -> io::Result<()> {
    Ok(())
}

/// Ends every child of this process in whose environment the folder is: what a program left behind that ran with it, and
/// what that leaves behind in turn.
#[cfg(target_os = "linux")]
pub(crate) fn end_strays(folder: &Path) {
    let folder = folder.as_os_str().as_encoded_bytes();
    end_children_that(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(folder.len()).any(|part| part == folder)
    });
}

/// Ends every child of this process, and what they leave behind in turn.
#[cfg(target_os = "linux")]
pub(crate) fn end_children() {
    end_children_that(|_| true);
}

#[cfg(target_os = "linux")]
fn end_children_that(is_one: impl Fn(i32) -> bool) {
    use nix::sys::signal::{kill, Signal};
    use nix::sys::wait::{waitpid, WaitPidFlag};
    use nix::unistd::Pid;
    for _ in 0..STRAYS {
        let strays: Vec<i32> = children().into_iter().filter(|pid| is_one(*pid)).collect();
        if strays.is_empty() {
            return;
        }
        for stray in strays.into_iter().map(Pid::from_raw) {
            // It may be gone already, or not be there to be waited for yet: then it is found again.
            let _ = kill(stray, Signal::SIGKILL);
            let _ = waitpid(stray, Some(WaitPidFlag::WNOHANG));
        }
        thread::sleep(LOOKS[0]);
    }
}

/// How often strays are looked for: each may have left behind others.
#[cfg(target_os = "linux")]
const STRAYS: usize = 100;

/// The children of this process.
#[cfg(target_os = "linux")]
fn children() -> Vec<i32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// Only Linux gives a process what its children leave behind.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_strays(_folder: &Path) {}
