//! A buffer of structs with an explicit layout, one for each invocation.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, Op, StorageClass, Word};

use super::kernel::Kernel;
use super::types::{bound, Ty, UINT};

/// The buffer: its variable, and the members of an element with their types in memory (ids).
#[derive(Default)]
pub(super) struct Elements {
    variable: Word,
    members: Vec<(Ty, Word)>,
}

/// The size of a type in bytes.
fn size(ty: &Ty) -> u32 {
    match ty {
        Ty::Bool => 4,
        Ty::Int { width, .. } | Ty::Float(width) => width / 8,
        Ty::Vector(of, count) => size(of) * count,
        Ty::Matrix(rows, columns) => matrix_stride(*rows) * columns,
        Ty::Array(of, count) => array_stride(of) * count,
        Ty::Struct(members) => offsets(members).1.next_multiple_of(alignment(ty)),
    }
}

/// The alignment of a type in bytes: that of the standard storage buffer layout.
fn alignment(ty: &Ty) -> u32 {
    match ty {
        Ty::Bool | Ty::Int { .. } | Ty::Float(_) => size(ty),
        Ty::Vector(of, count) => size(of) * count.next_power_of_two(),
        Ty::Matrix(rows, _) => matrix_stride(*rows),
        Ty::Array(of, _) => alignment(of),
        Ty::Struct(members) => members.iter().map(alignment).max().unwrap_or(4),
    }
}

fn matrix_stride(rows: u32) -> u32 {
    4 * rows.next_power_of_two()
}

fn array_stride(of: &Ty) -> u32 {
    size(of).next_multiple_of(alignment(of))
}

/// Where members of a struct begin, and where the last one ends.
fn offsets(members: &[Ty]) -> (Vec<u32>, u32) {
    let mut end = 0;
    let starts = members
        .iter()
        .map(|member| {
            let start = u32::next_multiple_of(end, alignment(member));
            end = start + size(member);
            start
        })
        .collect();
    (starts, end)
}

fn has_bools(ty: &Ty) -> bool {
    *ty == Ty::Bool || ty.members().iter().any(has_bools)
}

impl Kernel {
    /// Declares the buffer, an array of structs.
    pub(super) fn declare_elements(&mut self, binding: u32) {
        let storable: Vec<Ty> = self.pool.iter().filter(|ty| !has_bools(ty)).cloned().collect();
        let mut members = vec![UINT];
        members.extend(storable);
        members.truncate(12);
        let element = Ty::Struct(members.clone());
        let types: Vec<Word> = members.iter().map(|member| self.laid_out(member)).collect();
        let parts = types.iter().copied().map(Operand::IdRef).collect();
        let id = self.b.own_global(Op::TypeStruct, None, parts);
        self.decorate_members(id, &members);
        let array = self.b.own_global(Op::TypeRuntimeArray, None, vec![Operand::IdRef(id)]);
        let stride = array_stride(&element);
        self.b.decorate(array, Decoration::ArrayStride, &[stride]);
        let count = (self.local_size * self.workgroups) as usize;
        let mut bytes = vec![0; count * stride as usize];
        for element_bytes in bytes.chunks_mut(stride as usize) {
            self.fill_value(&element, element_bytes);
        }
        let variable = self.block_of(binding, array, bytes);
        self.elements = Elements { variable, members: members.into_iter().zip(types).collect() };
    }

    /// A type with a layout: its own where an array or struct would have none.
    fn laid_out(&mut self, ty: &Ty) -> Word {
        match ty {
            Ty::Array(of, count) => {
                let (element, count) = (self.laid_out(of), self.b.uint(*count));
                let id =
                    self.b.own_global(Op::TypeArray, None, [element, count].map(Operand::IdRef).to_vec());
                self.b.decorate(id, Decoration::ArrayStride, &[array_stride(of)]);
                id
            }
            Ty::Struct(members) => {
                let parts = members.iter().map(|member| Operand::IdRef(self.laid_out(member))).collect();
                let id = self.b.own_global(Op::TypeStruct, None, parts);
                self.decorate_members(id, members);
                id
            }
            Ty::Vector(of, _) => {
                self.laid_out(of);
                self.b.ty(ty)
            }
            _ => {
                match size(ty) {
                    1 => self.b.capability(Capability::StorageBuffer8BitAccess),
                    2 => self.b.capability(Capability::StorageBuffer16BitAccess),
                    _ => {}
                }
                self.b.ty(ty)
            }
        }
    }

    fn decorate_members(&mut self, id: Word, members: &[Ty]) {
        for (index, (offset, member)) in (0..).zip(offsets(members).0.into_iter().zip(members)) {
            self.b.decorate_member(id, index, Decoration::Offset, offset);
            let mut innermost = member;
            while let Ty::Array(of, _) = innermost {
                innermost = of;
            }
            if let Ty::Matrix(rows, _) = innermost {
                self.b.decorate_column_major(id, index);
                self.b.decorate_member(id, index, Decoration::MatrixStride, matrix_stride(*rows));
            }
        }
    }

    /// The first contents of a value of a type: any integers, whole floats.
    fn fill_value(&mut self, ty: &Ty, bytes: &mut [u8]) {
        let members = ty.members();
        let starts = match ty {
            Ty::Int { .. } | Ty::Bool => {
                bytes.iter_mut().for_each(|byte| *byte = self.random.u8(..));
                return;
            }
            Ty::Float(width) => {
                let bound = bound(*width) as i32;
                let value = self.random.i32(-bound..=bound) as f32;
                let encoded = super::types::float_bits(*width, value).to_le_bytes();
                bytes.iter_mut().zip(encoded).for_each(|(byte, value)| *byte = value);
                return;
            }
            Ty::Struct(members) => offsets(members).0,
            Ty::Vector(of, count) => (0..*count).map(|index| index * size(of)).collect(),
            Ty::Matrix(rows, columns) => (0..*columns).map(|index| index * matrix_stride(*rows)).collect(),
            Ty::Array(of, count) => (0..*count).map(|index| index * array_stride(of)).collect(),
        };
        for (start, member) in starts.into_iter().zip(members) {
            let (start, length) = (start as usize, size(&member) as usize);
            if let Some(part) = bytes.get_mut(start..start + length) {
                self.fill_value(&member, part);
            }
        }
    }

    /// Reads or writes a member of the invocation's element. Arrays and structs have another type without a layout
    /// outside of the buffer.
    pub(super) fn element(&mut self) {
        let index = self.random.usize(..self.elements.members.len());
        let (ty, in_memory) = self.elements.members[index].clone();
        let class = Operand::StorageClass(StorageClass::StorageBuffer);
        let pointer = self.b.global(Op::TypePointer, None, vec![class, Operand::IdRef(in_memory)]);
        let (zero, member) = (self.b.uint(0), self.b.uint(index as u32));
        let chain = [self.elements.variable, zero, self.invocation, member].map(Operand::IdRef).to_vec();
        let place = self.b.result(Op::AccessChain, pointer, chain);
        let is_copied = matches!(ty, Ty::Array(..) | Ty::Struct(_));
        if self.random.bool() {
            let mut value = self.b.result(Op::Load, in_memory, vec![Operand::IdRef(place)]);
            if is_copied {
                value = self.b.op(Op::CopyLogical, &ty, &[value]);
            }
            if let Some((target, _)) = self.place(&ty) {
                self.store(target, value);
            }
        } else {
            let mut value = self.value(&ty, 2);
            if is_copied {
                value = self.b.result(Op::CopyLogical, in_memory, vec![Operand::IdRef(value)]);
            }
            self.store(place, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_aligned() {
        let vector = Ty::vector(Ty::Float(32), 3);
        let byte = Ty::Int { width: 8, signed: false };
        let inner = Ty::Struct(vec![vector.clone(), byte.clone()]);
        assert_eq!((size(&vector), alignment(&vector)), (12, 16));
        assert_eq!((size(&inner), alignment(&inner)), (16, 16));
        assert_eq!(
            offsets(&[byte, inner, Ty::Matrix(3, 2), Ty::Int { width: 64, signed: true }]).0,
            [0, 16, 32, 64]
        );
    }
}
