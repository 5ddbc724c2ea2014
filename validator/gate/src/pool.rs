//! Worker processes: cases go in, records come out, and whatever becomes of a worker becomes the status of its case.
//!
//! A worker reads a case, as a line of JSON, and answers with a record, as a line of JSON, until there are no more cases.
//! One that crashes, hangs or holds too much memory is ended and replaced. Its case is run once more, alone, when all
//! others are done.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::cases::Case;
use crate::process::{self, Listener};
use crate::record::Record;
use crate::status::Status;

/// How often a worker's memory is looked at.
const TICK: Duration = Duration::from_millis(20);

/// The variable that says where temporary files are made.
const TEMPORARY: &str = if cfg!(windows) { "TMP" } else { "TMPDIR" };

/// The exit code with which a worker says that an invariant of its own broke.
const BUG: i32 = 70;

/// Worker processes.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// How many run at once; at least one.
    pub jobs: usize,
    /// How long a case may take: then its worker is ended. Workers keep limits of their own, which are shorter.
    pub time: Duration,
    /// How much memory a worker may hold, in bytes.
    pub memory: u64,
    /// The folder for temporary files of workers. Whoever made it removes it: a worker that is ended leaves some.
    pub scratch: PathBuf,
}

/// What the pool tells of each case.
#[derive(Debug)]
pub struct Answer {
    /// What became of it.
    pub record: Record,
    /// It will be run once more: this is not the last word.
    pub is_run_again: bool,
}

/// What is left to do, shared by the threads that each have a worker.
struct Queue<'c> {
    cases: Mutex<VecDeque<&'c Case>>,
    again: Mutex<Vec<(&'c Case, Record)>>,
    stopped: &'c AtomicBool,
}

impl<'c> Queue<'c> {
    fn next(&self) -> Option<&'c Case> {
        match self.stopped.load(Ordering::Relaxed) {
            true => None,
            false => self.cases.lock().unwrap_or_else(PoisonError::into_inner).pop_front(),
        }
    }
}

impl Pool {
    /// Has every case answered. `heard` gets each answer as it comes, in the thread that calls; where `stopped` is set,
    /// the cases that have not begun are left.
    pub fn run(&self, cases: &[Case], stopped: &AtomicBool, mut heard: impl FnMut(Answer)) {
        let queue = Queue { cases: Mutex::new(cases.iter().collect()), again: Mutex::default(), stopped };
        let (sender, answers) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, cases.len().max(1)) {
                let (sender, queue) = (sender.clone(), &queue);
                scope.spawn(move || {
                    let mut worker = None;
                    while let Some(case) = queue.next() {
                        let (record, is_by_memory) = self.answer(&mut worker, case, self.memory);
                        // What the optimiser did is run again as well, since it need not do the same twice.
                        let is_run_again = is_by_memory || record.status.may_change();
                        if is_run_again {
                            let mut again = queue.again.lock().unwrap_or_else(PoisonError::into_inner);
                            again.push((case, record.clone()));
                        }
                        if sender.send(Answer { record, is_run_again }).is_err() {
                            break;
                        }
                    }
                    end(worker);
                });
            }
            drop(sender);
            for answer in answers {
                heard(answer);
            }
        });
        // Alone, with the memory of all.
        let mut again = queue.again.into_inner().unwrap_or_else(PoisonError::into_inner);
        again.sort_by(|(case, _), (other, _)| case.name.cmp(&other.name));
        let memory = self.memory.saturating_mul(u64::try_from(self.jobs).unwrap_or(u64::MAX));
        let mut worker = None;
        for (case, first) in again {
            if stopped.load(Ordering::Relaxed) {
                heard(Answer { record: first, is_run_again: false });
                continue;
            }
            let (mut record, _) = self.answer(&mut worker, case, memory);
            record.earlier = first.earlier;
            record.earlier.push(first.status);
            heard(Answer { record, is_run_again: false });
        }
        end(worker);
    }

    /// The record of a case, by a worker that is started where there is none; and whether want of memory ended it.
    fn answer(&self, worker: &mut Option<Worker>, case: &Case, memory: u64) -> (Record, bool) {
        let begun = Instant::now();
        let (record, is_by_memory) = match self.ask(worker, case, memory) {
            Ok(told) => told,
            Err(error) => {
                if let Some(worker) = worker.take() {
                    let _ = worker.kill();
                }
                let detail = format!("the worker could not be run: {error}");
                (Record::new(&case.name, Status::ToolBug, detail), false)
            }
        };
        (Record { seconds: begun.elapsed().as_secs_f64(), ..record }, is_by_memory)
    }

    fn ask(&self, worker: &mut Option<Worker>, case: &Case, memory: u64) -> io::Result<(Record, bool)> {
        let mut running = match worker.take() {
            Some(running) => running,
            None => Worker::start(self)?,
        };
        let mut request = serde_json::to_vec(case)?;
        request.push(b'\n');
        // One that crashed reads no more; how it ended tells more than the broken pipe.
        let _ = running.requests.write_all(&request).and_then(|()| running.requests.flush());
        let begun = Instant::now();
        loop {
            match running.answers.recv_timeout(TICK) {
                Ok(line) => {
                    let record = serde_json::from_str(&line)?;
                    *worker = Some(running);
                    return Ok((record, false));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return running.ended(case).map(|record| (record, false))
                }
            }
            if begun.elapsed() >= self.time {
                running.kill()?;
                let detail = format!("the check had not ended after {} s", self.time.as_secs_f64());
                return Ok((Record::new(&case.name, Status::Timeout, detail), false));
            }
            if running.memory().is_some_and(|held| held > memory) {
                running.kill()?;
                let detail = format!("memory: the worker held more than {} MiB", memory >> 20);
                return Ok((Record::new(&case.name, Status::Inconclusive, detail), true));
            }
        }
    }
}

fn end(worker: Option<Worker>) {
    if let Some(Worker { mut child, requests, .. }) = worker {
        drop(requests);
        // It has nothing to do any more.
        let _ = process::wait(&mut child, TICK).and_then(|_| process::kill(&mut child));
    }
}

/// A worker process, with a thread that listens to it.
struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    said: Listener,
    system: System,
}

impl Worker {
    fn start(pool: &Pool) -> io::Result<Worker> {
        let mut command = Command::new(&pool.program);
        command.env(TEMPORARY, &pool.scratch);
        command.args(&pool.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process::spawn(&mut command)?;
        let missing = || io::Error::other("a pipe is missing");
        let requests = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let said = process::listen(child.stderr.take().ok_or_else(missing)?, process::SAID);
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Worker { child, requests, answers, said, system: System::new() })
    }

    /// Bytes of memory that it holds, where the system says so.
    fn memory(&mut self) -> Option<u64> {
        let pid = Pid::from_u32(self.child.id());
        let only_memory = ProcessRefreshKind::nothing().with_memory();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, only_memory);
        self.system.process(pid).map(sysinfo::Process::memory)
    }

    fn kill(mut self) -> io::Result<()> {
        process::kill(&mut self.child).map(|_| ())
    }

    /// What a worker that ended says of its case.
    fn ended(self, case: &Case) -> io::Result<Record> {
        let Worker { mut child, requests, said, .. } = self;
        drop(requests);
        let status = process::wait(&mut child, TICK)?;
        let status = match status {
            Some(status) => status,
            None => process::kill(&mut child)?,
        };
        let said = said.said();
        let told =
            said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
        let how = match status.code() {
            Some(BUG) => "it found an invariant broken".to_owned(),
            Some(_) | None => process::ended(status),
        };
        let detail = match told.is_empty() {
            true => format!("the worker {how}"),
            false => format!("the worker {how}: {told}"),
        };
        Ok(Record::new(&case.name, Status::ToolBug, detail))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::cases::Source;
    use std::collections::BTreeMap;
    use std::path::Path;

    /// A worker in a shell: what a case's name asks for.
    const WORKER: &str = r#"
        while read -r line; do
            case "$line" in
                *'"hang"'*) sleep 60 ;;
                *'"crash"'*) echo "assertion" >&2; kill -ABRT $$ ;;
                *'"bug"'*) exit 70 ;;
                *'"eat"'*) x=$(head -c 300000000 /dev/zero | tr '\0' a); sleep 60 ;;
                *'"once"'*) if [ -e "$0.once" ]; then echo '{"case":"once","status":"Pass"}'; else : > "$0.once"; kill -SEGV $$; fi ;;
                *) echo '{"case":"good","status":"Pass"}' ;;
            esac
        done"#;

    fn case(name: &str) -> Case {
        Case {
            name: name.to_owned(),
            source: Source::Module("m.spv".into()),
            pipeline: Vec::new(),
            launch: None,
            options: Vec::new(),
        }
    }

    fn pool(script: PathBuf, jobs: usize, time: Duration) -> Pool {
        let scratch = script.parent().map(Path::to_owned).unwrap_or_default();
        Pool {
            program: "bash".into(),
            arguments: vec![script.into()],
            jobs,
            time,
            memory: 100 << 20,
            scratch,
        }
    }

    #[test]
    fn whatever_becomes_of_a_worker_is_a_status() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let script = folder.path().join("worker");
        std::fs::write(&script, WORKER)?;
        let pool = pool(script, 2, Duration::from_millis(1500));
        let cases: Vec<Case> = ["good", "hang", "crash", "bug", "once"].map(case).into();
        let mut last = BTreeMap::new();
        let mut answers = 0;
        pool.run(&cases, &AtomicBool::new(false), |answer| {
            answers += 1;
            last.insert(answer.record.case.clone(), answer.record);
        });
        assert_eq!(answers, 5 + 4);
        let told = |name: &str| last.get(name).map(|record| (record.status, record.earlier.clone()));
        assert_eq!(told("good"), Some((Status::Pass, vec![])));
        assert_eq!(told("hang"), Some((Status::Timeout, vec![Status::Timeout])));
        assert_eq!(told("crash"), Some((Status::ToolBug, vec![Status::ToolBug])));
        assert_eq!(told("bug"), Some((Status::ToolBug, vec![Status::ToolBug])));
        assert_eq!(told("once"), Some((Status::Pass, vec![Status::ToolBug])));
        let detail = last.get("crash").map(|record| record.detail.clone()).unwrap_or_default();
        assert!(detail.contains("signal 6") && detail.contains("assertion"), "{detail}");
        Ok(())
    }

    #[test]
    fn memory_is_limited() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let script = folder.path().join("worker");
        std::fs::write(&script, WORKER)?;
        let pool = pool(script, 1, Duration::from_secs(30));
        let mut records = Vec::new();
        pool.run(&[case("eat"), case("good")], &AtomicBool::new(false), |answer| records.push(answer.record));
        let told: Vec<(&str, Status)> =
            records.iter().map(|record| (record.case.as_str(), record.status)).collect();
        assert_eq!(
            told,
            [("eat", Status::Inconclusive), ("good", Status::Pass), ("eat", Status::Inconclusive)]
        );
        assert!(records[0].detail.starts_with("memory: the worker held more than 100 MiB"));
        Ok(())
    }
}
