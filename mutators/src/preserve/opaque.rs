//! Conditions that are always false, which an optimiser has to think about.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionModel, Op, StorageClass, Word};

use super::edit::with_ids;
use crate::Module;

/// Makes such conditions: of two whole numbers that follow each other one is even, so their product is.
pub(crate) struct Opaque {
    /// An input of the invocation, of 32 bits.
    input: Word,
    uint: Word,
    boolean: Word,
}

impl Opaque {
    /// For modules with compute entry points only: the index of the invocation in its workgroup is read, and declared where
    /// the module does not have it.
    pub(crate) fn new(module: &mut Module) -> Option<Self> {
        let is_compute = |inst: &Instruction| {
            inst.operands.first() == Some(&Operand::ExecutionModel(ExecutionModel::GLCompute))
        };
        if module.data.entry_points.is_empty() || !module.data.entry_points.iter().all(is_compute) {
            return None;
        }
        let uint = module.type_id(Op::TypeInt, [32, 0].map(Operand::LiteralBit32).to_vec());
        let boolean = module.type_id(Op::TypeBool, Vec::new());
        let class = Operand::StorageClass(StorageClass::Input);
        let pointer = module.type_id(Op::TypePointer, vec![class.clone(), Operand::IdRef(uint)]);
        let index =
            [Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(BuiltIn::LocalInvocationIndex)];
        let existing = module.data.annotations.iter().find(|inst| inst.operands.ends_with(&index));
        let existing = existing.and_then(|inst| inst.operands.first()?.id_ref_any());
        let input = match existing {
            Some(id) if module.global(id)?.result_type == Some(pointer) => id,
            // It has another type there, and may be there only once.
            Some(_) => return None,
            None => {
                let id = module.declare(Op::Variable, Some(pointer), vec![class]);
                let operands = [Operand::IdRef(id)].into_iter().chain(index).collect();
                module.data.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
                id
            }
        };
        for entry in &mut module.data.entry_points {
            let listed = Operand::IdRef(input);
            if !entry.operands.contains(&listed) {
                entry.operands.push(listed);
            }
        }
        Some(Opaque { input, uint, boolean })
    }

    /// Code whose result, the last one, is false, or true for `value`.
    pub(crate) fn condition(&self, module: &mut Module, value: bool) -> (Vec<Instruction>, Word) {
        let (zero, one) = (module.constant(self.uint, 0), module.constant(self.uint, 1));
        let [load, next, product, bit, result] = std::array::from_fn(|_| module.fresh_id());
        let uint = Some(self.uint);
        let opcode = if value { Op::IEqual } else { Op::INotEqual };
        let code = vec![
            with_ids(Op::Load, uint, Some(load), &[self.input]),
            with_ids(Op::IAdd, uint, Some(next), &[load, one]),
            with_ids(Op::IMul, uint, Some(product), &[load, next]),
            with_ids(Op::BitwiseAnd, uint, Some(bit), &[product, one]),
            with_ids(opcode, Some(self.boolean), Some(result), &[bit, zero]),
        ];
        (code, result)
    }
}
