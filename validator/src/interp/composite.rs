//! Composites and OpSelect (SPIR-V 3.3.12, "Composite Instructions").

use super::machine::{fault, Machine, Step};
use super::Stop;
use crate::event::UndefinedKind;
use crate::ir::{CompositeOp, Line, Operand};
use crate::value::Scalar;

impl Machine<'_> {
    pub(super) fn composite(&mut self, op: &CompositeOp, line: Line) -> Step {
        match op {
            CompositeOp::Construct { dst, parts } => {
                let mut register = *dst;
                for (part, count) in parts {
                    for i in 0..*count {
                        self.state.set(register, self.value(part.offset(i)));
                        register += 1;
                    }
                }
            }
            CompositeOp::Extract { dst, a, start, count } => {
                for i in 0..*count {
                    self.state.set(dst + i, self.value(a.offset(start + i)));
                }
            }
            CompositeOp::Insert { dst, a, total, object, start, count } => {
                for i in 0..*total {
                    let replaced = (*start..start + count).contains(&i);
                    let source = if replaced { object.offset(i - start) } else { a.offset(i) };
                    self.state.set(dst + i, self.value(source));
                }
            }
            CompositeOp::Shuffle { dst, width, components } => {
                for (register, component) in (*dst..).zip(components) {
                    let value = component
                        .map_or(Scalar::undefined(u32::from(*width)), |component| self.value(component));
                    self.state.set(register, value);
                }
            }
            CompositeOp::ExtractDynamic { dst, a, count, index, .. } => {
                let index = self.vector_index(*index, *count, line)?;
                self.state.set(*dst, self.value(a.offset(index)));
            }
            CompositeOp::InsertDynamic { dst, a, object, count, index, .. } => {
                let index = self.vector_index(*index, *count, line)?;
                for i in 0..*count {
                    let source = if i == index { *object } else { a.offset(i) };
                    self.state.set(dst + i, self.value(source));
                }
            }
        }
        Ok(())
    }

    /// The index of OpVectorExtractDynamic and OpVectorInsertDynamic, whose behaviour (since
    /// SPIR-V 1.4, before only the value) is undefined outside of the vector.
    fn vector_index(&mut self, index: Operand, count: u32, line: Line) -> Result<u32, Box<Stop>> {
        let index = self.value(index);
        if super::arithmetic::unsigned_max(index) >= u64::from(count) {
            let detail = if index.is_defined() {
                format!("component {} of a vector of {count} is selected", index.bits)
            } else {
                format!("the index into a vector of {count} components is undefined")
            };
            self.state.lost |= !index.is_defined();
            return Err(fault(UndefinedKind::OutOfBounds, line, detail));
        }
        Ok(self.choose_bits(index, line)?.bits as u32)
    }

    /// An undefined condition chooses, unless both objects are the same.
    pub(super) fn select(
        &mut self,
        dst: u32,
        condition: Operand,
        scalar_condition: bool,
        count: u32,
        objects: [Operand; 2],
        line: Line,
    ) -> Step {
        let differ = |machine: &Self, i: u32| {
            machine.value(objects[0].offset(i)) != machine.value(objects[1].offset(i))
        };
        if scalar_condition {
            let condition = self.value(condition);
            let matters = !condition.is_defined() && (0..count).any(|i| differ(self, i));
            let condition = if matters { self.choose_bits(condition, line)? } else { condition };
            let object = objects[usize::from(condition.bits == 0)];
            for i in 0..count {
                self.state.set(dst + i, self.value(object.offset(i)));
            }
            return Ok(());
        }
        for i in 0..count {
            let mut chosen = self.value(condition.offset(i));
            if !chosen.is_defined() && differ(self, i) {
                chosen = self.choose_bits(chosen, line)?;
            }
            let object = objects[usize::from(chosen.bits == 0)];
            self.state.set(dst + i, self.value(object.offset(i)));
        }
        Ok(())
    }
}
