use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemorySemantics, Op, Word};

use super::each_instruction;
use crate::memory::{at_order, is_read_modify_write, semantics};
use crate::{Module, Mutant, Mutator, Site};

/// Splits an atomic read-modify-write: an atomic load with its acquire half, the operation, an
/// atomic store with its release half. A compare-exchange writes back what it read where unequal.
pub struct UpdateSplit;

impl Mutator for UpdateSplit {
    fn name(&self) -> &'static str {
        "update-split"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let applicable = is_read_modify_write(inst.class.opcode);
            let changed = if applicable { split(module, site, inst) } else { None };
            changed.map(|changed| (String::new(), changed)).into_iter().collect()
        })
    }
}

/// How the new value comes from what was read and the operand.
enum Operation {
    /// It is the operand.
    Operand,
    Binary(Op),
    /// As the binary operation on the constant one.
    WithOne(Op),
    /// Whichever of both makes the comparison `read OP operand` true.
    Choose(Op),
    /// The operand where what was read equals the comparator.
    IfEqual,
}

fn operation(opcode: Op) -> Option<Operation> {
    Some(match opcode {
        Op::AtomicExchange => Operation::Operand,
        Op::AtomicCompareExchange => Operation::IfEqual,
        Op::AtomicIIncrement => Operation::WithOne(Op::IAdd),
        Op::AtomicIDecrement => Operation::WithOne(Op::ISub),
        Op::AtomicIAdd => Operation::Binary(Op::IAdd),
        Op::AtomicISub => Operation::Binary(Op::ISub),
        Op::AtomicSMin => Operation::Choose(Op::SLessThan),
        Op::AtomicUMin => Operation::Choose(Op::ULessThan),
        Op::AtomicSMax => Operation::Choose(Op::SGreaterThan),
        Op::AtomicUMax => Operation::Choose(Op::UGreaterThan),
        Op::AtomicAnd => Operation::Binary(Op::BitwiseAnd),
        Op::AtomicOr => Operation::Binary(Op::BitwiseOr),
        Op::AtomicXor => Operation::Binary(Op::BitwiseXor),
        Op::AtomicFAddEXT => Operation::Binary(Op::FAdd),
        _ => return None,
    })
}

fn split(module: &Module, site: Site, inst: &Instruction) -> Option<Module> {
    let operation = operation(inst.class.opcode)?;
    let (of_type, read) = (inst.result_type?, inst.result_id?);
    let pointer = inst.operands.first()?.clone();
    let scope = inst.operands.get(1)?.clone();
    let (index, mask) = semantics(module, inst).into_iter().next()?;
    let semantics_type = module.type_of(inst.operands.get(index)?.id_ref_any()?)?;
    let mut changed = module.clone();
    let mut half = |order: MemorySemantics| {
        let both = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::SEQUENTIALLY_CONSISTENT;
        let order = if mask.intersects(order | both) { order } else { MemorySemantics::RELAXED };
        Operand::IdMemorySemantics(changed.constant(semantics_type, at_order(mask, order).bits()))
    };
    let (acquire, release) = (half(MemorySemantics::ACQUIRE), half(MemorySemantics::RELEASE));

    let load = vec![pointer.clone(), scope.clone(), acquire];
    let mut code = vec![Instruction::new(Op::AtomicLoad, Some(of_type), Some(read), load)];
    let operand = |index: usize| inst.operands.get(index).and_then(Operand::id_ref_any);
    let mut emit = |changed: &mut Module, opcode, of_type, operands: &[Word]| {
        let id = changed.fresh_id();
        let operands = operands.iter().copied().map(Operand::IdRef).collect();
        code.push(Instruction::new(opcode, Some(of_type), Some(id), operands));
        id
    };
    let written = match operation {
        Operation::Operand => operand(3)?,
        Operation::Binary(opcode) => emit(&mut changed, opcode, of_type, &[read, operand(3)?]),
        Operation::WithOne(opcode) => {
            let one = changed.constant(of_type, 1);
            emit(&mut changed, opcode, of_type, &[read, one])
        }
        Operation::Choose(opcode) => {
            let bool_type = changed.type_id(Op::TypeBool, Vec::new());
            let keep = emit(&mut changed, opcode, bool_type, &[read, operand(3)?]);
            emit(&mut changed, Op::Select, of_type, &[keep, read, operand(3)?])
        }
        Operation::IfEqual => {
            let bool_type = changed.type_id(Op::TypeBool, Vec::new());
            let equal = emit(&mut changed, Op::IEqual, bool_type, &[read, operand(5)?]);
            emit(&mut changed, Op::Select, of_type, &[equal, operand(4)?, read])
        }
    };
    let store = vec![pointer, scope, release, Operand::IdRef(written)];
    code.push(Instruction::new(Op::AtomicStore, None, None, store));
    Some(changed.replacing(site, code))
}
