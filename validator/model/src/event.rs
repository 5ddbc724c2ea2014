//! What an invocation does that others may notice: memory accesses and barriers,
//! with scopes and semantics in types that cannot express impossible combinations.

/// A line of the text that the user gave, or of the disassembly; 1-based, 0 where unknown.
pub type Line = u32;

/// The number of a function in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Where an instruction stands: identifies a static instruction in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstId {
    /// The function that has it.
    pub function: FunctionId,
    /// Its index in the code of that function.
    pub index: u32,
}

/// SPIR-V memory and execution scopes, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Invocation,
    Subgroup,
    Workgroup,
    QueueFamily,
    Device,
    CrossDevice,
}

impl Scope {
    /// Its name as SPIR-V spells it.
    #[inline]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Invocation => "Invocation",
            Scope::Subgroup => "Subgroup",
            Scope::Workgroup => "Workgroup",
            Scope::QueueFamily => "QueueFamily",
            Scope::Device => "Device",
            Scope::CrossDevice => "CrossDevice",
        }
    }
}

/// Storage classes that the tool executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StorageClass {
    UniformConstant,
    Input,
    Uniform,
    Output,
    Workgroup,
    CrossWorkgroup,
    Private,
    Function,
    PushConstant,
    AtomicCounter,
    Image,
    StorageBuffer,
    PhysicalStorageBuffer,
}

/// A set of storage classes as memory semantics name them, in SPIR-V's mask bits
/// (UniformMemory 0x40, SubgroupMemory 0x80, WorkgroupMemory 0x100,
/// CrossWorkgroupMemory 0x200, AtomicCounterMemory 0x400, ImageMemory 0x800, OutputMemory 0x1000).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ClassSet(pub u16);

impl ClassSet {
    pub const UNIFORM: ClassSet = ClassSet(0x40);
    pub const SUBGROUP: ClassSet = ClassSet(0x80);
    pub const WORKGROUP: ClassSet = ClassSet(0x100);
    pub const CROSS_WORKGROUP: ClassSet = ClassSet(0x200);
    pub const ATOMIC_COUNTER: ClassSet = ClassSet(0x400);
    pub const IMAGE: ClassSet = ClassSet(0x800);
    pub const OUTPUT: ClassSet = ClassSet(0x1000);
    pub const ALL: ClassSet = ClassSet(0x1fc0);

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub const fn contains(self, other: ClassSet) -> bool {
        self.0 & other.0 == other.0
    }

    #[inline]
    pub const fn intersects(self, other: ClassSet) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub const fn union(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 | other.0)
    }
}

impl StorageClass {
    /// Whether invocations may communicate through memory of this class.
    #[inline]
    pub const fn is_shared(self) -> bool {
        match self {
            StorageClass::Uniform
            | StorageClass::Workgroup
            | StorageClass::CrossWorkgroup
            | StorageClass::AtomicCounter
            | StorageClass::Image
            | StorageClass::StorageBuffer
            | StorageClass::PhysicalStorageBuffer => true,
            StorageClass::UniformConstant
            | StorageClass::Input
            | StorageClass::Output
            | StorageClass::Private
            | StorageClass::Function
            | StorageClass::PushConstant => false,
        }
    }

    /// The semantics bit that applies to accesses of this class; empty where none does.
    #[inline]
    pub const fn semantics_bit(self) -> ClassSet {
        match self {
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer => {
                ClassSet::UNIFORM
            }
            StorageClass::Workgroup => ClassSet::WORKGROUP,
            StorageClass::CrossWorkgroup => ClassSet::CROSS_WORKGROUP,
            StorageClass::AtomicCounter => ClassSet::ATOMIC_COUNTER,
            StorageClass::Image | StorageClass::UniformConstant => ClassSet::IMAGE,
            StorageClass::Output => ClassSet::OUTPUT,
            StorageClass::Input
            | StorageClass::Private
            | StorageClass::Function
            | StorageClass::PushConstant => ClassSet(0),
        }
    }
}

/// The order bits of memory semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Order {
    #[default]
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

impl Order {
    #[inline]
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    #[inline]
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }
}

/// A decoded memory semantics mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Semantics {
    pub order: Order,
    pub classes: ClassSet,
    pub make_available: bool,
    pub make_visible: bool,
    pub volatile: bool,
}

/// A memory access of one instruction to one shared object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The shared object (index into the dispatch's objects).
    pub object: u32,
    /// The memory object declaration that the pointer came from: a variable of the program, or all physical
    /// pointers. For a pointer that outlived the function with the parameter that it came through, that one
    /// (`Program::variables.len()` + its number).
    pub declaration: u32,
    /// Byte ranges (offset, length) in the object, ascending, disjoint; padding is left out.
    pub ranges: Ranges,
    pub class: StorageClass,
    pub non_private: bool,
    /// Per-instruction availability operation.
    pub available: Option<Scope>,
    /// Per-instruction visibility operation.
    pub visible: Option<Scope>,
    pub volatile: bool,
    pub aliased: bool,
    pub inst: InstId,
    pub line: Line,
}

/// Byte ranges of an access.
pub type Ranges = smallvec::SmallVec<[(u32, u32); 2]>;

/// The atomic side of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomicity {
    pub scope: Scope,
    pub semantics: Semantics,
    /// Semantics of a compare-exchange that fails.
    pub unequal: Semantics,
    /// The instruction only updates memory, and commutes with others of the same kind: nobody uses its
    /// result.
    pub commutes: Option<Commuting>,
}

/// Updates that leave the same value in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Commuting {
    Add,
    And,
    Or,
    Xor,
    SMin,
    UMin,
    SMax,
    UMax,
}

/// A memory barrier, or a control barrier with its memory semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    pub scope: Scope,
    pub semantics: Semantics,
    pub inst: InstId,
    pub line: Line,
}

/// An operation on the device domain that no SPIR-V instruction performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceOperation {
    /// Makes all writes available to the device domain.
    Availability,
    /// Makes all that is available to the device domain visible to everybody.
    Visibility,
}

/// Whom an invocation at a control barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Every invocation of the execution scope's instance.
    Everybody,
    /// Those of them whose code has this barrier (litmus tests).
    Users,
    /// At least so many of them, itself included (litmus tests).
    Quorum(u32),
    /// The barrier of this number orders memory only (litmus tests).
    Nobody(u32),
}

/// The name of a dynamic barrier instance: static instruction, call sites, and the iteration
/// number of every loop around each of them. In litmus tests a number stands for the instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceName {
    /// Call sites from the entry point inwards, then the instruction itself; each with the
    /// iteration numbers of the loops around it, outermost first.
    pub path: Vec<(InstId, Vec<u32>)>,
}

/// Kinds of undefined behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UndefinedKind {
    DataRace,
    OutOfBounds,
    NullAccess,
    Misaligned,
    Aliasing,
    DivisionByZero,
    SignedOverflow,
    DivergentBarrier,
    Unreachable,
    NonWritable,
    NonReadable,
    /// Invocations of a subgroup access different descriptors without NonUniform.
    NonUniform,
    UndefinedAddress,
    UndefinedOperand,
    /// A float converted to an integer type that cannot hold its value.
    InvalidConversion,
    /// OpAssumeTrueKHR of what is false.
    FalseAssumption,
    /// A ray query used in a state, or with operands, in which it must not be.
    InvalidRayQuery,
}

impl UndefinedKind {
    /// Its name in reports.
    #[inline]
    pub const fn name(self) -> &'static str {
        match self {
            UndefinedKind::DataRace => "data-race",
            UndefinedKind::OutOfBounds => "out-of-bounds",
            UndefinedKind::NullAccess => "null-access",
            UndefinedKind::Misaligned => "misaligned",
            UndefinedKind::Aliasing => "aliasing",
            UndefinedKind::DivisionByZero => "division-by-zero",
            UndefinedKind::SignedOverflow => "signed-overflow",
            UndefinedKind::DivergentBarrier => "divergent-barrier",
            UndefinedKind::Unreachable => "unreachable",
            UndefinedKind::NonWritable => "non-writable",
            UndefinedKind::NonReadable => "non-readable",
            UndefinedKind::NonUniform => "non-uniform",
            UndefinedKind::UndefinedAddress => "undefined-address",
            UndefinedKind::UndefinedOperand => "undefined-operand",
            UndefinedKind::InvalidConversion => "invalid-conversion",
            UndefinedKind::FalseAssumption => "false-assumption",
            UndefinedKind::InvalidRayQuery => "invalid-ray-query",
        }
    }
}

/// What an invocation did that the specification leaves undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: UndefinedKind,
    pub line: Line,
    /// One sentence for the user, without line numbers.
    pub detail: String,
}
