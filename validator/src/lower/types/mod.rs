//! Types, resolved: what a value of each is made of (SPIR-V specification 2.2.2 and 3.3.6).

mod lookup;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use rspirv::spirv::{FPEncoding, Op as Opcode, StorageClass as Class};

use super::constants::ConstantTable;
use super::cooperative;
use super::decorations::{memory_decorations, Decoration, DecorationTable};
use super::error::Problem;
use super::layout::{Extent, Placement};
use super::tensor::{self, TensorType};
use crate::event::StorageClass;
use crate::ir::image::ImageType;
use crate::ir::{Decorations, FloatEncoding, Line, Spread};
use crate::module::Instruction;

/// Types nested deeper than this are refused, so that walks over types need little stack.
const MAX_DEPTH: u32 = 64;
/// Values of more components than this are refused.
pub(super) const MAX_COMPONENTS: u32 = 1 << 20;

/// A type; other types are given by their ids. A float has an encoding where its format is none of
/// IEEE 754. An acceleration structure's value is a handle of 64 bits; a ray query lives in memory only.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Void,
    Bool,
    Int { width: u8 },
    Float { width: u8, encoding: Option<FloatEncoding> },
    Vector { component: u32, count: u32 },
    Matrix { column: u32, columns: u32 },
    Array { element: u32, length: u32, stride: Option<u32> },
    RuntimeArray { element: u32, stride: Option<u32> },
    Struct { members: Rc<[Member]>, block: BlockKind },
    Pointer { class: StorageClass, pointee: u32 },
    UntypedPointer { class: StorageClass },
    Function { result: u32, parameters: Rc<[u32]> },
    Image(ImageType),
    Sampler,
    SampledImage(ImageType),
    AccelerationStructure,
    RayQuery,
}

/// Whether a struct is the interface of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Plain,
    Block,
    BufferBlock,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub ty: u32,
    /// The Offset decoration.
    pub offset: Option<u32>,
    /// How a matrix in this member lies in memory, where decorated.
    pub matrix: Option<MatrixLayout>,
    pub decorations: Decorations,
}

/// MatrixStride with RowMajor or ColMajor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MatrixLayout {
    pub stride: u32,
    pub row_major: bool,
}

/// What a scalar or the components of a vector are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
    /// A float that is only stored and converted.
    Encoded(FloatEncoding),
}

/// A scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    pub kind: Kind,
    /// Bits of a component; 1 for bool.
    pub width: u8,
    pub count: u32,
}

/// The shape of a matrix type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatrixSize {
    pub columns: u32,
    pub rows: u32,
    pub width: u8,
}

#[derive(Debug)]
struct Known {
    ty: Type,
    /// Register components of a value; 0 where there are no values of the type.
    components: u32,
    depth: u32,
    /// United decorations of the members, at any depth.
    decorations: Decorations,
    /// Whether values hold physical pointers, or runtime arrays of them.
    physical: bool,
    /// In memory, without a placement; `None` where memory cannot hold the type.
    extent: Option<Extent>,
}

/// All types of a module.
#[derive(Debug, Default)]
pub(super) struct TypeTable {
    known: HashMap<u32, Result<Known, Problem>>,
    /// Integer types with a sign: it matters to images alone.
    signed: HashSet<u32>,
    cooperative: HashMap<u32, Spread>,
    tensors: HashMap<u32, TensorType>,
    /// Invocations of a workgroup, as far as it is known.
    pub local_invocations: Option<u32>,
}

impl TypeTable {
    /// Takes up a type declaration; the constants before it give the lengths of arrays.
    pub fn declare(
        &mut self,
        instruction: &Instruction,
        decorations: &DecorationTable,
        constants: &ConstantTable,
    ) {
        if let (Some(Opcode::TypeForwardPointer), Some(id), Some(class)) =
            (instruction.op(), instruction.word(0), instruction.word(1))
        {
            // Structs may hold the pointer from here on; what it points to comes with its declaration.
            let ty = storage_class(class, instruction.line).map(|class| Type::Pointer { class, pointee: 0 });
            self.known.insert(id, ty.and_then(|ty| self.measure(ty, instruction.line)));
            return;
        }
        // Constants and variables have a result type; what else has a result is never looked up.
        let (Some(id), None) = (instruction.result, instruction.result_type) else { return };
        let known = match instruction.op() {
            Some(opcode) => self.resolve(id, opcode, instruction, decorations, constants),
            None => Err(Problem::unsupported(instruction.name(), instruction.line)),
        };
        if instruction.op() == Some(Opcode::TypeInt) && instruction.word(1) == Some(1) {
            self.signed.insert(id);
        }
        if instruction.op() == Some(Opcode::TypeCooperativeMatrixKHR) {
            let spread = cooperative::spread(instruction, self, constants, self.local_invocations);
            self.cooperative.extend(spread.ok().map(|spread| (id, spread)));
        }
        if let Ok(Some(tensor)) = tensor::tensor_type(instruction, self, constants) {
            self.tensors.insert(id, tensor);
        }
        self.known.insert(id, known);
    }

    /// The cooperative matrix type with this id, if it is one.
    pub fn cooperative(&self, id: u32) -> Option<Spread> {
        self.cooperative.get(&id).copied()
    }

    /// The type of tensor layouts or views with this id, if it is one.
    pub fn tensor(&self, id: u32) -> Option<TensorType> {
        self.tensors.get(&id).copied()
    }

    /// Whether this is an integer type with a sign.
    pub fn is_signed(&self, id: u32) -> bool {
        self.signed.contains(&id)
    }

    fn resolve(
        &self,
        id: u32,
        opcode: Opcode,
        instruction: &Instruction,
        decorations: &DecorationTable,
        constants: &ConstantTable,
    ) -> Result<Known, Problem> {
        let line = instruction.line;
        let word = |position| {
            let missing = || Problem::invalid(line, format!("{} lacks an operand", instruction.name()));
            instruction.word(position).ok_or_else(missing)
        };
        let stride = || {
            decorations.find(id, |decoration| match decoration {
                Decoration::ArrayStride(stride) => Some(*stride),
                _ => None,
            })
        };
        let ty = match opcode {
            Opcode::TypeVoid => Type::Void,
            Opcode::TypeBool => Type::Bool,
            Opcode::TypeInt => match word(0)? {
                width @ (8 | 16 | 32 | 64) => Type::Int { width: width as u8 },
                width => return Err(Problem::unsupported(format!("OpTypeInt {width}"), line)),
            },
            Opcode::TypeFloat => match (word(0)?, instruction.word(1)) {
                (width @ (16 | 32 | 64), None) => Type::Float { width: width as u8, encoding: None },
                (width, None) => return Err(Problem::unsupported(format!("OpTypeFloat {width}"), line)),
                (width, Some(encoding)) => {
                    let known = float_encoding(encoding);
                    if let Some(known) = known.filter(|known| u32::from(known.width()) == width) {
                        return self
                            .measure(Type::Float { width: known.width(), encoding: Some(known) }, line);
                    }
                    return Err(Problem::unsupported(
                        format!("OpTypeFloat {width} of encoding {encoding}"),
                        line,
                    ));
                }
            },
            Opcode::TypeVector => Type::Vector { component: word(0)?, count: word(1)? },
            Opcode::TypeMatrix => Type::Matrix { column: word(0)?, columns: word(1)? },
            Opcode::TypeArray => {
                let length = constants.integer(word(1)?, self, line)?;
                let length = u32::try_from(length)
                    .map_err(|_| Problem::unsupported(format!("OpTypeArray of {length} elements"), line))?;
                if length == 0 {
                    return Err(Problem::invalid(line, "an array needs at least one element"));
                }
                Type::Array { element: word(0)?, length, stride: stride() }
            }
            Opcode::TypeCooperativeMatrixKHR => {
                let spread = cooperative::spread(instruction, self, constants, self.local_invocations)?;
                Type::Array { element: word(0)?, length: spread.slots, stride: None }
            }
            Opcode::TypeTensorLayoutNV | Opcode::TypeTensorViewNV => {
                // Numbers of the type that the number of dimensions has: 32-bit integers.
                let element = constants.value(word(0)?, line)?.ty;
                match tensor::tensor_type(instruction, self, constants)? {
                    Some(tensor) => Type::Array { element, length: tensor.size(), stride: None },
                    None => return Err(Problem::unsupported(instruction.name(), line)),
                }
            }
            Opcode::TypeRuntimeArray => Type::RuntimeArray { element: word(0)?, stride: stride() },
            Opcode::TypeStruct => Type::Struct {
                members: (0..)
                    .zip(instruction.operands)
                    .map(|(number, &ty)| member(ty, decorations.of_member(id, number)))
                    .collect(),
                block: if decorations.has(id, Decoration::Block) {
                    BlockKind::Block
                } else if decorations.has(id, Decoration::BufferBlock) {
                    BlockKind::BufferBlock
                } else {
                    BlockKind::Plain
                },
            },
            Opcode::TypePointer => Type::Pointer { class: storage_class(word(0)?, line)?, pointee: word(1)? },
            Opcode::TypeUntypedPointerKHR => Type::UntypedPointer { class: storage_class(word(0)?, line)? },
            Opcode::TypeFunction => {
                Type::Function { result: word(0)?, parameters: instruction.words_from(1).into() }
            }
            Opcode::TypeImage => Type::Image(super::images::image_type(instruction, self)?),
            Opcode::TypeSampler => Type::Sampler,
            Opcode::TypeSampledImage => match self.get(word(0)?, line)? {
                Type::Image(image) => Type::SampledImage(*image),
                _ => return Err(Problem::invalid(line, "OpTypeSampledImage does not name an image type")),
            },
            Opcode::TypeAccelerationStructureKHR => Type::AccelerationStructure,
            Opcode::TypeRayQueryKHR => Type::RayQuery,
            _ => return Err(Problem::unsupported(instruction.name(), line)),
        };
        self.measure(ty, line)
    }

    fn measure(&self, ty: Type, line: Line) -> Result<Known, Problem> {
        let mut depth = 0;
        let mut decorations = Decorations::default();
        let mut components: u64 = 0;
        let mut physical = matches!(
            ty,
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }
                | Type::UntypedPointer { class: StorageClass::PhysicalStorageBuffer }
        );
        let mut part = |id: u32, times: u32| -> Result<(), Problem> {
            let known = self.known(id, line)?;
            depth = depth.max(known.depth + 1);
            decorations = decorations.union(known.decorations);
            physical |= known.physical;
            components += u64::from(known.components) * u64::from(times);
            Ok(())
        };
        match &ty {
            Type::Void | Type::Function { .. } | Type::RayQuery => {}
            Type::AccelerationStructure => components = 1,
            Type::Bool | Type::Int { .. } | Type::Float { .. } => components = 1,
            Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::Image(_) | Type::Sampler => {
                components = 2
            }
            Type::SampledImage(_) => components = 4,
            Type::Vector { component, count } => {
                let scalar = matches!(
                    self.known(*component, line)?.ty,
                    Type::Bool | Type::Int { .. } | Type::Float { .. }
                );
                if !scalar || *count < 2 {
                    return Err(Problem::invalid(line, "a vector needs two or more scalar components"));
                }
                part(*component, *count)?;
            }
            Type::Matrix { column, columns } => {
                match self.lanes(*column, line) {
                    Ok(Lanes { kind: Kind::Float, count: 2.., .. }) => {}
                    Ok(_) => return Err(Problem::invalid(line, "the columns of a matrix are float vectors")),
                    Err(problem) => return Err(problem),
                }
                part(*column, *columns)?;
            }
            Type::Array { element, length, .. } => part(*element, *length)?,
            Type::RuntimeArray { element, .. } => part(*element, 0)?,
            Type::Struct { members, .. } => {
                let mut unsupported = Vec::new();
                for member in members.iter() {
                    match part(member.ty, 1) {
                        Ok(()) => {}
                        Err(Problem::Unsupported(list)) => unsupported.extend(list),
                        Err(invalid @ Problem::Invalid { .. }) => return Err(invalid),
                    }
                }
                if !unsupported.is_empty() {
                    return Err(Problem::Unsupported(unsupported));
                }
                for member in members.iter() {
                    decorations = decorations.union(member.decorations);
                }
            }
        }
        if depth > MAX_DEPTH {
            return Err(Problem::unsupported(format!("a type nested deeper than {MAX_DEPTH} levels"), line));
        }
        // Large arrays exist in memory; what is refused is a value of that size.
        let components = u32::try_from(components).unwrap_or(u32::MAX);
        let extent = self.measure_extent(&ty, Placement::default(), line)?;
        Ok(Known { ty, components, depth, decorations, physical, extent })
    }
}

/// What a value consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarType {
    /// A bool, integer or float of this many bits.
    Number(u8),
    /// Two components.
    Pointer,
    /// Two components, of which memory holds the first.
    PhysicalPointer,
}

fn member(ty: u32, decorations: &[Decoration]) -> Member {
    let mut offset = None;
    let mut stride = None;
    for decoration in decorations {
        match *decoration {
            Decoration::Offset(bytes) => offset = Some(bytes),
            Decoration::MatrixStride(bytes) => stride = Some(bytes),
            _ => {}
        }
    }
    let row_major = decorations.contains(&Decoration::RowMajor);
    Member {
        ty,
        offset,
        matrix: stride.map(|stride| MatrixLayout { stride, row_major }),
        decorations: memory_decorations(decorations),
    }
}

/// The format that an encoding of OpTypeFloat names.
pub(super) fn float_encoding(encoding: u32) -> Option<FloatEncoding> {
    match FPEncoding::from_u32(encoding)? {
        FPEncoding::BFloat16KHR => Some(FloatEncoding::BFloat16),
        FPEncoding::Float8E4M3EXT => Some(FloatEncoding::Float8E4M3),
        FPEncoding::Float8E5M2EXT => Some(FloatEncoding::Float8E5M2),
    }
}

fn storage_class(number: u32, line: Line) -> Result<StorageClass, Problem> {
    let unsupported = |name: String| Err(Problem::unsupported(format!("storage class {name}"), line));
    match Class::from_u32(number) {
        Some(Class::Input) => Ok(StorageClass::Input),
        Some(Class::Uniform) => Ok(StorageClass::Uniform),
        Some(Class::Output) => Ok(StorageClass::Output),
        Some(Class::Workgroup) => Ok(StorageClass::Workgroup),
        Some(Class::Private) => Ok(StorageClass::Private),
        Some(Class::Function) => Ok(StorageClass::Function),
        Some(Class::PushConstant) => Ok(StorageClass::PushConstant),
        Some(Class::StorageBuffer) => Ok(StorageClass::StorageBuffer),
        Some(Class::PhysicalStorageBuffer) => Ok(StorageClass::PhysicalStorageBuffer),
        // An image or sampler behind the pointer says more than the class.
        Some(Class::UniformConstant) => Ok(StorageClass::UniformConstant),
        Some(Class::Image) => Ok(StorageClass::Image),
        Some(class) => unsupported(format!("{class:?}")),
        None => unsupported(number.to_string()),
    }
}
