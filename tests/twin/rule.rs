//! The rules of the memory model, each of which the twin can break on purpose. What each says, and
//! which tests notice that it is broken, is in `tests/rules/list.rs`.

/// A way to break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// A condition always holds; a clause never applies.
    Dropped,
    /// A condition is negated; a clause that relates two operations relates them the other way round.
    Inverted,
    /// Weaker or stronger in a way of its own, which the list tells.
    Altered,
}

impl How {
    pub const ALL: [How; 3] = [How::Dropped, How::Inverted, How::Altered];
}

/// One broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broken {
    pub rule: Rule,
    pub how: How,
}

macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[$meta])* $name,)*
        }

        impl Rule {
            pub const ALL: &[Rule] = &[$(Rule::$name,)*];
        }
    };
}

// Named by what has the condition or clause, then what it is. In synchronizes-with, an operation that
// releases is A, one that acquires is B; X writes and Y reads what they synchronize through.
rules! {
    ProgramOrder,

    ScopeSubgroup,
    ScopeWorkgroup,
    ScopeQueueFamily,
    ScopeDevice,

    MutuallyOrderedAtomics,
    MutuallyOrderedSameLocations,
    MutuallyOrderedSameReference,
    MutuallyOrderedFirstInScope,
    MutuallyOrderedSecondInScope,
    MutuallyOrderedIrreflexive,

    ReleaseSequenceHead,
    ReleaseSequenceUpdates,
    ReleaseSequenceAnyAgent,
    ReleaseSequenceAfterHead,
    ReleaseSequenceContinuous,
    ReleaseSequenceLongest,

    AtomicAtomic,
    AtomicAtomicRelease,
    AtomicAtomicAcquire,
    AtomicAtomicMutuallyOrdered,
    AtomicAtomicReads,

    BarrierAtomic,
    BarrierAtomicRelease,
    BarrierAtomicAcquire,
    BarrierAtomicProgramOrder,
    BarrierAtomicMutuallyOrdered,
    BarrierAtomicReads,
    BarrierAtomicHypothetical,
    BarrierAtomicFirstInScope,
    BarrierAtomicSecondInScope,
    BarrierAtomicClass,

    AtomicBarrier,
    AtomicBarrierRelease,
    AtomicBarrierAcquire,
    AtomicBarrierProgramOrder,
    AtomicBarrierMutuallyOrdered,
    AtomicBarrierReads,
    AtomicBarrierFirstInScope,
    AtomicBarrierSecondInScope,
    AtomicBarrierClass,

    BarrierBarrier,
    BarrierBarrierRelease,
    BarrierBarrierAcquire,
    BarrierBarrierReleaseProgramOrder,
    BarrierBarrierAcquireProgramOrder,
    BarrierBarrierMutuallyOrdered,
    BarrierBarrierReads,
    BarrierBarrierHypothetical,
    BarrierBarrierFirstInScope,
    BarrierBarrierSecondInScope,
    BarrierBarrierReleaseClass,
    BarrierBarrierAcquireClass,

    ControlBarrier,
    ControlBarrierRelease,
    ControlBarrierAcquire,
    ControlBarrierReleaseProgramOrder,
    ControlBarrierReleaseEquals,
    ControlBarrierAcquireProgramOrder,
    ControlBarrierAcquireEquals,
    ControlBarrierFirstInScope,
    ControlBarrierSecondInScope,
    ControlBarrierExecutionScope,
    ControlBarrierSameInstance,

    SystemSynchronizesWithAllClasses,

    InterThreadSystem,
    InterThreadSynchronizes,
    InterThreadFirstHasAll,
    InterThreadSecondHasAll,
    InterThreadRelease,
    InterThreadReleaseMemory,
    InterThreadReleaseSemantics,
    InterThreadReleaseIsRelease,
    InterThreadReleaseHasAll,
    InterThreadReleaseProgramOrder,
    InterThreadAcquire,
    InterThreadAcquireMemory,
    InterThreadAcquireSemantics,
    InterThreadAcquireIsAcquire,
    InterThreadAcquireHasAll,
    InterThreadAcquireProgramOrder,
    InterThreadTransitive,
    InterThreadOneSet,
    InterThreadSeveralClasses,
    InterThreadSetNotEmpty,

    HappensBeforeProgramOrder,
    HappensBeforeInterThread,
    HappensBeforeNotTransitive,

    DomainDevice,
    DomainQueueFamily,
    DomainWorkgroup,
    DomainSubgroup,
    DomainInvocation,
    AvailabilityNested,
    VisibilityNested,
    DeviceDomainIsNoScope,

    MakeAvailable,
    MakeAvailableClass,
    MakeAvailableBefore,
    MakeVisible,
    MakeVisibleClass,
    MakeVisibleAfter,

    AtomicAvailability,
    AtomicVisibility,
    InstructionAvailability,
    InstructionAvailabilityReference,
    InstructionAvailabilityLocation,
    InstructionAvailabilityItself,
    InstructionVisibility,
    InstructionVisibilityReference,
    InstructionVisibilityLocation,
    InstructionVisibilityItself,

    AvailabilityChainAgent,
    AvailabilityChainProgramOrder,
    AvailabilityChainBroader,
    AvailabilityChainInstance,
    AvailabilityChainHappensBefore,
    AvailabilityChainIncludes,
    AvailabilityChainFeature,
    VisibilityChainAgent,
    VisibilityChainProgramOrder,
    VisibilityChainBroader,
    VisibilityChainInstance,
    VisibilityChainHappensBefore,
    VisibilityChainIncludes,
    VisibilityChainFeature,

    AtomicsAreNonPrivate,

    LocationOrderIrreflexive,
    SameAgent,
    SameAgentAgent,
    SameAgentReference,
    SameAgentHappensBefore,
    ReadFirst,
    ReadFirstReads,
    ReadFirstFirstNonPrivate,
    ReadFirstSecondNonPrivate,
    ReadFirstHappensBefore,
    ReadFirstSystem,
    ReadFirstSystemReads,
    ReadFirstSystemTransitive,
    WriteWrite,
    WriteWriteReference,
    WriteWriteFirstNonPrivate,
    WriteWriteSecondNonPrivate,
    WriteWriteFirstInDomain,
    WriteWriteSecondInDomain,
    WriteWriteAvailable,
    WriteWriteHappensBefore,
    WriteRead,
    WriteReadReference,
    WriteReadFirstNonPrivate,
    WriteReadSecondNonPrivate,
    WriteReadFirstInDomain,
    WriteReadSecondInDomain,
    WriteReadSameDomain,
    WriteReadAvailable,
    WriteReadVisible,
    WriteReadHappensBefore,
    DeviceWriteWrite,
    DeviceWriteWriteAfterFirst,
    DeviceWriteWriteBeforeSecond,
    DeviceWriteRead,
    DeviceWriteReadAfterFirst,
    DeviceWriteReadInOrder,
    DeviceWriteReadBeforeSecond,

    DataRaceOverlap,
    DataRaceDistinct,
    DataRaceWrites,
    DataRaceMutuallyOrdered,
    DataRaceFirstOrdered,
    DataRaceSecondOrdered,

    VisibleTo,
    VisibleToFirst,
    VisibleToSecond,
    VisibleToWrite,

    FromReadsModificationOrder,
    FromReadsLocationOrder,
    FromReadsInitial,

    AcyclicLocationOrder,
    AcyclicModificationOrder,
    AcyclicReadsFrom,
    AcyclicFromReads,
    AcyclicPerLocation,
    AtomicsAreWhole,
}
