//! Brute force over all candidate executions of a program: an interpreter of its own, and the axioms of RC11 as
//! the paper writes them, over matrices. It shares nothing with the model. Initial writes are events, and an update is a
//! read and a write.

use std::collections::{BTreeSet, HashSet};

use crate::matrix::Matrix;
use crate::programs::{Mode, Program, Step, Value, LOCATIONS, REGISTERS};

/// What a program may do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Some execution has a data race.
    pub is_racy: bool,
    /// The shared words and the results of every execution, whether it is racy or not.
    pub outcomes: BTreeSet<Vec<u32>>,
    /// Executions, counted by their reads-from.
    pub executions: usize,
}

/// What an invocation does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Read { at: usize, mode: Mode },
    Write { at: usize, mode: Mode, value: u32, updates: bool },
    Fence(Mode),
    Barrier,
}

/// A write: of which invocation, at which position in what it does. `None`: the initial one.
type Source = Option<(usize, usize)>;

/// An invocation as far as it comes with what it has read so far.
#[derive(Debug, Default)]
struct Run {
    acts: Vec<Act>,
    registers: [u32; REGISTERS],
    /// The location of the read that it stands at.
    reads: Option<usize>,
    answered: usize,
    /// It awaits a value that its read has not: a turn that it repeats.
    repeats: bool,
}

/// Words of the results come after the shared ones.
fn result(thread: usize, register: usize) -> usize {
    LOCATIONS + thread * REGISTERS + register
}

impl Run {
    /// Reads, if there is an answer.
    fn read(&mut self, at: usize, mode: Mode, register: usize, answers: &[u32]) -> Option<u32> {
        let Some(value) = answers.get(self.answered) else {
            self.reads = Some(at);
            return None;
        };
        self.answered += 1;
        self.acts.push(Act::Read { at, mode });
        self.registers[register] = *value;
        Some(*value)
    }

    /// False where it stands at a read.
    fn steps(&mut self, thread: usize, steps: &[Step], answers: &[u32]) -> bool {
        steps.iter().all(|step| self.step(thread, step, answers))
    }

    fn write(&mut self, at: usize, mode: Mode, value: u32, updates: bool) {
        self.acts.push(Act::Write { at, mode, value, updates });
    }

    fn value(&self, value: Value) -> u32 {
        match value {
            Value::Constant(constant) => constant,
            Value::Register(register) => self.registers[register],
        }
    }

    fn step(&mut self, thread: usize, step: &Step, answers: &[u32]) -> bool {
        match step {
            Step::Fence(mode) => self.acts.push(Act::Fence(*mode)),
            Step::Store { at, mode, value } => self.write(*at, *mode, self.value(*value), false),
            Step::If { register, equals, then } => {
                return self.registers[*register] != *equals || self.steps(thread, then, answers);
            }
            Step::Load { at, mode, register } => {
                let Some(value) = self.read(*at, *mode, *register, answers) else { return false };
                self.write(result(thread, *register), Mode::Plain, value, false);
            }
            Step::Await { at, mode, register } => {
                let Some(value) = self.read(*at, *mode, *register, answers) else { return false };
                self.repeats |= value == 0;
                self.write(result(thread, *register), Mode::Plain, value, false);
            }
            Step::Add { at, mode, amount, register } => {
                let Some(value) = self.read(*at, *mode, *register, answers) else { return false };
                self.write(*at, *mode, value + amount, true);
                self.write(result(thread, *register), Mode::Plain, value, false);
            }
            Step::Exchange { at, mode, value, register } => {
                let given = self.value(*value);
                let Some(value) = self.read(*at, *mode, *register, answers) else { return false };
                self.write(*at, *mode, given, true);
                self.write(result(thread, *register), Mode::Plain, value, false);
            }
            Step::CompareExchange { at, equal, unequal, expected, value: given, register } => {
                let succeeds = answers.get(self.answered) == Some(expected);
                let mode = if succeeds { equal } else { unequal };
                let Some(value) = self.read(*at, *mode, *register, answers) else { return false };
                if succeeds {
                    self.write(*at, *mode, *given, true);
                }
                self.write(result(thread, *register), Mode::Plain, value, false);
            }
        }
        true
    }
}

/// Runs all invocations with these answers: the phases that all of them come to.
fn run(program: &Program, answers: &[Vec<u32>]) -> Vec<Run> {
    let mut runs: Vec<Run> = answers.iter().map(|_| Run::default()).collect();
    for (number, phase) in program.phases.iter().enumerate() {
        let mut all_pass = true;
        for (thread, run) in runs.iter_mut().enumerate() {
            if number > 0 {
                run.acts.push(Act::Barrier);
            }
            all_pass &= run.steps(thread, &phase[thread], &answers[thread]);
        }
        if !all_pass {
            break;
        }
    }
    runs
}

/// Every outcome of a program.
pub fn brute(program: &Program) -> Found {
    let mut found = Found::default();
    let start: Vec<Vec<Source>> = vec![Vec::new(); program.invocations()];
    let mut known = HashSet::from([start.clone()]);
    let mut rest = vec![start];
    while let Some(sources) = rest.pop() {
        let answers = answers(program, &sources);
        let runs = run(program, &answers);
        // An execution with a turn that is repeated is like one without.
        if runs.iter().any(|run| run.repeats) {
            continue;
        }
        if runs.iter().all(|run| run.reads.is_none()) {
            judge(&runs, &sources, &mut found);
            continue;
        }
        for (thread, run) in runs.iter().enumerate() {
            let Some(at) = run.reads else { continue };
            let mut choices: Vec<Source> = vec![None];
            for (other, run) in runs.iter().enumerate() {
                let writes = run.acts.iter().enumerate();
                let writes = writes.filter(|(_, act)| matches!(act, Act::Write { at: to, .. } if *to == at));
                choices.extend(writes.map(|(position, _)| Some((other, position))));
            }
            for choice in choices {
                let mut next = sources.clone();
                next[thread].push(choice);
                if known.insert(next.clone()) {
                    rest.push(next);
                }
            }
        }
    }
    found
}

/// The values that sources give. A source was there before its read, so that this ends.
fn answers(program: &Program, sources: &[Vec<Source>]) -> Vec<Vec<u32>> {
    let mut answers: Vec<Vec<u32>> = vec![Vec::new(); sources.len()];
    while answers.iter().zip(sources).any(|(known, all)| known.len() < all.len()) {
        let runs = run(program, &answers);
        for (thread, known) in answers.iter_mut().enumerate() {
            let value = sources[thread].get(known.len()).and_then(|source| match source {
                None => Some(0),
                Some((other, position)) => match runs[*other].acts.get(*position) {
                    Some(Act::Write { value, .. }) => Some(*value),
                    Some(Act::Read { .. } | Act::Fence(_) | Act::Barrier) | None => None,
                },
            });
            known.extend(value);
        }
    }
    answers
}

/// An event of a candidate execution.
struct Event {
    /// `None` for initial writes.
    thread: Option<usize>,
    act: Act,
    /// Barriers that the invocation has passed before.
    phase: usize,
}

/// A candidate execution without modification order.
struct Candidate {
    events: Vec<Event>,
    sb: Matrix,
    rf: Matrix,
    rmw: Matrix,
}

impl Candidate {
    fn new(runs: &[Run], sources: &[Vec<Source>]) -> Candidate {
        let initial = |at| Act::Write { at, mode: Mode::Plain, value: 0, updates: false };
        let mut events: Vec<Event> =
            (0..LOCATIONS).map(|at| Event { thread: None, act: initial(at), phase: 0 }).collect();
        let mut first = Vec::new();
        for (thread, run) in runs.iter().enumerate() {
            first.push(events.len());
            let mut phase = 0;
            for act in &run.acts {
                events.push(Event { thread: Some(thread), act: act.clone(), phase });
                phase += usize::from(*act == Act::Barrier);
            }
        }
        let count = events.len();
        let sb = Matrix::new(count, |a, b| {
            a < b
                && (events[a].thread.is_none() && events[b].thread.is_some() || {
                    events[a].thread.is_some() && events[a].thread == events[b].thread
                })
        });
        let is_read = |event: &usize| matches!(events[*event].act, Act::Read { .. });
        let mut rf = Matrix::new(count, |_, _| false);
        for (thread, sources) in sources.iter().enumerate() {
            let reads = (0..count).filter(|event| events[*event].thread == Some(thread)).filter(is_read);
            for (read, source) in reads.zip(sources) {
                let Act::Read { at, .. } = events[read].act else { continue };
                let write = source.map_or(at, |(other, position)| first[other] + position);
                rf.insert(write, read);
            }
        }
        let updates = |event: usize| matches!(events[event].act, Act::Write { updates: true, .. });
        let rmw = Matrix::new(count, |a, b| a + 1 == b && updates(b));
        Candidate { events, sb, rf, rmw }
    }

    fn at(&self, event: usize) -> Option<usize> {
        match self.events[event].act {
            Act::Read { at, .. } | Act::Write { at, .. } => Some(at),
            Act::Fence(_) | Act::Barrier => None,
        }
    }

    fn mode(&self, event: usize) -> Mode {
        match self.events[event].act {
            Act::Read { mode, .. } | Act::Write { mode, .. } | Act::Fence(mode) => mode,
            Act::Barrier => Mode::AcquireRelease,
        }
    }

    fn is_write(&self, event: usize) -> bool {
        matches!(self.events[event].act, Act::Write { .. })
    }

    fn is_read(&self, event: usize) -> bool {
        matches!(self.events[event].act, Act::Read { .. })
    }

    fn is_fence(&self, event: usize) -> bool {
        matches!(self.events[event].act, Act::Fence(_) | Act::Barrier)
    }

    /// [E⊒rel]
    fn releases(&self, event: usize) -> bool {
        use Mode::{AcquireRelease, Release, SequentiallyConsistent};
        !self.is_read(event) && matches!(self.mode(event), Release | AcquireRelease | SequentiallyConsistent)
    }

    /// [E⊒acq]
    fn acquires(&self, event: usize) -> bool {
        use Mode::{Acquire, AcquireRelease, SequentiallyConsistent};
        !self.is_write(event) && matches!(self.mode(event), Acquire | AcquireRelease | SequentiallyConsistent)
    }

    /// The identity on some events.
    fn on(&self, holds: impl Fn(usize) -> bool) -> Matrix {
        Matrix::new(self.events.len(), |a, b| a == b && holds(a))
    }

    /// The pairs of a relation at one location.
    fn at_one_location(&self, relation: &Matrix) -> Matrix {
        let at = |a, b| relation.has(a, b) && self.at(a).is_some() && self.at(a) == self.at(b);
        Matrix::new(self.events.len(), at)
    }

    fn hb(&self) -> Matrix {
        let atomic = |event: usize| self.mode(event) != Mode::Plain;
        let [writes, atomic_writes, atomic_reads, fences] = [
            self.on(|event| self.is_write(event)),
            self.on(|event| self.is_write(event) && atomic(event)),
            self.on(|event| self.is_read(event) && atomic(event)),
            self.on(|event| self.is_fence(event)),
        ];
        let updates = self.rf.then(&self.rmw).closed().or_identity();
        let own = self.at_one_location(&self.sb).or_identity();
        let rs = writes.then(&own).then(&atomic_writes).then(&updates);
        let fence_before = fences.then(&self.sb).or_identity();
        let fence_behind = self.sb.then(&fences).or_identity();
        let sw = self.on(|event| self.releases(event)).then(&fence_before).then(&rs).then(&self.rf);
        let sw = sw.then(&atomic_reads).then(&fence_behind).then(&self.on(|event| self.acquires(event)));
        let barrier = |a: usize, b: usize| {
            let (x, y) = (&self.events[a], &self.events[b]);
            // A barrier itself has the number of those before it.
            let behind = y.phase > x.phase;
            x.act != Act::Barrier && x.thread.is_some() && y.thread.is_some() && behind
        };
        self.sb.or(&sw).or(&Matrix::new(self.events.len(), barrier)).closed()
    }
}

/// Every order of the items.
fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in permutations(rest) {
        for position in 0..=order.len() {
            let mut longer = order.clone();
            longer.insert(position, *first);
            all.push(longer);
        }
    }
    all
}

/// Adds what every modification order makes of a candidate.
fn judge(runs: &[Run], sources: &[Vec<Source>], found: &mut Found) {
    let candidate = Candidate::new(runs, sources);
    let count = candidate.events.len();
    let mut causes = candidate.sb.or(&candidate.rf);
    causes = causes.closed();
    let hb = candidate.hb();
    // NO-THIN-AIR
    if !causes.is_irreflexive() || !hb.is_irreflexive() {
        return;
    }
    let writes_to = |at: usize| -> Vec<usize> {
        (LOCATIONS..count)
            .filter(|event| candidate.is_write(*event) && candidate.at(*event) == Some(at))
            .collect()
    };
    let each: Vec<Vec<Vec<usize>>> = (0..LOCATIONS).map(|at| permutations(&writes_to(at))).collect();
    let mut chosen = vec![0; LOCATIONS];
    let mut is_execution = false;
    loop {
        let orders: Vec<&Vec<usize>> =
            each.iter().zip(&chosen).map(|(orders, index)| &orders[*index]).collect();
        if is_consistent(&candidate, &hb, &orders) {
            is_execution = true;
            found.outcomes.insert(outcome(&candidate, runs, &orders));
        }
        let Some(next) = (0..LOCATIONS).find(|at| chosen[*at] + 1 < each[*at].len()) else { break };
        chosen[next] += 1;
        chosen[..next].fill(0);
    }
    if is_execution {
        found.executions += 1;
        let races = |a: usize, b: usize| {
            let conflict = candidate.at(a).is_some()
                && candidate.at(a) == candidate.at(b)
                && (candidate.is_write(a) || candidate.is_write(b))
                && (candidate.mode(a) == Mode::Plain || candidate.mode(b) == Mode::Plain);
            a != b && conflict && !hb.has(a, b) && !hb.has(b, a)
        };
        found.is_racy |= (0..count).any(|a| (0..count).any(|b| races(a, b)));
    }
}

/// COHERENCE, ATOMICITY and SC.
fn is_consistent(candidate: &Candidate, hb: &Matrix, orders: &[&Vec<usize>]) -> bool {
    let count = candidate.events.len();
    let mut mo = Matrix::new(count, |_, _| false);
    for (at, order) in orders.iter().enumerate() {
        let all: Vec<usize> = std::iter::once(at).chain(order.iter().copied()).collect();
        for (position, write) in all.iter().enumerate() {
            all[position + 1..].iter().for_each(|later| mo.insert(*write, *later));
        }
    }
    let rb = candidate.rf.inverse().then(&mo);
    let eco = candidate.rf.or(&mo).or(&rb).closed();
    let atomicity = candidate.rmw.and(&rb.then(&mo));
    hb.then(&eco.or_identity()).is_irreflexive()
        && atomicity.is_empty()
        && is_sequentially_consistent(candidate, hb, (&mo, &rb, &eco))
}

fn is_sequentially_consistent(
    candidate: &Candidate,
    hb: &Matrix,
    (mo, rb, eco): (&Matrix, &Matrix, &Matrix),
) -> bool {
    let is_sc = |event: usize| candidate.mode(event) == Mode::SequentiallyConsistent;
    let all = candidate.on(is_sc);
    let fences = candidate.on(|event| is_sc(event) && candidate.is_fence(event));
    if all.is_empty() {
        return true;
    }
    let elsewhere = candidate.sb.without(&candidate.at_one_location(&candidate.sb));
    let scb = candidate
        .sb
        .or(&elsewhere.then(hb).then(&elsewhere))
        .or(&candidate.at_one_location(hb))
        .or(mo)
        .or(rb);
    let from = all.or(&fences.then(&hb.or_identity()));
    let to = all.or(&hb.or_identity().then(&fences));
    let psc_base = from.then(&scb).then(&to);
    let psc_fences = fences.then(&hb.or(&hb.then(eco).then(hb))).then(&fences);
    psc_base.or(&psc_fences).closed().is_irreflexive()
}

/// The shared words and the results.
fn outcome(candidate: &Candidate, runs: &[Run], orders: &[&Vec<usize>]) -> Vec<u32> {
    let left = orders.iter().map(|order| match order.last().map(|last| &candidate.events[*last].act) {
        Some(Act::Write { value, .. }) => *value,
        _ => 0,
    });
    left.chain(runs.iter().flat_map(|run| run.registers)).collect()
}
