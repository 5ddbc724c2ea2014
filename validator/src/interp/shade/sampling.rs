//! Instructions that look up texels by a sampler (Vulkan, "Texel Filtering"): bounds of what they may give.
//!
//! A result is a weighted mean of texels and of the border's colour, so it lies between the least and the greatest of
//! them. If the coordinates are what they are and filtering is linear, weights have a few bits of fraction, and the
//! result is as near to the one that was computed as those demand.

use super::computations::Elsewhere;
use super::interval::Interval;
use super::{Observer, Shade};
use crate::dispatch::Object;
use crate::interp::image::{decode, SUBTEXEL};
use crate::ir::image::{AddressMode, Dim, Filter, ImageAction, ImageOp, TexelKind};
use crate::ir::{Inst, Operand};
use crate::value::Scalar;

/// Components of any texel.
const COMPONENTS: usize = 4;

impl Observer<'_, '_> {
    /// `shaded`: an operand is a float that may be another one; `open`: texels were filtered, or are near to others
    /// that may be looked up for them.
    pub(super) fn sample(&mut self, inst: &Inst, op: &ImageOp, shaded: bool, open: bool) {
        let count = match op.action {
            ImageAction::Sample { count, .. } => count,
            _ => COMPONENTS as u32,
        };
        let results: Vec<Operand> = (op.dst..op.dst + count).map(Operand::register).collect();
        let values: Vec<Scalar> = results.iter().map(|result| self.value(*result)).collect();
        let elsewhere = self.elsewhere(inst, inst.opcode, op.ty.width, &values);
        let image = self.machine.resolve(op.image, inst.line).ok();
        let Some(object) = image.and_then(|image| self.machine.dispatch.objects.get(image.object as usize))
        else {
            self.depend(inst);
            return;
        };
        let is_written = self.shared.of_space(object.memory).next().is_some();
        let is_open = shaded || open || is_written;
        let bounds = (is_open && !is_written && elsewhere != Elsewhere::Equally)
            .then(|| self.bounds(inst, op, object));
        let bounds = bounds.flatten();
        let reach = if shaded { None } else { self.reach(inst, op, object) };
        for (component, register) in (op.dst..op.dst + count).enumerate() {
            let shade: Shade = match (is_open, bounds) {
                (false, _) => None,
                (true, None) => Some(Interval::ANY),
                (true, Some(bounds)) => {
                    let bound = bounds[component];
                    let interval = match reach {
                        Some(reach) if !bound.is_any() => {
                            let computed = super::float::number(32, self.value(Operand::register(register)));
                            computed.widen(reach * (bound.high - bound.low))
                        }
                        _ => bound,
                    };
                    self.around(32, register, interval)
                }
            };
            self.set(register, self.side_by_side_shade(elsewhere, op.ty.width, register, shade));
        }
    }

    /// How far the result may be from the one that was computed, as a share of the difference between the greatest and
    /// the least texel; `None` where another texel may be looked up.
    fn reach(&self, inst: &Inst, op: &ImageOp, object: &Object) -> Option<f64> {
        let layout = object.image?;
        let sampler = self.machine.sampler(op, inst.line).ok()?;
        let compares = match op.action {
            ImageAction::Sample { reference, .. } => reference.is_some(),
            _ => return None,
        };
        // A cube's coordinates may be on another face.
        if sampler.filter != Filter::Linear || compares || layout.dim == Dim::Cube {
            return None;
        }
        // Derivatives say the level, which may be computed otherwise, or it is the nearest one.
        let levels = u32::from(layout.levels > 1);
        let is_derived = op.is_implicit() || op.operands.grad.is_some();
        if levels > 0 && (is_derived || sampler.mipmap != Filter::Linear) {
            return None;
        }
        Some(SUBTEXEL * f64::from(layout.dim.dimensions() as u32 + levels))
    }

    /// The least and the greatest of each component; `None` where they are not known.
    fn bounds(&self, inst: &Inst, op: &ImageOp, object: &Object) -> Option<[Interval; COMPONENTS]> {
        let layout = object.image?;
        let objects = &self.machine.dispatch.objects;
        let is_shared = objects.iter().filter(|other| other.memory == object.memory).count() > 1;
        let is_constant = !object.observed && !is_shared;
        if layout.format.kind() != TexelKind::Float || op.ty.width != 32 || !is_constant {
            return None;
        }
        let sampler = self.machine.sampler(op, inst.line).ok()?;
        let compares = match op.action {
            ImageAction::Sample { reference, .. } | ImageAction::Gather { reference, .. } => {
                reference.is_some()
            }
            _ => false,
        };
        if compares {
            return Some([Interval::between(0.0, 1.0); COMPONENTS]);
        }
        let texels = object.initial.chunks_exact(layout.format.bytes() as usize);
        let mut bounds: Option<[Interval; COMPONENTS]> = None;
        for texel in texels.map(|bytes| decode(layout.format, bytes, op.ty.width, op.operands.extend)) {
            let numbers = texel.map(|component| super::float::number(32, component));
            bounds = Some(match bounds {
                None => numbers,
                Some(bounds) => std::array::from_fn(|component| bounds[component].hull(numbers[component])),
            });
        }
        let mut bounds = bounds?;
        if let AddressMode::ClampToBorder(_) = sampler.address {
            bounds = bounds.map(|bound| bound.hull(Interval::between(0.0, 1.0)));
        }
        if let ImageAction::Gather { .. } = op.action {
            // Four texels' one component, whichever it is.
            bounds = [bounds.into_iter().reduce(Interval::hull)?; COMPONENTS];
        }
        Some(bounds)
    }
}
