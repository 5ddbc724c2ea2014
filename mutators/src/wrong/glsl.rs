//! Calls of functions of GLSL.std.450.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op, Op};

use crate::Module;

/// Where the arguments begin among the operands of OpExtInst.
pub const ARGUMENTS: usize = 2;

/// The function that the instruction calls.
pub fn function(module: &Module, inst: &Instruction) -> Option<GlslStd450Op> {
    match inst.operands.as_slice() {
        [Operand::IdRef(set), Operand::LiteralExtInstInteger(number), ..]
            if inst.class.opcode == Op::ExtInst =>
        {
            let mut sets = module.data.ext_inst_imports.iter();
            let set = sets.find(|import| import.result_id == Some(*set))?;
            let glsl = Operand::LiteralString("GLSL.std.450".to_owned());
            (set.operands.first() == Some(&glsl)).then(|| GlslStd450Op::from_u32(*number))?
        }
        _ => None,
    }
}
