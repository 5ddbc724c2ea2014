//! Release sequences, synchronizes-with, inter-thread-happens-before and happens-before.

use std::collections::BTreeSet;

use super::model::{Classes, Execution, Operation, ReadsFrom, Source};
use super::relation::Relation;
use super::rule::Rule;

/// What atomics synchronize through: X heads a release sequence (perhaps a hypothetical one), and Y
/// reads a value written by X or by another member.
struct Observed<'e> {
    mutual: &'e Relation,
    /// Y reads a value of the sequence that X heads.
    reads_sequence: Relation,
    /// Pairs of an atomic write X and an atomic read Y.
    candidates: Vec<(usize, usize)>,
}

impl Execution {
    /// The release sequence headed by `head`: the longest continuous subsequence of its scoped
    /// modification order of it and of read-modify-writes after it.
    fn release_sequence(&self, head: usize, mutual: &Relation, order: &Relation) -> BTreeSet<usize> {
        let in_order: Vec<usize> = (0..self.size())
            .filter(|&write| {
                write != head
                    && self.operations[write].writes()
                    && mutual.contains(head, write)
                    && self.when(Rule::ReleaseSequenceAfterHead, order.contains(head, write))
            })
            .collect();
        let may_be_member = |write: usize| {
            let of_head = self.operations[write].agent == self.operations[head].agent;
            let agent = of_head || !self.is_altered(Rule::ReleaseSequenceAnyAgent);
            let by_head = self.is_altered(Rule::ReleaseSequenceUpdates) && of_head;
            agent && (by_head || self.when(Rule::ReleaseSequenceUpdates, self.operations[write].reads()))
        };
        let mut sequence: BTreeSet<usize> =
            in_order.iter().copied().filter(|&write| may_be_member(write)).collect();
        // Drop what is not joined to the head without a gap, until nothing is left to drop.
        while let Some(&cut) = sequence.iter().find(|&&member| {
            let gap = in_order
                .iter()
                .any(|&between| order.contains(between, member) && !sequence.contains(&between));
            !self.when(Rule::ReleaseSequenceContinuous, !gap)
        }) {
            sequence.remove(&cut);
        }
        if self.is_altered(Rule::ReleaseSequenceLongest) {
            let whole = sequence.clone();
            sequence.retain(|&member| !whole.iter().any(|&other| order.contains(other, member)));
        }
        if self.either(Rule::ReleaseSequenceHead, true) {
            sequence.insert(head);
        }
        sequence
    }

    fn observed<'e>(&self, reads_from: &ReadsFrom, mutual: &'e Relation, order: &Relation) -> Observed<'e> {
        let size = self.size();
        let atomics = |wanted: fn(&Operation) -> bool| -> Vec<usize> {
            let holds = |id: &usize| self.operations[*id].is_atomic() && wanted(&self.operations[*id]);
            (0..size).filter(holds).collect()
        };
        let (writes, reads) = (atomics(Operation::writes), atomics(Operation::reads));
        let mut reads_sequence = Relation::empty(size);
        for &head in &writes {
            let sequence = self.release_sequence(head, mutual, order);
            for (&(read, _), source) in reads_from {
                if matches!(source, Source::Write(write) if sequence.contains(write)) {
                    reads_sequence.insert(head, read);
                }
            }
        }
        let candidates = writes.iter().flat_map(|&x| reads.iter().map(move |&y| (x, y))).collect();
        Observed { mutual, reads_sequence, candidates }
    }

    /// Synchronizes-with: five shapes.
    pub fn synchronizes_with(&self, reads_from: &ReadsFrom, mutual: &Relation, order: &Relation) -> Relation {
        let observed = self.observed(reads_from, mutual, order);
        self.relation(|i, _, j, _| {
            self.relates(Rule::AtomicAtomic, i, j, |a, b| self.atomic_to_atomic(&observed, a, b))
                || self.relates(Rule::BarrierAtomic, i, j, |a, b| self.barrier_to_atomic(&observed, a, b))
                || self.relates(Rule::AtomicBarrier, i, j, |a, b| self.atomic_to_barrier(&observed, a, b))
                || self.relates(Rule::BarrierBarrier, i, j, |a, b| self.barrier_to_barrier(&observed, a, b))
                || self.relates(Rule::ControlBarrier, i, j, |a, b| self.control_barrier(a, b))
        })
    }

    fn atomic_to_atomic(&self, observed: &Observed, i: usize, j: usize) -> bool {
        let (a, b) = (&self.operations[i], &self.operations[j]);
        observed.candidates.contains(&(i, j))
            && self.when(Rule::AtomicAtomicRelease, a.performs_release())
            && self.when(Rule::AtomicAtomicAcquire, b.performs_acquire())
            && self.when(Rule::AtomicAtomicMutuallyOrdered, observed.mutual.contains(i, j))
            && self.when(Rule::AtomicAtomicReads, observed.reads_sequence.contains(i, j))
    }

    /// "X's storage class is in A's semantics."
    fn is_in_semantics(&self, access: usize, barrier: &Operation) -> bool {
        let class = self.operations[access].memory_classes();
        barrier.semantics.classes & class == class
    }

    fn barrier_to_atomic(&self, observed: &Observed, i: usize, j: usize) -> bool {
        let (a, b) = (&self.operations[i], &self.operations[j]);
        let scopes = [Rule::BarrierAtomicFirstInScope, Rule::BarrierAtomicSecondInScope];
        a.is_barrier()
            && self.when(Rule::BarrierAtomicRelease, a.is_release())
            && self.when(Rule::BarrierAtomicAcquire, b.performs_acquire())
            && self.in_each_others_scopes(scopes, a, b)
            && observed.candidates.iter().any(|&(x, y)| {
                y == j
                    && self.when(Rule::BarrierAtomicProgramOrder, self.program_ordered(i, x))
                    && self.when(Rule::BarrierAtomicMutuallyOrdered, observed.mutual.contains(x, y))
                    && self.when(Rule::BarrierAtomicReads, observed.reads_sequence.contains(x, y))
                    && (self.operations[x].is_release() || self.either(Rule::BarrierAtomicHypothetical, true))
                    && self.when(Rule::BarrierAtomicClass, self.is_in_semantics(x, a))
            })
    }

    fn atomic_to_barrier(&self, observed: &Observed, i: usize, j: usize) -> bool {
        let (a, b) = (&self.operations[i], &self.operations[j]);
        let scopes = [Rule::AtomicBarrierFirstInScope, Rule::AtomicBarrierSecondInScope];
        b.is_barrier()
            && self.when(Rule::AtomicBarrierRelease, a.performs_release())
            && self.when(Rule::AtomicBarrierAcquire, b.is_acquire())
            && self.in_each_others_scopes(scopes, a, b)
            && observed.candidates.iter().any(|&(x, y)| {
                x == i
                    && self.when(Rule::AtomicBarrierProgramOrder, self.program_ordered(y, j))
                    && self.when(Rule::AtomicBarrierMutuallyOrdered, observed.mutual.contains(x, y))
                    && self.when(Rule::AtomicBarrierReads, observed.reads_sequence.contains(x, y))
                    && self.when(Rule::AtomicBarrierClass, self.is_in_semantics(y, b))
            })
    }

    fn barrier_to_barrier(&self, observed: &Observed, i: usize, j: usize) -> bool {
        let (a, b) = (&self.operations[i], &self.operations[j]);
        let scopes = [Rule::BarrierBarrierFirstInScope, Rule::BarrierBarrierSecondInScope];
        a.is_barrier()
            && b.is_barrier()
            && self.when(Rule::BarrierBarrierRelease, a.is_release())
            && self.when(Rule::BarrierBarrierAcquire, b.is_acquire())
            && self.in_each_others_scopes(scopes, a, b)
            && observed.candidates.iter().any(|&(x, y)| {
                self.when(Rule::BarrierBarrierReleaseProgramOrder, self.program_ordered(i, x))
                    && self.when(Rule::BarrierBarrierAcquireProgramOrder, self.program_ordered(y, j))
                    && self.when(Rule::BarrierBarrierMutuallyOrdered, observed.mutual.contains(x, y))
                    && self.when(Rule::BarrierBarrierReads, observed.reads_sequence.contains(x, y))
                    && (self.operations[x].is_release()
                        || self.either(Rule::BarrierBarrierHypothetical, true))
                    && self.when(Rule::BarrierBarrierReleaseClass, self.is_in_semantics(x, a))
                    && self.when(Rule::BarrierBarrierAcquireClass, self.is_in_semantics(y, b))
            })
    }

    /// Release barrier A, control barrier C (of which each agent executes an operation), acquire barrier B.
    fn control_barrier(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.operations[i], &self.operations[j]);
        let scopes = [Rule::ControlBarrierFirstInScope, Rule::ControlBarrierSecondInScope];
        let up_to = |c: usize| {
            self.when(Rule::ControlBarrierReleaseProgramOrder, self.program_ordered(i, c))
                && a.agent == self.operations[c].agent
                && i != c
                || self.either(Rule::ControlBarrierReleaseEquals, i == c)
        };
        let from = |d: usize| {
            self.when(Rule::ControlBarrierAcquireProgramOrder, self.program_ordered(d, j))
                && b.agent == self.operations[d].agent
                && d != j
                || self.either(Rule::ControlBarrierAcquireEquals, d == j)
        };
        let controls = || {
            let control = |(id, operation): (usize, &Operation)| operation.control().map(|c| (id, c));
            self.operations.iter().enumerate().filter_map(control)
        };
        a.is_barrier()
            && b.is_barrier()
            && self.when(Rule::ControlBarrierRelease, a.is_release())
            && self.when(Rule::ControlBarrierAcquire, b.is_acquire())
            && self.in_each_others_scopes(scopes, a, b)
            && controls().any(|(c, (instance, execution))| {
                let together = self.same_instance(execution, a.agent, b.agent);
                up_to(c)
                    && self.when(Rule::ControlBarrierExecutionScope, together)
                    && controls().any(|(d, (other, _))| {
                        from(d) && self.when(Rule::ControlBarrierSameInstance, other == instance)
                    })
            })
    }

    /// "All of SC in its semantics"; altered: some of it.
    fn has_all(&self, rule: Rule, operation: &Operation, classes: Classes) -> bool {
        let common = operation.semantic_classes() & classes;
        self.when(rule, if self.is_altered(rule) { common != 0 } else { common == classes })
    }

    /// "An operation on memory in a storage class in SC or that has all of SC in its semantics": rules for
    /// these two.
    fn concerns(&self, [memory, semantics]: [Rule; 2], operation: &Operation, classes: Classes) -> bool {
        let common = operation.semantic_classes() & classes;
        let has_semantics = if self.is_altered(semantics) { common != 0 } else { common == classes };
        self.either(memory, operation.memory_classes() & classes != 0)
            || self.either(semantics, has_semantics)
    }

    /// Inter-thread-happens-before for one set of storage classes, before the transitive closure.
    fn inter_thread_steps(&self, classes: Classes, synchronizes_with: &Relation) -> Relation {
        let release = |i: usize, j: usize| {
            let (a, b) = (&self.operations[i], &self.operations[j]);
            let concerns = [Rule::InterThreadReleaseMemory, Rule::InterThreadReleaseSemantics];
            self.concerns(concerns, a, classes)
                && self.when(Rule::InterThreadReleaseIsRelease, b.is_release())
                && self.has_all(Rule::InterThreadReleaseHasAll, b, classes)
                && self.when(Rule::InterThreadReleaseProgramOrder, self.program_ordered(i, j))
        };
        let acquire = |i: usize, j: usize| {
            let (a, b) = (&self.operations[i], &self.operations[j]);
            let concerns = [Rule::InterThreadAcquireMemory, Rule::InterThreadAcquireSemantics];
            self.when(Rule::InterThreadAcquireIsAcquire, a.is_acquire())
                && self.has_all(Rule::InterThreadAcquireHasAll, a, classes)
                && self.concerns(concerns, b, classes)
                && self.when(Rule::InterThreadAcquireProgramOrder, self.program_ordered(i, j))
        };
        let synchronizes = |i: usize, j: usize| {
            synchronizes_with.contains(i, j)
                && self.has_all(Rule::InterThreadFirstHasAll, &self.operations[i], classes)
                && self.has_all(Rule::InterThreadSecondHasAll, &self.operations[j], classes)
        };
        let system = |i: usize, j: usize| {
            let limited = self.is_altered(Rule::SystemSynchronizesWithAllClasses) && classes != 1;
            self.system_synchronizes_with.contains(i, j) && !limited
        };
        self.relation(|i, _, j, _| {
            self.relates(Rule::InterThreadSystem, i, j, system)
                || self.relates(Rule::InterThreadSynchronizes, i, j, synchronizes)
                || self.relates(Rule::InterThreadRelease, i, j, release)
                || self.relates(Rule::InterThreadAcquire, i, j, acquire)
        })
    }

    fn inter_thread_happens_before(&self, classes: Classes, synchronizes_with: &Relation) -> Relation {
        let steps = self.inter_thread_steps(classes, synchronizes_with);
        match self.is_dropped(Rule::InterThreadTransitive) {
            true => steps,
            false => steps.transitive_closure(),
        }
    }

    /// Happens-before: program order, or inter-thread-happens-before for some set of classes.
    pub fn happens_before(&self, synchronizes_with: &Relation) -> Relation {
        let all: Classes =
            self.operations.iter().map(|o| o.memory_classes() | o.semantic_classes()).fold(0, |a, b| a | b);
        // Where no storage class occurs, one that does not; there may be system-synchronizes-with.
        let all = if all == 0 { 1 } else { all };
        let first = if self.is_dropped(Rule::InterThreadSetNotEmpty) { 0 } else { 1 };
        let is_set = |classes: &Classes| {
            let several = classes.count_ones() > 1;
            classes & !all == 0 && !(several && self.is_dropped(Rule::InterThreadSeveralClasses))
        };
        let sets = (first..=all).filter(is_set);
        let mut inter_thread = Relation::empty(self.size());
        for classes in sets {
            let one = match self.is_dropped(Rule::InterThreadOneSet) {
                true => self.inter_thread_steps(classes, synchronizes_with),
                false => self.inter_thread_happens_before(classes, synchronizes_with),
            };
            inter_thread = inter_thread.union(&one);
        }
        if self.is_dropped(Rule::InterThreadOneSet) {
            inter_thread = inter_thread.transitive_closure();
        }
        let before = self.relation(|i, _, j, _| {
            self.relates(Rule::HappensBeforeProgramOrder, i, j, |a, b| self.program_ordered(a, b))
                || self.relates(Rule::HappensBeforeInterThread, i, j, |a, b| inter_thread.contains(a, b))
        });
        match self.is_dropped(Rule::HappensBeforeNotTransitive) {
            true => before.transitive_closure(),
            false => before,
        }
    }
}
