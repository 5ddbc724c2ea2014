//! What an invocation does that others may notice: memory accesses and barriers,
//! with scopes and semantics in types that cannot express impossible combinations.
//!
//! Implements "Memory Operation", "Scope", "Memory Semantics" and "Atomic Operation" of the Vulkan memory model, as SPIR-V
//! encodes them.

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
    /// One invocation: orders nothing between invocations.
    Invocation,
    /// The invocations of one subgroup.
    Subgroup,
    /// The invocations of one workgroup.
    Workgroup,
    /// All invocations on queues of one family.
    QueueFamily,
    /// All invocations on one device.
    Device,
    /// All invocations on all devices. No two of them are told apart from Device here.
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
    /// Read-only resources: images, samplers, acceleration structures.
    UniformConstant,
    /// Inputs of the pipeline stage, and built-in values.
    Input,
    /// Uniform buffers, and storage buffers of modules that decorate their block as BufferBlock.
    Uniform,
    /// Outputs of the pipeline stage.
    Output,
    /// Memory of one workgroup.
    Workgroup,
    /// Memory of all workgroups (OpenCL's global memory).
    CrossWorkgroup,
    /// Variables of one invocation outside of functions.
    Private,
    /// Variables of one function call.
    Function,
    /// Push constants.
    PushConstant,
    /// Atomic counters.
    AtomicCounter,
    /// Texels that `OpImageTexelPointer` points to.
    Image,
    /// Storage buffers.
    StorageBuffer,
    /// Buffers that are accessed through physical addresses.
    PhysicalStorageBuffer,
}

/// A set of storage classes as memory semantics name them, in SPIR-V's mask bits
/// (UniformMemory 0x40, SubgroupMemory 0x80, WorkgroupMemory 0x100,
/// CrossWorkgroupMemory 0x200, AtomicCounterMemory 0x400, ImageMemory 0x800, OutputMemory 0x1000).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ClassSet(pub u16);

impl ClassSet {
    /// UniformMemory: Uniform, StorageBuffer and PhysicalStorageBuffer.
    pub const UNIFORM: ClassSet = ClassSet(0x40);
    /// SubgroupMemory: no storage class of Vulkan.
    pub const SUBGROUP: ClassSet = ClassSet(0x80);
    /// WorkgroupMemory.
    pub const WORKGROUP: ClassSet = ClassSet(0x100);
    /// CrossWorkgroupMemory.
    pub const CROSS_WORKGROUP: ClassSet = ClassSet(0x200);
    /// AtomicCounterMemory.
    pub const ATOMIC_COUNTER: ClassSet = ClassSet(0x400);
    /// ImageMemory: Image and UniformConstant.
    pub const IMAGE: ClassSet = ClassSet(0x800);
    /// OutputMemory.
    pub const OUTPUT: ClassSet = ClassSet(0x1000);
    /// Every bit above.
    pub const ALL: ClassSet = ClassSet(0x1fc0);

    /// Whether it names no storage class.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every class of `other` is in it.
    #[inline]
    pub const fn contains(self, other: ClassSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some class is in both.
    #[inline]
    pub const fn intersects(self, other: ClassSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The classes of either.
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
    /// Neither: an atomic that synchronizes with nothing by itself.
    #[default]
    Relaxed,
    /// Acquire: what was released before is ordered before what follows.
    Acquire,
    /// Release: what precedes is ordered before what follows an acquire of it.
    Release,
    /// Acquire and release.
    AcquireRelease,
    /// As AcquireRelease: the Vulkan memory model knows no stronger order.
    SequentiallyConsistent,
}

impl Order {
    /// Whether the order includes an acquire.
    #[inline]
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Whether the order includes a release.
    #[inline]
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }
}

/// A decoded memory semantics mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Semantics {
    /// The order bits.
    pub order: Order,
    /// The storage classes that the order is about.
    pub classes: ClassSet,
    /// MakeAvailable: with a release, an availability operation on these classes right before the instruction.
    pub make_available: bool,
    /// MakeVisible: with an acquire, a visibility operation on these classes right after the instruction.
    pub make_visible: bool,
    /// The Volatile bit: the access must be performed as it stands.
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
    /// The storage class of the pointer.
    pub class: StorageClass,
    /// NonPrivatePointer or NonPrivateTexel: the access takes part in inter-thread ordering.
    pub non_private: bool,
    /// Per-instruction availability operation.
    pub available: Option<Scope>,
    /// Per-instruction visibility operation.
    pub visible: Option<Scope>,
    /// The access is a side effect that may be neither removed, added nor changed.
    pub volatile: bool,
    /// The declaration is Aliased: other references may lead to the same memory.
    pub aliased: bool,
    /// The instruction.
    pub inst: InstId,
    /// The line of the instruction.
    pub line: Line,
}

/// Byte ranges of an access.
pub type Ranges = smallvec::SmallVec<[(u32, u32); 2]>;

/// The atomic side of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomicity {
    /// The memory scope of the instruction.
    pub scope: Scope,
    /// The memory semantics; those of a compare-exchange that succeeds.
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
    /// Addition and subtraction, increments and decrements.
    Add,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The lesser of signed integers.
    SMin,
    /// The lesser of unsigned integers.
    UMin,
    /// The greater of signed integers.
    SMax,
    /// The greater of unsigned integers.
    UMax,
}

/// A memory barrier, or a control barrier with its memory semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The memory scope.
    pub scope: Scope,
    /// The memory semantics; relaxed for a control barrier that is no memory barrier.
    pub semantics: Semantics,
    /// The instruction.
    pub inst: InstId,
    /// The line of the instruction.
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
    /// Two accesses race ("Data Race" of the memory model).
    DataRace,
    /// An access outside of its object, or an index outside of its bounds.
    OutOfBounds,
    /// An access through a null pointer.
    NullAccess,
    /// An address that is no multiple of the alignment that the access states.
    Misaligned,
    /// Memory that is reached through two references, of which one promises that there is no other.
    Aliasing,
    /// An integer division or remainder by zero.
    DivisionByZero,
    /// A signed result that its type cannot hold, where that is undefined.
    SignedOverflow,
    /// A control barrier that some invocations of its scope never reach.
    DivergentBarrier,
    /// `OpUnreachable` was reached.
    Unreachable,
    /// A write to memory that is decorated NonWritable.
    NonWritable,
    /// A read of memory that is decorated NonReadable.
    NonReadable,
    /// Invocations of a subgroup access different descriptors without NonUniform.
    NonUniform,
    /// An address or index with undefined bits.
    UndefinedAddress,
    /// An undefined value where the instruction needs a defined one, such as a branch.
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

/// The detail of an access by a pointer that went beyond what an access chain indexes: which index that was, the pointer
/// does not say.
pub const INDEX_OUT_OF_BOUNDS: &str = "an index of the pointer's access chain is, or may be, out of bounds";

/// What an invocation did that the specification leaves undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of undefined behaviour it is.
    pub kind: UndefinedKind,
    /// The line of the instruction that has it.
    pub line: Line,
    /// One sentence for the user, without line numbers.
    pub detail: String,
}
