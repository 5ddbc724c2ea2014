//! Runs the cases, each job on an executor of its own.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use spirv_tv_executor::Executor;

use super::answer::Answer;
use super::arguments::{DriverArguments, Kind};
use super::plan::{Plan, Planned};
use super::record::{Class, Record, Status};
use super::treatment::SpirvOpt;
use super::world::World;
use super::{concurrent, sequential};
use crate::{caught, CliError};

/// Bytes of stack of a job.
const STACK: usize = 64 << 20;

/// Which cases come next.
struct Queue<'a> {
    plan: &'a Plan,
    arguments: &'a DriverArguments,
    done: &'a BTreeSet<String>,
    next: AtomicU64,
    begun: Instant,
    is_over: AtomicBool,
    /// The user does not want more.
    stop: &'a AtomicBool,
}

impl Queue<'_> {
    /// The next case; `None` where there is none, or no time.
    fn take(&self) -> Option<Planned> {
        loop {
            let is_late = self.arguments.time().is_some_and(|time| self.begun.elapsed() >= time);
            if self.is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::SeqCst) || is_late {
                return None;
            }
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if let Some(only) = self.arguments.case {
                return (number == 0).then(|| self.plan.case(only)).flatten();
            }
            if self.arguments.count.is_some_and(|count| number >= count) {
                return None;
            }
            let planned = self.plan.case(number)?;
            let is_here = self.arguments.partition.is_none_or(|part| part.0.contains(&planned.name));
            if is_here && !self.done.contains(&planned.name) {
                return Some(planned);
            }
        }
    }
}

/// Runs the cases that are not done; `each` is given what comes of them, and says whether to go on.
///
/// # Errors
/// An executor cannot be started.
pub(super) fn run(
    arguments: &DriverArguments,
    plan: &Plan,
    world: &World,
    done: &BTreeSet<String>,
    stop: &AtomicBool,
    mut each: impl FnMut(Answer) -> bool,
) -> Result<(), CliError> {
    let queue = Queue {
        plan,
        arguments,
        done,
        next: AtomicU64::new(0),
        begun: Instant::now(),
        is_over: AtomicBool::new(false),
        stop,
    };
    let mut executors = Vec::new();
    // An executor without a case is started for nothing.
    let cases = if arguments.case.is_some() { Some(1) } else { arguments.count };
    let jobs = cases.map_or(u64::MAX, |cases| cases.max(1)).min(arguments.jobs.into());
    for _ in 0..jobs {
        executors.push(arguments.start()?.0);
    }
    let (sender, answers) = mpsc::channel();
    thread::scope(|scope| {
        for executor in &executors {
            let (sender, queue) = (sender.clone(), &queue);
            let job = move || {
                let mut optimiser = SpirvOpt::default();
                while let Some(planned) = queue.take() {
                    let answer = answer(planned, world, executor, &mut optimiser, stop);
                    if sender.send(answer).is_err() {
                        return;
                    }
                }
            };
            // Searches and optimisers go deep.
            if let Err(error) = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, job) {
                return Err(CliError::Output(error));
            }
        }
        drop(sender);
        for answer in answers {
            if !each(answer) {
                queue.is_over.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })
}

/// What comes of a case, whatever happens. What the executor does not finish it is given once more: a machine with much to do
/// is no device that hangs.
fn answer(
    planned: Planned,
    world: &World,
    executor: &dyn Executor,
    optimiser: &mut SpirvOpt,
    stop: &AtomicBool,
) -> Answer {
    let begun = Instant::now();
    let first = attempt(planned.clone(), world, executor, optimiser);
    let mut answer = match first.record.status.class() {
        Class::Executor if !stop.load(Ordering::SeqCst) => {
            let mut second = attempt(planned, world, executor, optimiser);
            second.record.earlier = Some(first.record.status);
            second
        }
        Class::Good | Class::Undecided | Class::Executor | Class::Wrong | Class::Bug => first,
    };
    answer.record.seconds = begun.elapsed().as_secs_f64();
    answer
}

fn attempt(planned: Planned, world: &World, executor: &dyn Executor, optimiser: &mut SpirvOpt) -> Answer {
    let record = Record::new(planned.name.clone(), String::new(), planned.treatment.name());
    let is_of_user = planned.kind == Kind::Modules;
    let run = AssertUnwindSafe(|| match planned.kind {
        Kind::Concurrent => concurrent::run(planned, world, executor, optimiser),
        Kind::Generated | Kind::Modules => sequential::run(planned, world, executor, optimiser),
    });
    match caught(run) {
        Ok(Ok(answer)) => answer,
        // The launch of a module of the user may not go with it.
        Ok(Err(error)) if is_of_user && error.bug().is_none() => {
            record.with(Status::NotJudged, error.to_string()).into()
        }
        Ok(Err(error)) => record.with(Status::ToolBug, error.to_string()).into(),
        Err(bug) => record.with(Status::ToolBug, bug.to_string()).into(),
    }
}
