//! Instructions that move values: into and out of composites, and through memory.

use super::{Observer, Shade, OWN};
use crate::event::StorageClass;
use crate::interp::Pointer;
use crate::ir::{CompositeOp, Inst, MemoryOp, Operand, Shape, ShapeId};

impl Observer<'_, '_> {
    pub(super) fn composite(&mut self, op: &CompositeOp, inst: &Inst) {
        match op {
            CompositeOp::Construct { dst, parts } => {
                let shades: Vec<Shade> =
                    parts.iter().flat_map(|(part, count)| self.shades_of(*part, *count)).collect();
                self.set_all(*dst, shades);
            }
            CompositeOp::Extract { dst, a, start, count } => {
                let shades = self.shades_of(a.offset(*start), *count);
                self.set_all(*dst, shades);
            }
            CompositeOp::Insert { dst, a, total, object, start, count } => {
                let shades = self.shades_of(*a, *total);
                self.set_all(*dst, shades);
                let inserted = self.shades_of(*object, *count);
                self.set_all(dst + start, inserted);
            }
            CompositeOp::Shuffle { dst, components, .. } => {
                let shades: Vec<Shade> =
                    components.iter().map(|component| component.and_then(|part| self.shade(part))).collect();
                self.set_all(*dst, shades);
            }
            CompositeOp::ExtractDynamic { dst, a, count, index, .. } => {
                let at = self.dynamic_index(*index, *count, inst);
                let shade = at.and_then(|at| self.shade(a.offset(at)));
                self.set(*dst, shade);
            }
            CompositeOp::InsertDynamic { dst, a, object, count, index, .. } => {
                let at = self.dynamic_index(*index, *count, inst);
                let shades = self.shades_of(*a, *count);
                self.set_all(*dst, shades);
                if let Some(at) = at {
                    let shade = self.shade(*object);
                    self.set(dst + at, shade);
                }
            }
        }
    }

    fn dynamic_index(&mut self, index: Operand, count: u32, inst: &Inst) -> Option<u32> {
        let value = self.value(index);
        if self.shade(index).is_some() || !value.is_defined() {
            self.depend(inst);
        }
        u32::try_from(value.bits).ok().filter(|at| *at < count)
    }

    pub(super) fn memory(&mut self, op: &MemoryOp, inst: &Inst) {
        match op {
            MemoryOp::Load { dst, pointer, class, shape, .. } => {
                let shades = self.load(*pointer, *class, *shape, inst);
                self.set_all(*dst, shades);
            }
            MemoryOp::Store { pointer, object, class, shape, .. } => {
                let count = self.shape(*shape).leaves.len() as u32;
                let shades = self.shades_of(*object, count);
                self.store(*pointer, *class, *shape, shades, inst);
            }
            MemoryOp::Copy {
                target, target_class, target_shape, source, source_class, source_shape, ..
            } => {
                let shades = self.load(*source, *source_class, *source_shape, inst);
                self.store(*target, *target_class, *target_shape, shades, inst);
            }
            MemoryOp::Chain(chain) => {
                let shaded = chain.indices.iter().any(|index| self.shade(index.index).is_some());
                if shaded || self.is_shaded(chain.base, 2) {
                    self.depend(inst);
                }
                self.set_all(chain.dst, [None, None]);
            }
            MemoryOp::Variable { dst, .. } => self.set_all(*dst, [None, None]),
            MemoryOp::Uniform { .. } => {}
            MemoryOp::ArrayLength { dst, .. } | MemoryOp::Difference { dst, .. } => self.set(*dst, None),
        }
    }

    pub(super) fn shape(&self, shape: ShapeId) -> &'_ Shape {
        &self.machine.program.shapes[shape.0 as usize]
    }

    /// Space and first byte of an access that has taken place.
    fn place(
        &mut self,
        pointer: Operand,
        class: StorageClass,
        shape: ShapeId,
        inst: &Inst,
    ) -> Option<(u32, u32)> {
        if self.is_shaded(pointer, 2) {
            self.depend(inst);
        }
        let pointer: Pointer = self.machine.resolve_in(class, pointer, inst.line).ok()?;
        match pointer.own_object() {
            Some(object) => {
                let size = self.shape(shape).size;
                let address = self.machine.state.own.locate(object, pointer.offset, size)?;
                Some((OWN, address.byte()))
            }
            None => {
                let object = self.machine.dispatch.objects.get(pointer.object as usize)?;
                let is_outside = self.machine.is_outside(pointer, self.shape(shape).size);
                (!is_outside).then_some((object.memory, pointer.offset))
            }
        }
    }

    fn load(&mut self, pointer: Operand, class: StorageClass, shape: ShapeId, inst: &Inst) -> Vec<Shade> {
        let Some((space, start)) = self.place(pointer, class, shape, inst) else {
            return vec![None; self.shape(shape).leaves.len()];
        };
        let memory = if space == OWN { &self.shades.own } else { &*self.shared };
        let leaves = self.shape(shape).leaves.iter();
        leaves.map(|leaf| memory.load(space, start + leaf.offset, leaf.kind.bytes())).collect()
    }

    fn store(
        &mut self,
        pointer: Operand,
        class: StorageClass,
        shape: ShapeId,
        shades: Vec<Shade>,
        inst: &Inst,
    ) {
        let Some((space, start)) = self.place(pointer, class, shape, inst) else { return };
        let program = self.machine.program;
        // What helper invocations write is lost.
        if space != OWN && self.machine.state.helper {
            return;
        }
        let memory = if space == OWN { &mut self.shades.own } else { &mut *self.shared };
        for (leaf, shade) in program.shapes[shape.0 as usize].leaves.iter().zip(shades) {
            memory.store(space, start + leaf.offset, leaf.kind.bytes(), shade);
        }
    }
}
