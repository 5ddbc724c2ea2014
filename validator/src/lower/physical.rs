//! Physical pointers in memory that the host fills, and what they point to: automatic inputs give
//! each a buffer.

use std::collections::HashMap;

use super::error::Problem;
use super::globals::Globals;
use super::layout::{to_bytes, Placement};
use super::types::Type;
use super::variables::runtime_stride;
use crate::ir::{Line, PhysicalPointee, PointerMember};

/// Pointers of one array that are found, at most: the others stay as the host fills them.
const MAX_ELEMENTS: u32 = 16;

/// What physical pointers point to, each type once.
#[derive(Debug, Default)]
pub(super) struct Pointees {
    numbers: HashMap<u32, u32>,
    /// Types by number.
    types: Vec<u32>,
}

/// Where a walk through a type stands.
#[derive(Clone, Copy)]
struct At<'n> {
    offset: u64,
    stride: Option<u32>,
    name: Option<&'n str>,
}

impl Pointees {
    /// The pointers in memory of this type.
    pub fn members(&mut self, globals: &Globals, ty: u32, line: Line) -> Result<Vec<PointerMember>, Problem> {
        let mut members = Vec::new();
        self.walk(globals, ty, At { offset: 0, stride: None, name: None }, line, &mut members)?;
        Ok(members)
    }

    /// What all pointers found so far point to, and those in there. A type that cannot be laid out
    /// has no size.
    pub fn finish(mut self, globals: &Globals) -> Vec<PhysicalPointee> {
        let mut pointees = Vec::new();
        while let Some(&ty) = self.types.get(pointees.len()) {
            pointees.push(self.pointee(globals, ty).unwrap_or_default());
        }
        pointees
    }

    fn pointee(&mut self, globals: &Globals, ty: u32) -> Result<PhysicalPointee, Problem> {
        Ok(PhysicalPointee {
            size: globals.types.size(ty, Placement::default(), 0)?,
            runtime_stride: runtime_stride(globals, ty, 0)?,
            pointers: self.members(globals, ty, 0)?,
        })
    }

    /// The number of a pointee's type.
    pub fn number(&mut self, ty: u32) -> u32 {
        let next = self.types.len() as u32;
        let number = *self.numbers.entry(ty).or_insert(next);
        if number == next {
            self.types.push(ty);
        }
        number
    }

    fn walk(
        &mut self,
        globals: &Globals,
        ty: u32,
        at: At<'_>,
        line: Line,
        members: &mut Vec<PointerMember>,
    ) -> Result<(), Problem> {
        let types = &globals.types;
        if !types.holds_physical(ty, line)? {
            return Ok(());
        }
        match types.get(ty, line)? {
            Type::Pointer { pointee, .. } => {
                let pointee = self.number(*pointee);
                let offset = to_bytes(at.offset, line)?;
                let name = at.name.map(str::to_owned);
                members.push(PointerMember { offset, stride: at.stride, name, pointee });
            }
            Type::Array { element, length, stride } => {
                let stride = types.array_stride(*element, *stride, Placement::default(), line)?;
                for index in 0..(*length).min(MAX_ELEMENTS) {
                    let offset = at.offset + u64::from(index) * u64::from(stride);
                    self.walk(globals, *element, At { offset, ..at }, line, members)?;
                }
            }
            Type::RuntimeArray { element, stride } => {
                let stride = types.array_stride(*element, *stride, Placement::default(), line)?;
                self.walk(globals, *element, At { stride: Some(stride), ..at }, line, members)?;
            }
            Type::Struct { members: parts, .. } => {
                for (number, (part, start)) in (0..).zip(parts.iter().zip(types.member_offsets(parts, line)?))
                {
                    let name = globals.index.member_name(ty, number).or(at.name);
                    let inner = At { offset: at.offset + start, name, ..at };
                    self.walk(globals, part.ty, inner, line, members)?;
                }
            }
            // What an untyped pointer points to is not known here; the others hold none.
            Type::UntypedPointer { .. }
            | Type::AccelerationStructure
            | Type::RayQuery
            | Type::Void
            | Type::Bool
            | Type::Int { .. }
            | Type::Float { .. }
            | Type::Vector { .. }
            | Type::Matrix { .. }
            | Type::Function { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => {}
        }
        Ok(())
    }
}
