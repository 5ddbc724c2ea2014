//! The lowered form of a module: what the interpreter runs.
//!
//! Types and layouts are resolved, control flow is flat, operands are indices.
//! Every value is a run of [`Scalar`] components in a register file: a vector, matrix,
//! array or struct takes one component per leaf, in order; a pointer takes two
//! (see [`Pointer`](crate::interp::Pointer)).

mod anonymous;
mod arithmetic;
mod communication;
mod cooperative;
mod countdown;
mod dot;
mod effect;
mod encoded;
mod evaluation;
mod exit;
mod float_modes;
pub(crate) mod flow;
mod glsl;
pub mod image;
pub mod liveness;
mod op;
mod operands;
mod placing;
mod ray;
mod results;
mod subgroup;
mod tensor;
mod unused;

pub use anonymous::Anonymous;
pub use arithmetic::*;
pub use communication::mark_communicating_loops;
pub use cooperative::*;
pub use countdown::{mark_countdowns, Countdown};
pub use dot::{DotSigns, IntegerDot};
pub use effect::Effect;
pub use encoded::{EncodedOp, FloatEncoding, NumberFormat};
pub use evaluation::{
    apply_float_modes, single_results, Evaluation, Flushes, Fused, Rounding, Specials, Way,
};
pub use exit::{mark_exits, Exit, Stored};
pub use float_modes::{FloatModes, Inexact};
pub use glsl::*;
pub use op::*;
pub use placing::placed_stores;
pub use ray::{IntersectionValue, RayKind, RayOp, RayParameters, RayValue, RAY_QUERY_SIZE};
pub use results::Results;
pub use subgroup::*;
pub use tensor::*;
pub use unused::mark_unused_results;

use rspirv::spirv::ExecutionModel;

pub use crate::event::{FunctionId, InstId, Line};
use crate::event::{Scope, StorageClass};
use crate::value::Scalar;

/// A module lowered for one entry point and one set of specialisation values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub memory_model: MemoryModel,
    pub entry: Entry,
    /// Module-scope variables of the entry point's reach, in module order.
    pub variables: Vec<Variable>,
    /// What the physical pointers in memory that the host fills point to, at any depth.
    pub pointees: Vec<PhysicalPointee>,
    /// The constant pool: operands with [`Operand::is_constant`] index it.
    pub constants: Vec<Scalar>,
    /// How typed accesses touch memory; [`ShapeId`] indexes it.
    pub shapes: Vec<Shape>,
    pub functions: Vec<Function>,
    /// What the module asks for that changes execution.
    pub modes: Modes,
    /// Specialisation constants, for reports and automatic inputs.
    pub spec_constants: Vec<SpecConstant>,
    /// Integer constants that appear in the module (harvested for automatic inputs), sorted, distinct.
    pub harvested: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryModel {
    Simple,
    Glsl450,
    Vulkan,
    OpenCl,
}

impl MemoryModel {
    /// A memory scope of an atomic or a barrier: GLSL450 and Simple modules mean the queue family where they
    /// say Device.
    pub const fn memory_scope(self, scope: Scope) -> Scope {
        match (self, scope) {
            (MemoryModel::Simple | MemoryModel::Glsl450, Scope::Device) => Scope::QueueFamily,
            (
                MemoryModel::Simple | MemoryModel::Glsl450 | MemoryModel::Vulkan | MemoryModel::OpenCl,
                scope,
            ) => scope,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub function: FunctionId,
    /// Numeric execution model of SPIR-V (5 is GLCompute).
    pub execution_model: u32,
    pub local_size: [u32; 3],
    /// Whether the local size depends on specialisation constants.
    pub local_size_specialised: bool,
    /// For each dimension that is exactly one specialisation constant, its SpecId.
    pub local_size_spec_ids: [Option<u32>; 3],
    pub line: Line,
}

impl Entry {
    /// Whether its execution model is GLCompute.
    pub fn is_compute(&self) -> bool {
        self.execution_model == ExecutionModel::GLCompute as u32
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Something is decorated Restrict or RestrictPointer: then physical pointers may not lead to one
    /// buffer without being told to.
    pub restrict: bool,
    pub maximally_reconverges: bool,
    pub subgroup_size: Option<u32>,
    /// Some instruction acts on the invocations of the subgroup that execute the same dynamic instance.
    pub tangles: bool,
    /// A fragment shader in which some instruction acts on the invocations of a quad or subgroup.
    pub quads: bool,
    /// Such an instruction may be one in which helper invocations take part or not, as an implementation likes.
    pub counts_helpers: bool,
    /// Some descriptor must be the same for the invocations of a subgroup.
    pub descriptors: bool,
    pub floats: FloatModes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    pub spec_id: Option<u32>,
    pub result_id: u32,
    pub name: Option<String>,
    /// Width in bits; 1 for bool.
    pub width: u32,
    pub value: u64,
    pub line: Line,
}

/// A module-scope variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Result id in the module.
    pub id: u32,
    /// OpName, or else the name that the user's text has for the id.
    pub name: Option<String>,
    /// OpName of the struct type behind the pointer, if any: compilers name a buffer block there.
    pub type_name: Option<String>,
    pub class: StorageClass,
    /// Descriptor set and binding.
    pub binding: Option<(u32, u32)>,
    /// Number of descriptors, for an array of descriptors (each element is an object of its own).
    pub descriptors: Option<u32>,
    pub built_in: Option<BuiltIn>,
    /// What is bound, where that is no buffer.
    pub resource: Option<image::Resource>,
    pub decorations: Decorations,
    /// Size in bytes without a trailing runtime array.
    pub size: u32,
    /// Stride in bytes of a trailing runtime array.
    pub runtime_stride: Option<u32>,
    /// Shape of the whole variable (without a trailing runtime array).
    pub shape: ShapeId,
    /// Initializer, in the constant pool.
    pub initializer: Option<Operand>,
    /// A Workgroup variable that points to a Block-decorated type: all of these share one reference and memory.
    pub block: bool,
    /// What the variable passes in or out of a vertex or fragment entry point.
    pub interface: Vec<InterfacePart>,
    /// Physical pointers in what the host fills: push constants and buffers.
    pub pointers: Vec<PointerMember>,
    /// Read-only memory: a push constant or a Uniform buffer that is a Block (not a BufferBlock).
    pub constant: bool,
    pub line: Line,
}

/// A part of an Input or Output variable that stages pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfacePart {
    /// `LOCATION`, `LOCATION.COMPONENT`, `LOCATION.COMPONENT.INDEX`, or the name of a built-in.
    pub name: String,
    /// Bytes from the start of the variable.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Floats of this many bits that are interpolated, so that they vary over a quad.
    pub varies: Option<u8>,
}

/// A physical pointer in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerMember {
    /// Bytes from the start of the memory.
    pub offset: u32,
    /// Bytes from one to the next in a runtime array, where it stands in one.
    pub stride: Option<u32>,
    /// OpMemberName of the member that holds it.
    pub name: Option<String>,
    /// What it points to: an index into [`Program::pointees`].
    pub pointee: u32,
}

/// What physical pointers of one type point to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhysicalPointee {
    /// Size in bytes without a trailing runtime array.
    pub size: u32,
    /// Stride in bytes of a trailing runtime array.
    pub runtime_stride: Option<u32>,
    pub pointers: Vec<PointerMember>,
}

/// Built-in inputs of compute shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    NumWorkgroups,
    WorkgroupSize,
    WorkgroupId,
    LocalInvocationId,
    GlobalInvocationId,
    LocalInvocationIndex,
    SubgroupSize,
    NumSubgroups,
    SubgroupId,
    SubgroupLocalInvocationId,
    SubgroupEqMask,
    SubgroupGeMask,
    SubgroupGtMask,
    SubgroupLeMask,
    SubgroupLtMask,
}

impl BuiltIn {
    /// Whether it is the number of an invocation, or of a group of them.
    pub const fn differs_between_invocations(self) -> bool {
        match self {
            BuiltIn::WorkgroupId
            | BuiltIn::LocalInvocationId
            | BuiltIn::GlobalInvocationId
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::SubgroupId
            | BuiltIn::SubgroupLocalInvocationId => true,
            BuiltIn::NumWorkgroups
            | BuiltIn::WorkgroupSize
            | BuiltIn::SubgroupSize
            | BuiltIn::NumSubgroups
            | BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask => false,
        }
    }
}

/// Memory decorations, united along a pointer's dynamic way (docs/semantics.md, section 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decorations {
    pub coherent: bool,
    pub volatile: bool,
    pub aliased: bool,
    pub restrict: bool,
    pub non_writable: bool,
    pub non_readable: bool,
}

impl Decorations {
    /// What both bring along.
    pub const fn union(self, other: Decorations) -> Decorations {
        Decorations {
            coherent: self.coherent || other.coherent,
            volatile: self.volatile || other.volatile,
            aliased: self.aliased || other.aliased,
            restrict: self.restrict || other.restrict,
            non_writable: self.non_writable || other.non_writable,
            non_readable: self.non_readable || other.non_readable,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShapeId(pub u32);

/// The leaves of a type in memory: how an access of it maps register components to bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// One entry per register component, in component order.
    pub leaves: Vec<Leaf>,
    /// Size in bytes, from the first byte to the end of the last leaf.
    pub size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// Byte offset from the start of the access.
    pub offset: u32,
    pub kind: LeafKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeafKind {
    /// A bool: 4 bytes in memory, 0 or 1.
    Bool,
    /// An integer or float of this many bytes (1, 2, 4 or 8).
    Number(u8),
    /// Half of a pointer: 8 bytes.
    PointerHalf,
    /// The second component of a physical pointer, which memory does not hold: no bytes.
    PhysicalTag,
}

impl LeafKind {
    /// Bytes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            LeafKind::Bool => 4,
            LeafKind::Number(bytes) => bytes as u32,
            LeafKind::PointerHalf => 8,
            LeafKind::PhysicalTag => 0,
        }
    }

    /// Bytes that its place must be a multiple of.
    pub const fn alignment(self) -> u32 {
        match self {
            LeafKind::PhysicalTag => 1,
            LeafKind::Bool | LeafKind::Number(_) | LeafKind::PointerHalf => self.bytes(),
        }
    }

    /// Bits in a register.
    pub const fn width(self) -> u32 {
        match self {
            LeafKind::Bool => 1,
            LeafKind::Number(bytes) => bytes as u32 * 8,
            LeafKind::PointerHalf | LeafKind::PhysicalTag => 64,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: Option<String>,
    pub id: u32,
    /// Instructions of all blocks, one after the other; jumps are indices into it.
    pub code: Vec<Inst>,
    pub blocks: Vec<Block>,
    /// Number of register components of a frame.
    pub registers: u32,
    /// Where the arguments go, one register run per parameter, with the
    /// decorations that the parameter adds to a pointer.
    pub parameters: Vec<Parameter>,
    /// Function-storage variables, created at each call.
    pub locals: Vec<Local>,
    /// Loops, outermost first.
    pub loops: Vec<Loop>,
    pub results: Results,
    /// Its values, as runs of registers.
    pub runs: liveness::Runs,
    /// Registers with the addresses of module-scope variables, which never change.
    pub fixed: Vec<u32>,
    /// Where the results of its instructions are, by their lines, ascending; for people.
    pub definitions: Vec<Definition>,
    pub line: Line,
}

/// Where the result of an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The line of the instruction.
    pub line: Line,
    /// Its first component.
    pub operand: Operand,
    /// Number of components.
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub register: u32,
    /// Number of components.
    pub count: u32,
    /// Set for a pointer: its number as a memory object declaration. Numbers run over the variables
    /// first, then over all pointer parameters of the module: the first of these is
    /// `Program::variables.len()`.
    pub declaration: Option<u32>,
    pub decorations: Decorations,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Register (two components) that receives the pointer.
    pub register: u32,
    pub size: u32,
    pub shape: ShapeId,
    pub initializer: Option<Operand>,
    pub decorations: Decorations,
    pub line: Line,
}

/// A basic block: a range of `code`, and the loops around it, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub label: u32,
    pub start: u32,
    pub loops: Vec<LoopId>,
    /// What the block is the header of.
    pub construct: Option<Construct>,
    pub line: Line,
}

/// A structured selection or loop (SPIR-V specification 2.11), told by its header. Blocks are given by their
/// indices; none where they are never reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Construct {
    pub merge: Option<u32>,
    pub continue_target: Option<u32>,
    pub is_loop: bool,
}

/// An index into [`Function::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// A natural loop; its header is the target of its back edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Index of the header block.
    pub header: u32,
    /// Registers (components) that are live on entry to the header, φ results included:
    /// two arrivals with equal live registers and memory behave alike.
    pub live: Vec<u32>,
    /// Indices into [`Function::locals`]: those that are written before they are read again.
    pub dead: Vec<u32>,
    /// The same, as long as nobody leaves the loop.
    pub turns: Turns,
    /// Variables that do nothing but count its turns; see [`mark_countdowns`].
    pub countdowns: Vec<Countdown>,
    /// The loop may read memory that invocations share, itself or in a function that it calls; see
    /// [`mark_communicating_loops`].
    pub communicates: bool,
    /// How an invocation leaves the loop that would run it for ever.
    pub exit: Exit,
}

/// What decides about the turns of a loop. What is only read behind the loop does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Those of the registers in [`Loop::live`] that are read before the loop is left: two arrivals with equal ones, and
    /// equal memory but for `dead`, have the same turns.
    pub live: Vec<u32>,
    /// Indices into [`Function::locals`]: those that are not read before they are written, or the loop is left.
    pub dead: Vec<u32>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    pub op: Op,
    pub line: Line,
    /// The SPIR-V opcode, for messages.
    pub opcode: u16,
    /// Decorated NoContraction.
    pub no_contraction: bool,
    /// Decorated RelaxedPrecision.
    pub relaxed: bool,
    /// The bits of FPFastMathMode.
    pub fast_math: Option<u32>,
    /// How its floats are computed, where not by default.
    pub evaluation: Option<Box<Evaluation>>,
}

impl Inst {
    /// An instruction without decorations.
    pub const fn plain(op: Op, line: Line) -> Self {
        Inst { op, line, opcode: 0, no_contraction: false, relaxed: false, fast_math: None, evaluation: None }
    }

    /// Its line and what it is called, for messages.
    pub const fn named(&self) -> Inexact {
        let extended = match &self.op {
            Op::Glsl(op) => op.number,
            _ => 0,
        };
        Inexact { line: self.line, opcode: self.opcode, extended }
    }
}

/// A run of components: a register of the frame or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand(u32);

impl Operand {
    const CONSTANT: u32 = 1 << 31;

    pub const fn register(index: u32) -> Self {
        Operand(index)
    }

    pub const fn constant(index: u32) -> Self {
        Operand(index | Self::CONSTANT)
    }

    pub const fn is_constant(self) -> bool {
        self.0 & Self::CONSTANT != 0
    }

    /// Index of the first component, in the frame or the pool.
    pub const fn index(self) -> u32 {
        self.0 & !Self::CONSTANT
    }

    /// The operand that starts `count` components later.
    pub const fn offset(self, count: u32) -> Self {
        Operand(self.0 + count)
    }
}

/// Memory operands of an access, as the instruction gives them (decorations are united at run time).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryOperands {
    pub volatile: bool,
    pub aligned: Option<u32>,
    pub nontemporal: bool,
    pub make_available: Option<Scope>,
    pub make_visible: Option<Scope>,
    pub non_private: bool,
}
