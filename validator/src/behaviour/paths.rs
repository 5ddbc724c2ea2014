//! The account of a search: every path that it starts ends in exactly one way, each with a name.

/// How a path of a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathEnd {
    /// At the end of every invocation: one graph, hence one or several executions.
    Execution,
    /// At a lasso: a finite execution and a segment that repeats.
    Hang,
    /// At undefined behaviour (docs/semantics.md, section 2.2).
    Undefined,

    /// Cut: turns of a loop that bring an invocation back to the same state, but write.
    SpinBound,
    /// Cut: instructions of one execution.
    MaxInstructions,
    /// Cut: a budget of the whole search ran out.
    Budget,
    /// Cut: scoped modification orders of one graph.
    OrdersOfWrites,
    /// Cut: values or invocations that could not be followed; the search is undecided.
    Unsupported,
    /// Cut: who reconverged with whom is the implementation's; the search is undecided.
    Reconvergence,

    /// Rejected by the axioms: location order, scoped modification order, reads-from and from-reads have a cycle at a
    /// location, or a read takes what is shadowed.
    Consistency,
    /// Rejected: a read speculated a value that no write of the path came to produce.
    OutOfThinAir,
    /// Rejected by the fairness of progress: a read waits for a write that never comes, though the writes that are
    /// there let it go on. It reads one of those in the paths where it does not wait.
    Fairness,
    /// Rejected by the program: it says of the execution that it does not count ([`Op::Require`](crate::ir::Op)), or
    /// barriers are told to come in orders that contradict each other.
    Discarded,

    /// Rejected: undefined behaviour that comes only after an endless loop without effects was left.
    Excused,

    /// Equal to the path without the turn of a loop that changed nothing.
    IdleTurn,

    /// Equal to the path without a read whose value a compare-exchange found to be stale.
    StaleTurn,

    /// Equal, from here on, to a path that came to a state with the same future.
    SameFuture,

    /// What the round took for granted was wrong: the path is in the next round.
    Relearned,
}

/// What a way to end says of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndKind {
    /// It is a behaviour of the program.
    Result,
    /// A bound or a budget cut it, or it could not be followed.
    Cut,
    /// It is no execution, or does not count as one.
    Rejected,
    /// Another path stands for it.
    Equal,
    /// The next round has it again.
    Relearned,
}

impl PathEnd {
    /// All ways, in the order in which reports list them.
    pub const ALL: [PathEnd; 18] = [
        PathEnd::Execution,
        PathEnd::Hang,
        PathEnd::Undefined,
        PathEnd::SpinBound,
        PathEnd::MaxInstructions,
        PathEnd::Budget,
        PathEnd::OrdersOfWrites,
        PathEnd::Unsupported,
        PathEnd::Reconvergence,
        PathEnd::Consistency,
        PathEnd::OutOfThinAir,
        PathEnd::Fairness,
        PathEnd::Discarded,
        PathEnd::Excused,
        PathEnd::IdleTurn,
        PathEnd::StaleTurn,
        PathEnd::SameFuture,
        PathEnd::Relearned,
    ];

    /// What it says of the path.
    pub const fn kind(self) -> EndKind {
        match self {
            PathEnd::Execution | PathEnd::Hang | PathEnd::Undefined => EndKind::Result,
            PathEnd::SpinBound
            | PathEnd::MaxInstructions
            | PathEnd::Budget
            | PathEnd::OrdersOfWrites
            | PathEnd::Unsupported
            | PathEnd::Reconvergence => EndKind::Cut,
            PathEnd::Consistency
            | PathEnd::OutOfThinAir
            | PathEnd::Fairness
            | PathEnd::Discarded
            | PathEnd::Excused => EndKind::Rejected,
            PathEnd::IdleTurn | PathEnd::StaleTurn | PathEnd::SameFuture => EndKind::Equal,
            PathEnd::Relearned => EndKind::Relearned,
        }
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            PathEnd::Execution => "execution",
            PathEnd::Hang => "hang",
            PathEnd::Undefined => "undefined",
            PathEnd::SpinBound => "spin-bound",
            PathEnd::MaxInstructions => "max-instructions",
            PathEnd::Budget => "budget",
            PathEnd::OrdersOfWrites => "orders-of-writes",
            PathEnd::Unsupported => "unsupported",
            PathEnd::Reconvergence => "reconvergence",
            PathEnd::Consistency => "consistency",
            PathEnd::OutOfThinAir => "out-of-thin-air",
            PathEnd::Fairness => "fairness",
            PathEnd::Discarded => "discarded",
            PathEnd::Excused => "excused",
            PathEnd::IdleTurn => "idle-turn",
            PathEnd::StaleTurn => "stale-turn",
            PathEnd::SameFuture => "same-future",
            PathEnd::Relearned => "relearned",
        }
    }
}

/// How many paths a search started, and how they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    started: u64,
    speculated: u64,
    ended: [u64; PathEnd::ALL.len()],
}

impl Paths {
    /// The first path of a tree.
    pub(crate) fn start(&mut self) {
        self.started += 1;
    }

    /// One path goes on as so many; as none where it ends, which is to be told as well.
    pub(crate) fn branch(&mut self, ways: usize) {
        self.started += (ways as u64).saturating_sub(1);
    }

    /// A path goes on with a read that takes the value of a write to come.
    pub(crate) fn speculate(&mut self) {
        self.speculated += 1;
    }

    pub(crate) fn end(&mut self, end: PathEnd) {
        self.ended[end as usize] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Paths) {
        self.started += other.started;
        self.speculated += other.speculated;
        for (count, more) in self.ended.iter_mut().zip(other.ended) {
            *count += more;
        }
    }

    /// Paths that were started.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Values of writes to come that reads were given.
    pub fn speculated(&self) -> u64 {
        self.speculated
    }

    /// Paths that ended in this way.
    pub fn ended(&self, end: PathEnd) -> u64 {
        self.ended[end as usize]
    }

    /// Paths that ended in ways of this kind.
    pub fn ended_as(&self, kind: EndKind) -> u64 {
        PathEnd::ALL.into_iter().filter(|end| end.kind() == kind).map(|end| self.ended(end)).sum()
    }

    /// Paths that ended in some way.
    pub fn ended_in_all(&self) -> u64 {
        self.ended.iter().sum()
    }

    /// Whether every path has come to its end.
    pub fn is_whole(&self) -> bool {
        self.started == self.ended_in_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_numbered_in_their_order() {
        for (number, end) in PathEnd::ALL.into_iter().enumerate() {
            assert_eq!(end as usize, number, "{end:?}");
        }
    }

    #[test]
    fn an_account_is_whole_when_every_path_has_ended_once() {
        let mut paths = Paths::default();
        paths.start();
        paths.branch(3);
        paths.end(PathEnd::Execution);
        paths.end(PathEnd::IdleTurn);
        assert!(!paths.is_whole());
        paths.end(PathEnd::Consistency);
        assert!(paths.is_whole());
        paths.end(PathEnd::Hang);
        assert!(!paths.is_whole());
        assert_eq!((paths.started(), paths.ended_as(EndKind::Result)), (3, 2));
    }
}
