//! The operations of the lowered form, one enum a family.

use super::arithmetic::{BinaryOp, BitFieldOp, ConvertOp, ExtendedOp, MatrixOp, UnaryOp};
use super::image::ImageOp;
use super::{
    CooperativeOp, Decorations, EncodedOp, FunctionId, GlslOp, IntegerDot, MemoryOperands, Operand, RayOp,
    ShapeId, Spread, SubgroupOp, TensorOp,
};
use crate::event::{DeviceOperation, Scope, Semantics, StorageClass};

/// An operation. `dst` is the first component of the result's registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Component-wise operation on one operand.
    Unary {
        op: UnaryOp,
        width: u8,
        count: u32,
        dst: u32,
        a: Operand,
    },
    /// Component-wise operation on two operands.
    Binary {
        op: BinaryOp,
        width: u8,
        count: u32,
        dst: u32,
        a: Operand,
        b: Operand,
    },
    /// Two results: a struct of two members of `count` components each.
    Extended {
        op: ExtendedOp,
        width: u8,
        count: u32,
        dst: u32,
        a: Operand,
        b: Operand,
    },
    Convert {
        op: ConvertOp,
        from: u8,
        to: u8,
        count: u32,
        dst: u32,
        a: Operand,
    },
    BitField(BitFieldOp),
    IntegerDot(IntegerDot),
    Glsl(GlslOp),
    Encoded(EncodedOp),
    Matrix(MatrixOp),
    Composite(CompositeOp),
    /// `condition` has `count` components, or one where `scalar_condition`; the objects have
    /// `count` components.
    Select {
        dst: u32,
        condition: Operand,
        scalar_condition: bool,
        count: u32,
        a: Operand,
        b: Operand,
    },
    /// OpCopyObject, OpCopyLogical and a bitcast of equal component widths.
    Copy {
        dst: u32,
        a: Operand,
        count: u32,
    },
    /// OpUndef: a fresh undefined value; widths per component are in `widths`.
    Undef {
        dst: u32,
        widths: Vec<u8>,
    },
    Any {
        dst: u32,
        a: Operand,
        count: u32,
    },
    All {
        dst: u32,
        a: Operand,
        count: u32,
    },
    Control(ControlOp),
    Memory(MemoryOp),
    Atomic(AtomicOp),
    Image(Box<ImageOp>),
    Barrier(BarrierOp),
    Subgroup(SubgroupOp),
    Cooperative(CooperativeOp),
    Tensor(TensorOp),
    Ray(RayOp),
    /// OpAssumeTrueKHR: undefined behaviour where the condition is false.
    Assume {
        condition: Operand,
    },
    /// Executions in which `a` and `b` differ do not count: the value that a litmus test expects.
    Require {
        a: Operand,
        b: Operand,
    },
    /// A debug or non-semantic instruction was here.
    Nop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompositeOp {
    /// Concatenates the parts (operand, components).
    Construct {
        dst: u32,
        parts: Vec<(Operand, u32)>,
    },
    /// A run of components of `a` from `start`.
    Extract {
        dst: u32,
        a: Operand,
        start: u32,
        count: u32,
    },
    /// A copy of `a` (`total` components) with `count` components from `start` replaced by `object`.
    Insert {
        dst: u32,
        a: Operand,
        total: u32,
        object: Operand,
        start: u32,
        count: u32,
    },
    /// `None` is the undefined component 0xFFFFFFFF; `width` in bits.
    Shuffle {
        dst: u32,
        width: u8,
        components: Vec<Option<Operand>>,
    },
    /// An index of `count` or more makes the result undefined.
    ExtractDynamic {
        dst: u32,
        width: u8,
        a: Operand,
        count: u32,
        index: Operand,
    },
    InsertDynamic {
        dst: u32,
        width: u8,
        a: Operand,
        object: Operand,
        count: u32,
        index: Operand,
    },
}

/// The destination of what has no result.
pub const NO_REGISTER: u32 = u32::MAX - 1;

/// Jumps name blocks; the φ moves of the edge are done in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the target block.
    pub target: u32,
    /// (register, operand, components) for each φ of the target.
    pub moves: Vec<(u32, Operand, u32)>,
    /// Loops whose iteration number this edge starts at 0 (entering) or advances (back edge).
    pub enters: Vec<super::LoopId>,
    pub repeats: Option<super::LoopId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlOp {
    Branch(Edge),
    BranchConditional {
        condition: Operand,
        yes: Edge,
        no: Edge,
    },
    Switch {
        selector: Operand,
        width: u8,
        default: Edge,
        cases: Vec<(u64, Edge)>,
    },
    /// `dst` is [`NO_REGISTER`] where the function returns nothing.
    Call {
        function: FunctionId,
        dst: u32,
        arguments: Vec<Operand>,
    },
    Return,
    ReturnValue {
        value: Operand,
        count: u32,
    },
    Unreachable,
    /// OpKill, OpTerminateInvocation.
    Kill,
    /// OpDemoteToHelperInvocation: what the invocation writes from here on is lost.
    Demote,
    /// OpIsHelperInvocationEXT.
    IsHelper {
        dst: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    /// The address of a module-scope variable: index into `Program::variables`.
    Variable {
        dst: u32,
        variable: u32,
    },
    Chain(Chain),
    /// The descriptor behind the pointer or handle, which is about to be accessed, must be the same for the
    /// invocations of the subgroup that execute this: what is accessed through is not decorated NonUniform.
    Uniform {
        pointer: Operand,
    },
    Load {
        dst: u32,
        pointer: Operand,
        class: StorageClass,
        shape: ShapeId,
        operands: MemoryOperands,
    },
    Store {
        pointer: Operand,
        object: Operand,
        class: StorageClass,
        shape: ShapeId,
        operands: MemoryOperands,
    },
    Copy {
        target: Operand,
        target_class: StorageClass,
        target_shape: ShapeId,
        target_operands: MemoryOperands,
        source: Operand,
        source_class: StorageClass,
        source_shape: ShapeId,
        source_operands: MemoryOperands,
    },
    /// Number of elements of the runtime array at `offset` bytes behind the pointer.
    ArrayLength {
        dst: u32,
        pointer: Operand,
        offset: u32,
        stride: u32,
    },
    /// OpPtrDiff, in elements of `stride` bytes; the result has `width` bits.
    Difference {
        dst: u32,
        a: Operand,
        b: Operand,
        stride: u32,
        width: u8,
    },
}

/// OpAccessChain and its relatives: base + `offset` + Σ index × stride.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub dst: u32,
    pub base: Operand,
    /// Constant part, in bytes.
    pub offset: u32,
    pub indices: Vec<ChainIndex>,
    /// Decorations of struct members on the way.
    pub decorations: Decorations,
    /// The pointers are physical: addresses of PhysicalStorageBuffer.
    pub physical: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainIndex {
    pub index: Operand,
    /// Width in bits; indices are signed.
    pub width: u8,
    pub stride: u32,
    pub bound: Bound,
}

/// What an index must stay below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Elements(u32),
    /// A runtime array that starts at this byte offset of the object.
    RuntimeArray {
        start: u32,
    },
    /// Any index: what the access finds there decides.
    Unbounded,
    /// A component of a cooperative matrix that the invocation holds.
    Held(Spread),
    /// An element of an array of descriptors: selects the object, adds no bytes.
    Descriptor(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicOp {
    pub kind: AtomicKind,
    /// Result register; unused by OpAtomicStore and OpAtomicFlagClear.
    pub dst: u32,
    pub pointer: Operand,
    pub class: StorageClass,
    /// Width in bits.
    pub width: u8,
    pub scope: Scope,
    pub semantics: Semantics,
    /// OpAtomicCompareExchange: semantics where the comparison fails.
    pub unequal: Semantics,
    /// Some instruction uses the result; see [`mark_unused_results`](super::mark_unused_results).
    pub result_used: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicKind {
    Load,
    Store {
        value: Operand,
    },
    Exchange {
        value: Operand,
    },
    CompareExchange {
        value: Operand,
        comparator: Operand,
    },
    IIncrement,
    IDecrement,
    IAdd {
        value: Operand,
    },
    ISub {
        value: Operand,
    },
    SMin {
        value: Operand,
    },
    UMin {
        value: Operand,
    },
    SMax {
        value: Operand,
    },
    UMax {
        value: Operand,
    },
    And {
        value: Operand,
    },
    Or {
        value: Operand,
    },
    Xor {
        value: Operand,
    },
    FAdd {
        value: Operand,
    },
    FMin {
        value: Operand,
    },
    FMax {
        value: Operand,
    },
    /// Litmus tests only.
    IMul {
        value: Operand,
    },
    /// Litmus tests only; a division by zero leaves an undefined value.
    SDiv {
        value: Operand,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    Memory {
        scope: Scope,
        semantics: Semantics,
    },
    Control {
        execution: Scope,
        memory: Scope,
        semantics: Semantics,
    },
    Numbered(NumberedBarrier),
    /// Litmus tests only: an availability operation to the device domain, or a visibility operation from it.
    Device(DeviceOperation),
}

/// A control barrier of a litmus test: its number, not the static instruction, names the instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedBarrier {
    pub execution: Scope,
    /// Memory scope.
    pub scope: Scope,
    pub semantics: Semantics,
    pub number: Operand,
    pub waits: NumberedWait,
}

/// Whom a numbered barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberedWait {
    Nobody,
    /// The invocations of the scope instance whose code has the number and the barrier resource `id`.
    Users {
        id: Operand,
    },
    /// Invocations that come to the barrier resource `id`, at least so many of them.
    Quorum {
        id: Operand,
        count: Operand,
    },
}
