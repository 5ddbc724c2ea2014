//! Decorations of ids and of struct members, groups resolved (SPIR-V specification 3.2.20).

use std::collections::HashMap;

use rspirv::spirv::{Decoration as Kind, Op as Opcode};

use crate::ir::Decorations;
use crate::module::{Instruction, Module};

/// A decoration that lowering looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoration {
    Block,
    BufferBlock,
    RowMajor,
    ArrayStride(u32),
    MatrixStride(u32),
    Offset(u32),
    BuiltIn(u32),
    Location(u32),
    Component(u32),
    Index(u32),
    Binding(u32),
    DescriptorSet(u32),
    SpecId(u32),
    Coherent,
    Volatile,
    Aliased,
    Restrict,
    /// Of the physical pointers that a variable holds.
    AliasedPointer,
    RestrictPointer,
    NonWritable,
    NonReadable,
    NonUniform,
    /// Flat and PerVertexKHR: not interpolated.
    Flat,
    NoContraction,
    RelaxedPrecision,
    /// FPFastMathMode.
    FastMath(u32),
    /// SaturatedToLargestFloat8NormalConversionEXT.
    SaturatedConversion,
}

impl Decoration {
    /// `None` for decorations that do not change what a shader does.
    fn decode(words: &[u32]) -> Option<Self> {
        let literal = words.get(1).copied().unwrap_or(0);
        Some(match Kind::from_u32(*words.first()?)? {
            Kind::Block => Decoration::Block,
            Kind::BufferBlock => Decoration::BufferBlock,
            Kind::RowMajor => Decoration::RowMajor,
            Kind::ArrayStride => Decoration::ArrayStride(literal),
            Kind::MatrixStride => Decoration::MatrixStride(literal),
            Kind::Offset => Decoration::Offset(literal),
            Kind::BuiltIn => Decoration::BuiltIn(literal),
            Kind::Location => Decoration::Location(literal),
            Kind::Component => Decoration::Component(literal),
            Kind::Index => Decoration::Index(literal),
            Kind::Binding => Decoration::Binding(literal),
            Kind::DescriptorSet => Decoration::DescriptorSet(literal),
            Kind::SpecId => Decoration::SpecId(literal),
            Kind::Coherent => Decoration::Coherent,
            Kind::Volatile => Decoration::Volatile,
            Kind::Aliased => Decoration::Aliased,
            Kind::Restrict => Decoration::Restrict,
            Kind::AliasedPointer => Decoration::AliasedPointer,
            Kind::RestrictPointer => Decoration::RestrictPointer,
            Kind::NonWritable => Decoration::NonWritable,
            Kind::NonReadable => Decoration::NonReadable,
            Kind::Flat | Kind::PerVertexKHR => Decoration::Flat,
            Kind::NonUniform => Decoration::NonUniform,
            Kind::NoContraction => Decoration::NoContraction,
            Kind::RelaxedPrecision => Decoration::RelaxedPrecision,
            Kind::FPFastMathMode => Decoration::FastMath(literal),
            Kind::SaturatedToLargestFloat8NormalConversionEXT => Decoration::SaturatedConversion,
            _ => return None,
        })
    }
}

/// The decorations of a module.
#[derive(Debug, Default)]
pub(super) struct DecorationTable {
    ids: HashMap<u32, Vec<Decoration>>,
    members: HashMap<(u32, u32), Vec<Decoration>>,
}

impl DecorationTable {
    pub fn new(module: &Module) -> Self {
        let mut table = DecorationTable::default();
        for instruction in module.instructions() {
            match instruction.op() {
                Some(Opcode::Decorate) => table.decorate(&instruction),
                Some(Opcode::MemberDecorate) => table.decorate_member(&instruction),
                Some(Opcode::GroupDecorate) => table.apply_group(&instruction),
                Some(Opcode::GroupMemberDecorate) => table.apply_group_to_members(&instruction),
                Some(Opcode::Function) => break,
                _ => {}
            }
        }
        table
    }

    fn decorate(&mut self, instruction: &Instruction) {
        if let (Some(target), Some(decoration)) =
            (instruction.word(0), Decoration::decode(instruction.words_from(1)))
        {
            self.ids.entry(target).or_default().push(decoration);
        }
    }

    fn decorate_member(&mut self, instruction: &Instruction) {
        if let (Some(target), Some(member), Some(decoration)) =
            (instruction.word(0), instruction.word(1), Decoration::decode(instruction.words_from(2)))
        {
            self.members.entry((target, member)).or_default().push(decoration);
        }
    }

    fn apply_group(&mut self, instruction: &Instruction) {
        let group = instruction.word(0).map_or(Vec::new(), |group| self.of(group).to_vec());
        for &target in instruction.words_from(1) {
            self.ids.entry(target).or_default().extend(&group);
        }
    }

    fn apply_group_to_members(&mut self, instruction: &Instruction) {
        let group = instruction.word(0).map_or(Vec::new(), |group| self.of(group).to_vec());
        for pair in instruction.words_from(1).chunks_exact(2) {
            if let &[target, member] = pair {
                self.members.entry((target, member)).or_default().extend(&group);
            }
        }
    }

    pub fn of(&self, id: u32) -> &[Decoration] {
        self.ids.get(&id).map_or(&[], Vec::as_slice)
    }

    pub fn of_member(&self, id: u32, member: u32) -> &[Decoration] {
        self.members.get(&(id, member)).map_or(&[], Vec::as_slice)
    }

    pub fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.of(id).contains(&decoration)
    }

    /// The ids that carry a decoration, in no order.
    pub fn carriers(&self, decoration: Decoration) -> impl Iterator<Item = u32> + '_ {
        self.ids.iter().filter(move |(_, list)| list.contains(&decoration)).map(|(&id, _)| id)
    }

    /// The literal of the first decoration that `pick` accepts.
    pub fn find<T>(&self, id: u32, pick: impl FnMut(&Decoration) -> Option<T>) -> Option<T> {
        self.of(id).iter().find_map(pick)
    }
}

/// The memory decorations among these.
pub(super) fn memory_decorations(list: &[Decoration]) -> Decorations {
    Decorations {
        coherent: list.contains(&Decoration::Coherent),
        volatile: list.contains(&Decoration::Volatile),
        aliased: list.contains(&Decoration::Aliased),
        restrict: list.contains(&Decoration::Restrict),
        non_writable: list.contains(&Decoration::NonWritable),
        non_readable: list.contains(&Decoration::NonReadable),
    }
}
