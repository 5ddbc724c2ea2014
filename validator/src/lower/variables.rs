//! Module-scope variables (SPIR-V specification 3.3.8, OpVariable).

use rspirv::spirv::BuiltIn as Number;

use super::decorations::Decoration;
use super::error::Problem;
use super::globals::Globals;
use super::interface;
use super::layout::{Placement, ShapeTable};
use super::memory::variable_type;
use super::physical::Pointees;
use super::program::{decoration_literal, decorations_of, descriptor_array};
use super::types::{BlockKind, Type};
use crate::event::StorageClass;
use crate::ir::image::Resource;
use crate::ir::{BuiltIn, Decorations, InterfacePart, Line, Operand, ShapeId, Variable};

/// Lowers the variable that the instruction at `at` declares.
pub(super) fn lower(
    globals: &Globals,
    shapes: &mut ShapeTable,
    pointees: &mut Pointees,
    id: u32,
    at: usize,
) -> Result<Variable, Problem> {
    let Some(instruction) = globals.module.instruction(at) else {
        return Err(Problem::invalid(0, format!("%{id} is not a variable")));
    };
    let line = instruction.line;
    let types = &globals.types;
    let declared = variable_type(types, &instruction)?;
    let (class, pointee) = (declared.class, declared.pointee);
    let (ty, descriptors) = match class {
        StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant => {
            match descriptor_array(globals, pointee, line)? {
                Some((element, length)) => (element, Some(length)),
                None => (pointee, None),
            }
        }
        _ => (pointee, None),
    };
    let shape = shapes.intern(types, ty, Placement::default(), line)?;
    let block = block_kind(globals, ty, line)?;
    let resource = resource(globals, class, ty, line)?;
    supported(class, line)?;
    let literal = |pick: fn(Decoration) -> Option<u32>| decoration_literal(globals, id, pick);
    let set = literal(|decoration| match decoration {
        Decoration::DescriptorSet(set) => Some(set),
        _ => None,
    });
    let binding = literal(|decoration| match decoration {
        Decoration::Binding(binding) => Some(binding),
        _ => None,
    });
    let built_in = literal(|decoration| match decoration {
        Decoration::BuiltIn(number) => Some(number),
        _ => None,
    });
    let bound = matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer) || resource.is_some();
    if bound && (set, binding) == (None, None) {
        let what = match resource {
            Some(Resource::AccelerationStructure) => "an acceleration structure",
            Some(Resource::Image(_) | Resource::Sampler | Resource::SampledImage(_)) => "an image or sampler",
            None => "a buffer",
        };
        return Err(Problem::unsupported(format!("{what} without DescriptorSet and Binding"), line));
    }
    let between_stages = matches!(class, StorageClass::Input | StorageClass::Output)
        && (globals.graphics || built_in == Some(Number::DeviceIndex as u32))
        && !built_in.is_some_and(interface::is_of_every_stage);
    let (built_in, interface) = match between_stages {
        true => (None, interface::parts(globals, id, ty, class, line)?),
        false => (built_in.map(|number| built_in_of(number, line)).transpose()?, Vec::new()),
    };
    match (class, built_in) {
        (StorageClass::Input, None) if !between_stages => {
            return Err(Problem::unsupported("an Input variable that is no built-in", line));
        }
        (StorageClass::Input, Some(built_in)) => check_built_in(globals, built_in, ty, line)?,
        _ => {}
    }
    Ok(Variable {
        id,
        name: globals.index.any_name(id).map(str::to_owned),
        type_name: globals.index.name(ty).map(str::to_owned),
        class,
        binding: bound.then(|| (set.unwrap_or(0), binding.unwrap_or(0))),
        descriptors,
        built_in,
        resource,
        decorations: decorations_of(globals, id),
        size: types.size(ty, Placement::default(), line)?,
        runtime_stride: runtime_stride(globals, ty, line)?,
        shape,
        initializer: initializer(globals, declared.initializer, pointee, line)?,
        block: class == StorageClass::Workgroup && block != BlockKind::Plain,
        interface,
        pointers: match class {
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::PushConstant => {
                pointees.members(globals, ty, line)?
            }
            _ => Vec::new(),
        },
        constant: resource == Some(Resource::AccelerationStructure)
            || class == StorageClass::PushConstant
            || class == StorageClass::Uniform && block != BlockKind::BufferBlock,
        line,
    })
}

/// The variable, without a declaration of its own, that says whether a fragment was discarded: 0 or 1.
pub(super) fn discard_mark(shape: ShapeId, initializer: Operand, line: Line) -> Variable {
    Variable {
        id: 0,
        name: Some("discard".to_owned()),
        type_name: None,
        class: StorageClass::Output,
        binding: None,
        descriptors: None,
        resource: None,
        built_in: None,
        decorations: Decorations::default(),
        size: 4,
        runtime_stride: None,
        shape,
        initializer: Some(initializer),
        block: false,
        interface: vec![InterfacePart { name: "discard".to_owned(), offset: 0, size: 4, varies: None }],
        pointers: Vec::new(),
        constant: false,
        line,
    }
}

/// The constant that a variable starts with.
pub(super) fn initializer(
    globals: &Globals,
    id: Option<u32>,
    pointee: u32,
    line: Line,
) -> Result<Option<Operand>, Problem> {
    let Some(id) = id else { return Ok(None) };
    if globals.variable(id).is_some() {
        return Err(Problem::unsupported("a variable initialised with a pointer to a variable", line));
    }
    let value = globals.constants.value(id, line)?;
    if value.ty != pointee {
        return Err(Problem::invalid(line, "the initializer is not of the variable's type"));
    }
    Ok(Some(value.operand))
}

fn block_kind(globals: &Globals, ty: u32, line: Line) -> Result<BlockKind, Problem> {
    Ok(match globals.types.get(ty, line)? {
        Type::Struct { block, .. } => *block,
        _ => BlockKind::Plain,
    })
}

/// The image or sampler that a variable is; in UniformConstant there is nothing else.
fn resource(
    globals: &Globals,
    class: StorageClass,
    ty: u32,
    line: Line,
) -> Result<Option<Resource>, Problem> {
    if class != StorageClass::UniformConstant {
        return Ok(None);
    }
    match globals.types.get(ty, line)? {
        Type::Image(image) => Ok(Some(Resource::Image(*image))),
        Type::Sampler => Ok(Some(Resource::Sampler)),
        Type::AccelerationStructure => Ok(Some(Resource::AccelerationStructure)),
        Type::SampledImage(image) => Ok(Some(Resource::SampledImage(*image))),
        Type::Array { .. } | Type::RuntimeArray { .. } => {
            Err(Problem::unsupported("an array of arrays of images or samplers", line))
        }
        _ => Err(Problem::unsupported("OpVariable in storage class UniformConstant", line)),
    }
}

fn supported(class: StorageClass, line: Line) -> Result<(), Problem> {
    match class {
        StorageClass::Input
        | StorageClass::Uniform
        | StorageClass::Output
        | StorageClass::Workgroup
        | StorageClass::Private
        | StorageClass::PushConstant
        | StorageClass::StorageBuffer
        | StorageClass::UniformConstant => Ok(()),
        StorageClass::Function => {
            Err(Problem::invalid(line, "a variable outside of functions has the storage class Function"))
        }
        StorageClass::CrossWorkgroup
        | StorageClass::AtomicCounter
        | StorageClass::Image
        | StorageClass::PhysicalStorageBuffer => {
            Err(Problem::unsupported(format!("OpVariable in storage class {class:?}"), line))
        }
    }
}

/// The stride of the runtime array at the end of a block.
pub(super) fn runtime_stride(globals: &Globals, ty: u32, line: Line) -> Result<Option<u32>, Problem> {
    let (last, placement) = match globals.types.get(ty, line)? {
        Type::Struct { members, .. } => match members.last() {
            Some(member) => (member.ty, member.placement()),
            None => return Ok(None),
        },
        _ => (ty, Placement::default()),
    };
    match globals.types.get(last, line)? {
        Type::RuntimeArray { element, stride } => {
            globals.types.array_stride(*element, *stride, placement, line).map(Some)
        }
        _ => Ok(None),
    }
}

fn built_in_of(number: u32, line: Line) -> Result<BuiltIn, Problem> {
    match Number::from_u32(number) {
        Some(Number::NumWorkgroups) => Ok(BuiltIn::NumWorkgroups),
        Some(Number::WorkgroupSize) => Ok(BuiltIn::WorkgroupSize),
        Some(Number::WorkgroupId) => Ok(BuiltIn::WorkgroupId),
        Some(Number::LocalInvocationId) => Ok(BuiltIn::LocalInvocationId),
        Some(Number::GlobalInvocationId) => Ok(BuiltIn::GlobalInvocationId),
        Some(Number::LocalInvocationIndex) => Ok(BuiltIn::LocalInvocationIndex),
        Some(Number::SubgroupSize) => Ok(BuiltIn::SubgroupSize),
        Some(Number::NumSubgroups) => Ok(BuiltIn::NumSubgroups),
        Some(Number::SubgroupId) => Ok(BuiltIn::SubgroupId),
        Some(Number::SubgroupLocalInvocationId) => Ok(BuiltIn::SubgroupLocalInvocationId),
        Some(Number::SubgroupEqMask) => Ok(BuiltIn::SubgroupEqMask),
        Some(Number::SubgroupGeMask) => Ok(BuiltIn::SubgroupGeMask),
        Some(Number::SubgroupGtMask) => Ok(BuiltIn::SubgroupGtMask),
        Some(Number::SubgroupLeMask) => Ok(BuiltIn::SubgroupLeMask),
        Some(Number::SubgroupLtMask) => Ok(BuiltIn::SubgroupLtMask),
        Some(other) => Err(Problem::unsupported(format!("BuiltIn {other:?}"), line)),
        None => Err(Problem::unsupported(format!("BuiltIn {number}"), line)),
    }
}

/// Built-ins are 32-bit integers: four of them, three or one.
fn check_built_in(globals: &Globals, built_in: BuiltIn, ty: u32, line: Line) -> Result<(), Problem> {
    let wanted = match built_in {
        BuiltIn::SubgroupEqMask
        | BuiltIn::SubgroupGeMask
        | BuiltIn::SubgroupGtMask
        | BuiltIn::SubgroupLeMask
        | BuiltIn::SubgroupLtMask => 4,
        BuiltIn::NumWorkgroups
        | BuiltIn::WorkgroupSize
        | BuiltIn::WorkgroupId
        | BuiltIn::LocalInvocationId
        | BuiltIn::GlobalInvocationId => 3,
        BuiltIn::LocalInvocationIndex
        | BuiltIn::SubgroupSize
        | BuiltIn::NumSubgroups
        | BuiltIn::SubgroupId
        | BuiltIn::SubgroupLocalInvocationId => 1,
    };
    let lanes = globals.types.lanes(ty, line)?;
    if lanes.kind == super::types::Kind::Int && lanes.width == 32 && lanes.count == wanted {
        Ok(())
    } else {
        Err(Problem::invalid(line, format!("the built-in {built_in:?} has the wrong type")))
    }
}
