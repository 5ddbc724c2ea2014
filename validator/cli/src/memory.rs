//! The limit on the memory of the process.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use sysinfo::{MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use super::ticker::Ticker;
use spirv_tv::check::Watch;

/// How often resident memory is looked at.
const TICK: Duration = Duration::from_millis(5);

/// The greatest default of `--max-memory`, in bytes.
const MOST: u64 = 2 << 30;

/// What a search may take of the limit, in tenths: what it found is sorted, and compared, in the rest.
const SEARCH: u64 = 6;

/// The default of `--max-memory`, in bytes: 2 GB, or half of what the machine, or the container, has.
pub fn default_limit() -> u64 {
    share_of(1)
}

/// The default of each of `processes` that run side by side, in bytes: all together, they have half of the machine's, or
/// the container's, memory.
pub fn share_of(processes: u64) -> u64 {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let machine = system.total_memory();
    let container = system.cgroup_limits().map(|limits| limits.total_memory);
    let there = container.filter(|bytes| *bytes > 0).map_or(machine, |bytes| bytes.min(machine));
    if there == 0 {
        MOST
    } else {
        MOST.min(there / 2 / processes.max(1))
    }
}

/// Ends searches while the process holds too much memory, until it is dropped.
pub struct MemoryLimit(#[expect(dead_code, reason = "it watches until it is dropped")] Option<Ticker>);

impl MemoryLimit {
    /// Starts to watch for more than `limit` bytes of resident memory. Where the system does not say how much that is,
    /// only what searches count of themselves is bounded.
    pub fn start(watch: &Arc<Watch>, limit: u64) -> Self {
        let Ok(pid) = sysinfo::get_current_pid() else { return MemoryLimit(None) };
        let progress = Arc::clone(&watch.progress);
        let limit = limit / 10 * SEARCH;
        MemoryLimit(Some(Ticker::start(TICK, move |goes_on| {
            let mut system = System::new();
            while goes_on() {
                let is_over = resident(&mut system, pid).is_some_and(|bytes| bytes >= limit);
                progress.out_of_memory.store(is_over, Ordering::Relaxed);
            }
        })))
    }
}

/// Bytes of resident memory of a process.
fn resident(system: &mut System, pid: Pid) -> Option<u64> {
    let only_memory = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, only_memory);
    system.process(pid).map(sysinfo::Process::memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_memory_than_there_may_be_is_noticed() {
        assert!((1..=MOST).contains(&default_limit()));
        let flag = |limit| {
            let watch = Arc::new(Watch::default());
            let limited = MemoryLimit::start(&watch, limit);
            std::thread::sleep(20 * TICK);
            drop(limited);
            watch.progress.out_of_memory.load(Ordering::Relaxed)
        };
        assert!(flag(1) && !flag(u64::MAX));
    }
}
