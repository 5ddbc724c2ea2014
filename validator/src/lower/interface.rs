//! Input and Output variables of vertex and fragment entry points: what the host gives and gets, by
//! location or built-in (Vulkan specification, "Shader Interfaces").

use rspirv::spirv::BuiltIn as Number;

use super::decorations::Decoration;
use super::error::Problem;
use super::globals::Globals;
use super::layout::{to_bytes, Placement};
use super::types::{BlockKind, Kind, Type};
use crate::event::StorageClass;
use crate::ir::{InterfacePart, Line};

/// Variables of more parts than this are refused.
const MAX_PARTS: usize = 1024;
/// Bytes of a location.
const LOCATION: u64 = 16;

/// Where a part of an interface lies.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    location: u32,
    component: u32,
    index: u32,
}

struct Walk<'a, 'm> {
    globals: &'a Globals<'m>,
    line: Line,
    parts: Vec<InterfacePart>,
    /// Floats are interpolated.
    interpolated: bool,
}

/// The parts of an Input or Output variable with this pointee.
pub(super) fn parts(
    globals: &Globals,
    id: u32,
    ty: u32,
    class: StorageClass,
    line: Line,
) -> Result<Vec<InterfacePart>, Problem> {
    let own = globals.decorations.of(id);
    let is_input = globals.fragment && class == StorageClass::Input;
    let interpolated = is_input && !own.contains(&Decoration::Flat);
    let mut walk = Walk { globals, line, parts: Vec::new(), interpolated };
    if let Some(number) = built_in(own) {
        walk.push(built_in_name(number, class, line)?, 0, ty)?;
        return Ok(walk.parts);
    }
    let location = find(own, |decoration| match decoration {
        Decoration::Location(location) => Some(location),
        _ => None,
    });
    let at = At { location: location.unwrap_or(0), ..at(own) };
    match globals.types.get(ty, line)? {
        Type::Struct { members, block: BlockKind::Block } => {
            let offsets = globals.types.member_offsets(members, line)?;
            let mut next = location;
            for (number, (member, offset)) in (0..).zip(members.iter().zip(offsets)) {
                let decorations = globals.decorations.of_member(ty, number);
                if let Some(number) = built_in(decorations) {
                    walk.push(built_in_name(number, class, line)?, offset, member.ty)?;
                    continue;
                }
                let own = find(decorations, |decoration| match decoration {
                    Decoration::Location(location) => Some(location),
                    _ => None,
                });
                let Some(start) = own.or(next) else {
                    return Err(Problem::invalid(line, "a member of the interface has no Location"));
                };
                walk.interpolated = interpolated && !decorations.contains(&Decoration::Flat);
                let taken =
                    walk.expand(member.ty, At { location: start, ..self::at(decorations) }, offset)?;
                next = Some(start.saturating_add(taken));
            }
        }
        _ if location.is_none() => {
            return Err(Problem::invalid(line, "an interface variable has no Location"));
        }
        _ => {
            walk.expand(ty, at, 0)?;
        }
    }
    Ok(walk.parts)
}

impl Walk<'_, '_> {
    fn push(&mut self, name: String, offset: u64, ty: u32) -> Result<(), Problem> {
        if self.parts.len() >= MAX_PARTS {
            let what = format!("an interface variable of more than {MAX_PARTS} parts");
            return Err(Problem::unsupported(what, self.line));
        }
        let size = self.globals.types.size(ty, Placement::default(), self.line)?;
        let lanes = self.globals.types.lanes(ty, self.line).ok();
        let float = lanes.filter(|lanes| self.interpolated && lanes.kind == Kind::Float);
        let varies = float.map(|lanes| lanes.width);
        self.parts.push(InterfacePart { name, offset: to_bytes(offset, self.line)?, size, varies });
        Ok(())
    }

    /// Adds what a type at a location consists of; returns how many locations it takes.
    fn expand(&mut self, ty: u32, at: At, offset: u64) -> Result<u32, Problem> {
        let types = &self.globals.types;
        let line = self.line;
        match types.get(ty, line)? {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Vector { .. } => {
                self.push(at.name(), offset, ty)?;
                let size = types.natural_extent(ty, line)?.size;
                Ok(if size > LOCATION { 2 } else { 1 })
            }
            Type::Matrix { column, columns } => {
                let stride = u64::from(types.matrix_strides(ty, None, line)?.column);
                self.repeat(*column, *columns, stride, at, offset)
            }
            Type::Array { element, length, stride } => {
                let stride = types.array_stride(*element, *stride, Placement::default(), line)?;
                self.repeat(*element, *length, u64::from(stride), at, offset)
            }
            Type::Struct { members, .. } => {
                let mut taken = 0;
                for (member, start) in members.iter().zip(types.member_offsets(members, line)?) {
                    let inner = At { location: at.location.saturating_add(taken), ..at };
                    taken = self.expand(member.ty, inner, offset + start)?.saturating_add(taken);
                }
                Ok(taken)
            }
            Type::Void
            | Type::RuntimeArray { .. }
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_)
            | Type::AccelerationStructure
            | Type::RayQuery
            | Type::Function { .. } => {
                Err(Problem::invalid(line, "the type cannot be passed between stages"))
            }
        }
    }

    fn repeat(&mut self, ty: u32, count: u32, stride: u64, at: At, offset: u64) -> Result<u32, Problem> {
        let mut taken: u32 = 0;
        for index in 0..count {
            let inner = At { location: at.location.saturating_add(taken), ..at };
            taken = self.expand(ty, inner, offset + u64::from(index) * stride)?.saturating_add(taken);
        }
        Ok(taken)
    }
}

impl At {
    /// `LOCATION`, `LOCATION.COMPONENT` or `LOCATION.COMPONENT.INDEX`.
    fn name(self) -> String {
        match (self.component, self.index) {
            (0, 0) => self.location.to_string(),
            (component, 0) => format!("{}.{component}", self.location),
            (component, index) => format!("{}.{component}.{index}", self.location),
        }
    }
}

fn at(decorations: &[Decoration]) -> At {
    let mut at = At::default();
    for decoration in decorations {
        match *decoration {
            Decoration::Component(component) => at.component = component,
            Decoration::Index(index) => at.index = index,
            _ => {}
        }
    }
    at
}

fn find(decorations: &[Decoration], pick: impl Fn(Decoration) -> Option<u32>) -> Option<u32> {
    decorations.iter().find_map(|decoration| pick(*decoration))
}

fn built_in(decorations: &[Decoration]) -> Option<u32> {
    find(decorations, |decoration| match decoration {
        Decoration::BuiltIn(number) => Some(number),
        _ => None,
    })
}

/// The name of a built-in of vertex and fragment entry points.
fn built_in_name(number: u32, class: StorageClass, line: Line) -> Result<String, Problem> {
    let Some(built_in) = Number::from_u32(number) else {
        return Err(Problem::unsupported(format!("BuiltIn {number}"), line));
    };
    let known = match class {
        StorageClass::Output => matches!(
            built_in,
            Number::Position
                | Number::PointSize
                | Number::ClipDistance
                | Number::CullDistance
                | Number::FragDepth
                | Number::SampleMask
                | Number::FragStencilRefEXT
                | Number::Layer
                | Number::ViewportIndex
                | Number::PrimitiveShadingRateKHR
        ),
        _ => matches!(
            built_in,
            Number::VertexIndex
                | Number::InstanceIndex
                | Number::BaseVertex
                | Number::BaseInstance
                | Number::DrawIndex
                | Number::ViewIndex
                | Number::DeviceIndex
                | Number::FragCoord
                | Number::FrontFacing
                | Number::PointCoord
                | Number::SampleId
                | Number::SamplePosition
                | Number::SampleMask
                | Number::HelperInvocation
                | Number::PrimitiveId
                | Number::Layer
                | Number::ViewportIndex
                | Number::ClipDistance
                | Number::CullDistance
                | Number::ShadingRateKHR
                | Number::BaryCoordKHR
                | Number::BaryCoordNoPerspKHR
        ),
    };
    match known {
        true => Ok(format!("{built_in:?}")),
        false => Err(Problem::unsupported(format!("BuiltIn {built_in:?}"), line)),
    }
}

/// Whether compute entry points have the built-in, too.
pub(super) fn is_of_every_stage(number: u32) -> bool {
    matches!(Number::from_u32(number), Some(Number::SubgroupSize | Number::SubgroupLocalInvocationId))
}
