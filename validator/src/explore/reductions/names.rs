//! The names of the reductions, and sets of them.

/// A reduction of the search, as `--without` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionName {
    /// Races of plain accesses that one interleaving shows are found before the search.
    EarlyRaces,
    /// Groups of invocations that do not communicate with each other are searched one by one.
    Components,
    /// Invocations that may change places are explored in one order only.
    Symmetry,
    /// States with the same future are explored once.
    Merging,
    /// Invocations that communicate no more end independently of each other.
    IndependentSuffixes,
    /// Retry loops do not read values that would only turn out to be stale.
    StaleReads,
    /// Reads are left out after which a retry loop only finds out that the value is stale.
    DeadEnds,
    /// Accesses that workgroup barriers order are no events.
    BarrierEpochs,
    /// Atomic updates that commute, and whose results no instruction uses, are no events.
    CommutingUpdates,
}

impl ReductionName {
    /// All of them, in the order in which a search asks them.
    pub const ALL: [ReductionName; 9] = [
        ReductionName::EarlyRaces,
        ReductionName::Components,
        ReductionName::Symmetry,
        ReductionName::Merging,
        ReductionName::IndependentSuffixes,
        ReductionName::StaleReads,
        ReductionName::DeadEnds,
        ReductionName::BarrierEpochs,
        ReductionName::CommutingUpdates,
    ];

    /// Its name for `--without`.
    pub const fn name(self) -> &'static str {
        match self {
            ReductionName::EarlyRaces => "early-races",
            ReductionName::Components => "components",
            ReductionName::Symmetry => "symmetry",
            ReductionName::Merging => "merging",
            ReductionName::IndependentSuffixes => "independent-suffixes",
            ReductionName::StaleReads => "stale-reads",
            ReductionName::DeadEnds => "dead-ends",
            ReductionName::BarrierEpochs => "barrier-epochs",
            ReductionName::CommutingUpdates => "commuting-updates",
        }
    }

    /// The reduction of that name.
    pub fn named(name: &str) -> Option<ReductionName> {
        ReductionName::ALL.into_iter().find(|reduction| reduction.name() == name)
    }
}

/// A set of reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reductions(u16);

impl Reductions {
    /// None of them.
    pub const NONE: Reductions = Reductions(0);

    /// The set of these.
    pub const fn of(names: &[ReductionName]) -> Reductions {
        let mut set = Reductions::NONE;
        let mut index = 0;
        while index < names.len() {
            set = set.with(names[index]);
            index += 1;
        }
        set
    }

    /// The set with one more.
    #[must_use]
    pub const fn with(self, name: ReductionName) -> Reductions {
        Reductions(self.0 | 1 << name as u16)
    }

    /// Whether the set has a reduction.
    pub const fn contains(self, name: ReductionName) -> bool {
        self.0 >> name as u16 & 1 != 0
    }

    /// Its members, in the order of [`ReductionName::ALL`].
    pub fn iter(self) -> impl Iterator<Item = ReductionName> {
        ReductionName::ALL.into_iter().filter(move |name| self.contains(*name))
    }
}
