//! Specialisation constants that are lengths of arrays in shared memory, of which there are fewer than 2^32 bytes: what a
//! device has of it is a number of 32 bits (Vulkan, "Limits", maxComputeSharedMemorySize), and what a shader declares fits.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

use super::{ids, instructions};

/// The greatest length of an array whose elements have four bytes or more.
pub(super) const GREATEST: u64 = (1 << 30) - 1;

/// Those of arrays whose elements have four bytes or more, in variables that are used.
pub(super) fn lengths(module: &Module, known: &HashMap<Word, &Instruction>) -> HashSet<Word> {
    let used: HashSet<Word> = instructions(module).flat_map(ids).collect();
    let shared = module.types_global_values.iter().filter(|inst| {
        inst.class.opcode == Op::Variable
            && inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Workgroup))
            && inst.result_id.is_some_and(|id| used.contains(&id))
    });
    let mut types: Vec<Word> = shared.filter_map(|inst| ids(known.get(&inst.result_type?)?).next()).collect();
    let mut found = HashSet::new();
    while let Some(ty) = types.pop() {
        let Some(inst) = known.get(&ty) else { continue };
        match (inst.class.opcode, &ids(inst).collect::<Vec<_>>()[..]) {
            (Op::TypeArray, [element, length]) => {
                types.push(*element);
                if is_wide(*element, known) {
                    found.insert(*length);
                }
            }
            (Op::TypeStruct, members) => types.extend(members),
            _ => {}
        }
    }
    found
}

/// Whether a value of this type has four bytes or more.
fn is_wide(ty: Word, known: &HashMap<Word, &Instruction>) -> bool {
    let Some(inst) = known.get(&ty) else { return false };
    match (inst.class.opcode, inst.operands.first()) {
        (Op::TypeInt | Op::TypeFloat, Some(Operand::LiteralBit32(width))) => *width >= 32,
        // There is one element at least.
        (Op::TypeArray | Op::TypeVector | Op::TypeMatrix, _) => {
            ids(inst).next().is_some_and(|element| is_wide(element, known))
        }
        (Op::TypeStruct, _) => ids(inst).any(|member| is_wide(member, known)),
        _ => false,
    }
}
