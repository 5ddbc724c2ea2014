//! Constants of a module's text as values.

use super::Code;
use crate::correspondence::bits;
use crate::value::Scalar;

/// Composites in each other, beyond which nobody looks.
const DEPTH: usize = 16;

/// The components of a constant; `None` for what specialisation may change, and for floats that are not of 32 or 64 bits.
pub(super) fn components(code: &Code<'_>, id: &str) -> Option<Vec<Scalar>> {
    let mut found = Vec::new();
    collect(code, id, DEPTH, &mut found)?;
    Some(found)
}

fn collect(code: &Code<'_>, id: &str, depth: usize, found: &mut Vec<Scalar>) -> Option<()> {
    let inst = code.defines(id)?;
    match inst.opcode {
        "OpConstantTrue" => found.push(Scalar::new(1)),
        "OpConstantFalse" => found.push(Scalar::new(0)),
        "OpConstant" => {
            let ty = code.defines(inst.operands.first()?)?;
            found.push(Scalar::new(bits(inst.operands.get(1)?, ty)?));
        }
        "OpConstantComposite" => {
            let depth = depth.checked_sub(1)?;
            inst.operands.iter().skip(1).try_for_each(|part| collect(code, part, depth, found))?;
        }
        _ => return None,
    }
    Some(())
}
