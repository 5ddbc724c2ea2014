//! Local sizes, and which of them, of the workgroups or of all tells invocations apart.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

use super::Edit;
use crate::module::{Inst, Key, Module};

/// Smaller local sizes: one invocation in a dimension, half of them, one less; and built-ins with less in them, which are the
/// same where workgroups have one invocation, or where there is one workgroup.
pub(super) fn sizes(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for inst in module.insts.iter().filter(|inst| is_local_size(inst)) {
        for (number, operand) in inst.code.operands.iter().enumerate().skip(2) {
            let Operand::LiteralBit32(size) = operand else { continue };
            let mut smaller = vec![1, size / 2, size.saturating_sub(1)];
            smaller.retain(|other| *other > 0 && other < size);
            smaller.dedup();
            edits.extend(smaller.into_iter().map(|other| Edit::SetLiteral(inst.key, number, other.into())));
        }
    }
    edits.extend(
        module.insts.iter().filter(|inst| lesser(inst).is_some()).map(|inst| Edit::Localise(inst.key)),
    );
    edits
}

fn is_local_size(inst: &Inst) -> bool {
    inst.op() == Op::ExecutionMode
        && inst.code.operands.get(1) == Some(&Operand::ExecutionMode(ExecutionMode::LocalSize))
}

/// What a variable that holds a built-in can hold instead.
fn lesser(inst: &Inst) -> Option<BuiltIn> {
    let is_decoration = inst.op() == Op::Decorate
        && inst.code.operands.get(1) == Some(&Operand::Decoration(Decoration::BuiltIn));
    match inst.code.operands.get(2).filter(|_| is_decoration)? {
        Operand::BuiltIn(BuiltIn::WorkgroupId) => Some(BuiltIn::GlobalInvocationId),
        Operand::BuiltIn(BuiltIn::GlobalInvocationId) => Some(BuiltIn::LocalInvocationId),
        _ => None,
    }
}

/// Puts the lesser built-in in the place of the one that this decoration names.
pub(super) fn localise(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let inst = module.insts.get_mut(at)?;
    let lesser = lesser(inst)?;
    *inst.code.operands.get_mut(2)? = Operand::BuiltIn(lesser);
    Some(())
}

/// Makes workgroups larger by these factors; `None` where a module says its size otherwise than by literals.
pub(crate) fn scale(module: &mut Module, factors: [u32; 3]) -> Option<()> {
    let is_otherwise = |inst: &Inst| {
        inst.op() == Op::ExecutionModeId
            || inst.code.operands.contains(&Operand::BuiltIn(BuiltIn::WorkgroupSize))
    };
    if module.insts.iter().any(is_otherwise) {
        return None;
    }
    let mut scaled = None;
    for inst in module.insts.iter_mut().filter(|inst| is_local_size(inst)) {
        for (operand, factor) in inst.code.operands.iter_mut().skip(2).zip(factors) {
            let Operand::LiteralBit32(size) = operand else { return None };
            *size = size.checked_mul(factor)?;
        }
        scaled = Some(());
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::{module, text, DECLARATIONS};

    #[test]
    fn workgroups_are_scaled_and_built_ins_become_local() {
        let declared = DECLARATIONS
            .replace("%buffer %s\n", "%buffer %s %id\n")
            .replace("OpDecorate %Block Block", "OpDecorate %Block Block\nOpDecorate %id BuiltIn WorkgroupId")
            .replace("%buffer = ", "%v3 = OpTypeVector %uint 3\n%in = OpTypePointer Input %v3\n%id = OpVariable %in Input\n%buffer = ");
        let code = "%where = OpLoad %v3 %id\n%x = OpCompositeExtract %uint %where 0\nOpStore %a %x";
        let mut module = module(&format!("{declared}{code}\nOpReturn\nOpFunctionEnd\n"));
        for built_in in ["GlobalInvocationId", "LocalInvocationId"] {
            let made = edited(&module, Family::Sizes, |edit| matches!(edit, Edit::Localise(_)));
            assert!(made.contains(&format!("BuiltIn {built_in}\n")), "{made}");
            let edit = sizes(&module).into_iter().find(|edit| matches!(edit, Edit::Localise(_)));
            let Some(Edit::Localise(key)) = edit else { panic!("it has been there") };
            assert_eq!(localise(&mut module, key), Some(()));
        }
        assert!(!sizes(&module).iter().any(|edit| matches!(edit, Edit::Localise(_))));
        assert_eq!(scale(&mut module, [2, 1, 3]), Some(()));
        assert!(text(&module).contains("LocalSize 16 1 3"), "{}", text(&module));
        assert_eq!(scale(&mut module, [u32::MAX, 1, 1]), None);
    }
}
