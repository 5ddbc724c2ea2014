//! Tangles: the invocations of a subgroup at the same dynamic instance of a subgroup operation, or of a
//! control barrier of Subgroup scope. They wait for those that may still come to it, and go on together.
//! Operations order no memory, and are no events.

use std::sync::Arc;

use super::barriers;
use super::found::Found;
use super::search::Search;
use super::state::{State, Status, Thread};
use crate::behaviour::{Bug, PathEnd, Undecided};
use crate::dispatch::Dispatch;
use crate::event::{InstanceName, Scope, Wait};
use crate::interp::barrier::loops_around;
use crate::interp::convergence::classes;
use crate::interp::{subgroup, Convergence, Invocation, Stop};
use crate::ir::{FunctionId, InstId, Line, LoopId, Op, Program};
use crate::value::Scalar;

/// An invocation at a subgroup operation.
pub(super) struct Gathered {
    pub(super) name: InstanceName,
    /// Subgroup, or Workgroup for cooperative matrices.
    pub(super) scope: Scope,
    pub(super) line: Line,
}

/// Classes of invocations whose partitions are all tried.
const MAX_CLASSES: usize = 4;

/// What releasing came to.
pub(super) enum Released {
    Nobody,
    Some,
    /// The path cannot be followed.
    Ended(PathEnd),
}

/// The invocations of each subgroup, ascending.
pub(super) fn subgroups(dispatch: &Dispatch) -> Vec<Vec<usize>> {
    let count = dispatch.places.iter().map(|place| place.subgroup as usize + 1).max().unwrap_or(0);
    let mut subgroups = vec![Vec::new(); count];
    for (index, place) in dispatch.places.iter().enumerate() {
        if let Some(members) = subgroups.get_mut(place.subgroup as usize) {
            members.push(index);
        }
    }
    subgroups
}

/// The invocations of each workgroup, ascending.
pub(super) fn workgroups(dispatch: &Dispatch) -> Vec<Vec<usize>> {
    let count = dispatch.places.iter().map(|place| place.workgroup as usize + 1).max().unwrap_or(0);
    let mut workgroups = vec![Vec::new(); count];
    for (index, place) in dispatch.places.iter().enumerate() {
        if let Some(members) = workgroups.get_mut(place.workgroup as usize) {
            members.push(index);
        }
    }
    workgroups
}

/// Whose invocations act together where an invocation stands.
pub(super) fn scope_at(status: &Status) -> Scope {
    match status {
        Status::Subgroup(gathered) => gathered.scope,
        Status::Barrier(_)
        | Status::Running
        | Status::Reading { .. }
        | Status::Finished
        | Status::Faulted
        | Status::Forever => Scope::Subgroup,
    }
}

/// The instance that an invocation waits at with those of its subgroup, or workgroup.
pub(super) fn name_at(status: &Status) -> Option<(&InstanceName, Line)> {
    match status {
        Status::Subgroup(gathered) => Some((&gathered.name, gathered.line)),
        Status::Barrier(arrived)
            if arrived.execution == Scope::Subgroup && arrived.waits == Wait::Everybody =>
        {
            Some((&arrived.name, arrived.line))
        }
        Status::Barrier(_)
        | Status::Running
        | Status::Reading { .. }
        | Status::Finished
        | Status::Faulted
        | Status::Forever => None,
    }
}

/// Whom a tangle waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// Nobody else may come.
    Ready,
    /// Who may come waits at another operation or barrier.
    Standing,
    /// Who may come is on the way.
    Waiting,
}

impl Search<'_> {
    /// Those of an invocation's subgroup, or workgroup, that stand at its instance.
    pub(super) fn tangle(&self, state: &State, index: usize) -> Vec<usize> {
        let Some((name, _)) = name_at(&state.threads[index].status) else { return Vec::new() };
        let is_here =
            |other: &usize| name_at(&state.threads[*other].status).is_some_and(|(other, _)| other == name);
        self.group_of(state, index).iter().copied().filter(is_here).collect()
    }

    /// The invocations that may act together with one that stands at an operation.
    fn group_of(&self, state: &State, index: usize) -> &[usize] {
        let Some(place) = self.context.dispatch.places.get(index) else { return &[] };
        let group = match scope_at(&state.threads[index].status) {
            Scope::Workgroup => self.context.workgroups.get(place.workgroup as usize),
            Scope::Invocation | Scope::Subgroup | Scope::QueueFamily | Scope::Device | Scope::CrossDevice => {
                self.context.subgroups.get(place.subgroup as usize)
            }
        };
        group.map_or(&[], Vec::as_slice)
    }

    /// Whether the others of the subgroup, or workgroup, may still come to where `here` stand.
    pub(super) fn readiness(&self, state: &State, here: &[usize]) -> Readiness {
        let Some(first) = here.first() else { return Readiness::Waiting };
        let Some((name, _)) = name_at(&state.threads[*first].status) else { return Readiness::Waiting };
        let mut readiness = Readiness::Ready;
        let mut here = here.iter().peekable();
        for other in self.group_of(state, *first) {
            // Both are ascending.
            if here.next_if_eq(&other).is_some() {
                continue;
            }
            match self.awaited(&state.threads[*other], name) {
                Readiness::Ready => {}
                Readiness::Standing => readiness = Readiness::Standing,
                Readiness::Waiting => return Readiness::Waiting,
            }
        }
        readiness
    }

    fn awaited(&self, thread: &Thread, name: &InstanceName) -> Readiness {
        let may_come = |from: &InstanceName, comes| match self.context.order.may_come(from, name) {
            true => comes,
            false => Readiness::Ready,
        };
        match &thread.status {
            Status::Finished | Status::Faulted | Status::Forever => Readiness::Ready,
            Status::Subgroup(gathered) => may_come(&gathered.name, Readiness::Standing),
            Status::Barrier(arrived) => may_come(&arrived.name, Readiness::Standing),
            Status::Reading { .. } | Status::Running => {
                may_come(&thread.invocation.instance_name(self.context.program), Readiness::Waiting)
            }
        }
    }

    /// Lets a tangle go on.
    pub(super) fn pass_tangle(&self, state: &mut State, here: &[usize], found: &mut Found) -> Released {
        let Some(first) = here.first() else { return Released::Nobody };
        let Some((_, line)) = name_at(&state.threads[*first].status) else { return Released::Nobody };
        let classes = self.classes(state, here);
        if classes.len() > 1 && !self.is_indifferent(state, here, &classes) {
            state.diverged.get_or_insert(line);
        }
        if matches!(state.threads[*first].status, Status::Barrier(_)) {
            self.pass_barrier(state, here);
            return Released::Some;
        }
        barriers::note_meeting(state, here);
        let program = self.context.program;
        let members: Vec<&Invocation> = here.iter().map(|index| &*state.threads[*index].invocation).collect();
        match subgroup::evaluate(program, self.context.dispatch, &members) {
            Ok(result) => {
                for (index, values) in here.iter().zip(&result.values) {
                    let thread = &mut state.threads[*index];
                    Arc::make_mut(&mut thread.invocation).supply_subgroup(program, values, result.inexact);
                    thread.passes += 1;
                    thread.status = Status::Running;
                }
                Released::Some
            }
            Err(stop) => match *stop {
                Stop::Fault(fault) => {
                    let thread = &mut state.threads[*first];
                    thread.fault.get_or_insert_with(|| Arc::new(fault));
                    thread.status = Status::Faulted;
                    Released::Some
                }
                Stop::Unsupported { line, what } => {
                    found.undecided.insert(Undecided::Unsupported { line, what });
                    Released::Ended(PathEnd::Unsupported)
                }
                other => {
                    let bug = Bug::UnexpectedStop { line, stop: format!("{other:?}") };
                    found.undecided.insert(Undecided::Bug(bug));
                    Released::Ended(PathEnd::Unsupported)
                }
            },
        }
    }

    /// Those of `here`, by position, who certainly execute the same dynamic instance.
    fn classes(&self, state: &State, here: &[usize]) -> Vec<Vec<usize>> {
        let way = |index: &usize| state.threads[*index].invocation.convergence();
        let Some(first) = here.first() else { return Vec::new() };
        // A workgroup's named instance is one, as a control barrier's is.
        if scope_at(&state.threads[*first].status) == Scope::Workgroup {
            return vec![(0..here.len()).collect()];
        }
        let ways: Option<Vec<&Convergence>> = here.iter().map(way).collect();
        let all: Option<Vec<&Convergence>> = self.group_of(state, *first).iter().map(way).collect();
        match ways.zip(all) {
            Some((ways, all)) => classes(&ways, &all),
            // Litmus tests have no constructs.
            None => vec![(0..here.len()).collect()],
        }
    }

    /// Whether a subgroup operation gives everybody the same however the classes are put together.
    fn is_indifferent(&self, state: &State, here: &[usize], classes: &[Vec<usize>]) -> bool {
        let operates = |index: &usize| matches!(state.threads[*index].status, Status::Subgroup(_));
        if classes.len() > MAX_CLASSES || !here.iter().all(operates) {
            return false;
        }
        let results = |parts: &[usize]| -> Option<Vec<Vec<Scalar>>> {
            let mut results = vec![Vec::new(); here.len()];
            for part in 0..classes.len() {
                let joined = classes.iter().zip(parts).filter(|(_, own)| **own == part);
                let mut positions: Vec<usize> = joined.flat_map(|(class, _)| class.iter().copied()).collect();
                positions.sort_unstable();
                let invocation = |position: &usize| Some(&*state.threads[*here.get(*position)?].invocation);
                let members: Option<Vec<&Invocation>> = positions.iter().map(invocation).collect();
                let found =
                    subgroup::evaluate(self.context.program, self.context.dispatch, &members?).ok()?;
                for (position, values) in positions.iter().zip(found.values) {
                    *results.get_mut(*position)? = values.to_vec();
                }
            }
            Some(results)
        };
        let Some(together) = results(&vec![0; classes.len()]) else { return false };
        let mut same = true;
        for_each_partition(classes.len(), &mut Vec::new(), &mut |parts| {
            same = same && results(parts).as_ref() == Some(&together);
        });
        same
    }

    /// Whether the path rests on who reconverged with whom, which the implementation decides: then nothing
    /// that it comes to counts.
    pub(super) fn rests_on_reconvergence(&self, state: &State, found: &mut Found) -> bool {
        match state.diverged {
            Some(line) if !self.context.settings.structural_reconvergence => {
                found.undecided.insert(Undecided::Reconvergence { line });
                true
            }
            Some(_) | None => false,
        }
    }
}

/// Calls back with every partition of `count` things: the number of each one's part.
fn for_each_partition(count: usize, parts: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
    if parts.len() == count {
        return visit(parts);
    }
    let next = parts.iter().max().map_or(0, |last| last + 1);
    for part in 0..=next {
        parts.push(part);
        for_each_partition(count, parts, visit);
        parts.pop();
    }
}

/// Which named instances an invocation may come to from where it is: by the blocks, and the iterations of
/// the loops around them.
pub(super) struct InstanceOrder<'a> {
    program: &'a Program,
    /// Per function and block, the blocks that follow it without a back edge, itself included.
    forward: Vec<Vec<Vec<u64>>>,
}

impl<'a> InstanceOrder<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let forward = match program.modes.tangles {
            true => program.functions.iter().map(forward).collect(),
            false => Vec::new(),
        };
        InstanceOrder { program, forward }
    }

    /// Whether an invocation at `from` may come to the instance `to`.
    fn may_come(&self, from: &InstanceName, to: &InstanceName) -> bool {
        for ((at, iterations), (target, wanted)) in from.path.iter().zip(&to.path) {
            if (at, iterations) != (target, wanted) {
                return self.comes_to(*at, iterations, *target, wanted);
            }
        }
        true
    }

    /// Within one activation of a function.
    fn comes_to(&self, at: InstId, iterations: &[u32], target: InstId, wanted: &[u32]) -> bool {
        let (own, others) = (loops_around(self.program, at), loops_around(self.program, target));
        let mut common = 0;
        for (id, other) in own.iter().zip(others) {
            if id != other {
                break;
            }
            match iterations.get(common).cmp(&wanted.get(common)) {
                std::cmp::Ordering::Less => return true,
                std::cmp::Ordering::Greater => return false,
                std::cmp::Ordering::Equal => common += 1,
            }
        }
        let FunctionId(function) = at.function;
        let (Some(code), Some(forward)) =
            (self.program.functions.get(function as usize), self.forward.get(function as usize))
        else {
            return true;
        };
        let block = |inst: InstId| code.blocks.partition_point(|block| block.start <= inst.index) - 1;
        let (from, to) = (block(at), block(target));
        if from == to && target.index > at.index {
            return true;
        }
        let reaches =
            |source: usize| forward.get(source).is_some_and(|row| row[to / 64] >> (to % 64) & 1 == 1);
        // Out of the loops that the target is not in, it may go round once more.
        let header = |id: &LoopId| code.loops.get(id.0 as usize).map(|inner| inner.header as usize);
        from != to && reaches(from) || own.iter().skip(common).filter_map(header).any(reaches)
    }
}

/// For each block, the set of blocks that follow it without a back edge.
fn forward(function: &crate::ir::Function) -> Vec<Vec<u64>> {
    let count = function.blocks.len();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, block) in function.blocks.iter().enumerate() {
        let end = function.blocks.get(number + 1).map_or(function.code.len(), |next| next.start as usize);
        let last = function.code.get(block.start as usize..end).and_then(<[_]>::last);
        let edges = last.map_or(Vec::new(), |inst| match &inst.op {
            op @ Op::Control(_) => op.edges(),
            _ => Vec::new(),
        });
        successors[number] =
            edges.iter().filter(|edge| edge.repeats.is_none()).map(|edge| edge.target as usize).collect();
    }
    let mut follows: Vec<Option<Vec<u64>>> = vec![None; count];
    for start in 0..count {
        // Depth first, so that what follows a block is known before the block is.
        let mut stack = vec![(start, 0)];
        while let Some((block, next)) = stack.pop() {
            if follows[block].is_some() {
                continue;
            }
            match successors[block].get(next) {
                Some(&successor) => {
                    stack.push((block, next + 1));
                    if follows[successor].is_none() && stack.len() <= count {
                        stack.push((successor, 0));
                    }
                }
                None => {
                    let mut row = vec![0; count.div_ceil(64)];
                    row[block / 64] |= 1 << (block % 64);
                    for successor in &successors[block] {
                        for (word, more) in row.iter_mut().zip(follows[*successor].iter().flatten()) {
                            *word |= more;
                        }
                    }
                    follows[block] = Some(row);
                }
            }
        }
    }
    follows.into_iter().map(Option::unwrap_or_default).collect()
}
