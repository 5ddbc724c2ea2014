//! Another local size for an entry point, written into the binary before any pass sees it.
//!
//! Literals of the execution mode are replaced; where the size comes from plain constants
//! (LocalSizeId, or the constant decorated WorkgroupSize), new constants take their place, since the
//! old ones may have other uses. Specialisation constants are left: they are inputs.

use std::collections::BTreeMap;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, Op};

use super::Module;

/// Words of a module header.
const HEADER: usize = 5;
/// Index of the id bound in the header.
const BOUND: usize = 3;

/// Per dimension, the plain constant that has to be replaced and the value wanted.
type Extents = [Option<(u32, u32)>; 3];

impl Module {
    /// The module's words with another local size for the entry point of this name, or for all compute
    /// entry points.
    pub fn words_with_local_size(&self, entry: Option<&str>, size: [u32; 3]) -> Vec<u32> {
        let functions: Vec<u32> = self
            .instructions()
            .filter(|one| one.op() == Some(Op::EntryPoint))
            .filter(|one| one.word(0) == Some(ExecutionModel::GLCompute as u32))
            .filter(|one| entry.is_none() || one.string(2).map(|(name, _)| name).as_deref() == entry)
            .filter_map(|one| one.word(1))
            .collect();
        let Some(header) = self.words.get(..HEADER) else { return self.words.clone() };
        let replaced = self.replaced_constants(&functions, size);
        let mut words = header.to_vec();
        let mut bound = header[BOUND];
        // (old constant, wanted value): new id.
        let mut fresh: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for key in replaced.values().flatten().flatten() {
            fresh.entry(*key).or_insert_with(|| {
                bound += 1;
                bound - 1
            });
        }
        words[BOUND] = bound;
        let mut rest = self.words.get(HEADER..).unwrap_or(&[]);
        while let Some(instruction) = next_instruction(&mut rest) {
            let mut copy = instruction.to_vec();
            let operands = instruction.get(1..).unwrap_or(&[]);
            match (opcode(instruction), operands) {
                (Some(Op::ExecutionMode), [function, mode, ..])
                    if functions.contains(function) && *mode == ExecutionMode::LocalSize as u32 =>
                {
                    for (word, extent) in copy.iter_mut().skip(3).zip(size) {
                        *word = extent;
                    }
                }
                (Some(Op::ExecutionModeId), [function, ..]) => {
                    replace(&mut copy, 3, replaced.get(&(Op::ExecutionModeId, *function)), &fresh);
                }
                (Some(Op::ConstantComposite | Op::SpecConstantComposite), [_, result, ..]) => {
                    replace(&mut copy, 3, replaced.get(&(Op::ConstantComposite, *result)), &fresh);
                }
                _ => {}
            }
            words.extend(&copy);
            if let (Some(Op::Constant), [ty, result, _]) = (opcode(instruction), operands) {
                let mut new: Vec<(u32, u32)> = fresh
                    .iter()
                    .filter(|((old, _), _)| old == result)
                    .map(|((_, value), id)| (*id, *value))
                    .collect();
                new.sort_unstable();
                for (id, value) in new {
                    words.extend([4 << 16 | Op::Constant as u32, *ty, id, value]);
                }
            }
        }
        words
    }

    /// For each instruction that puts a local size together, by opcode and id: per dimension the plain
    /// constant that has to be replaced and the value wanted.
    fn replaced_constants(&self, functions: &[u32], size: [u32; 3]) -> BTreeMap<(Op, u32), Extents> {
        let mut plain: BTreeMap<u32, u32> = BTreeMap::new();
        let mut sized: Vec<u32> = Vec::new();
        let mut parts: BTreeMap<(Op, u32), [u32; 3]> = BTreeMap::new();
        for instruction in self.instructions() {
            match (instruction.op(), instruction.operands) {
                (Some(Op::Constant), [value]) => {
                    plain.extend(instruction.result.map(|id| (id, *value)));
                }
                (Some(Op::Decorate), [id, decoration, built_in])
                    if *decoration == Decoration::BuiltIn as u32
                        && *built_in == BuiltIn::WorkgroupSize as u32 =>
                {
                    sized.push(*id);
                }
                (Some(Op::ExecutionModeId), [function, mode, x, y, z])
                    if functions.contains(function) && *mode == ExecutionMode::LocalSizeId as u32 =>
                {
                    parts.insert((Op::ExecutionModeId, *function), [*x, *y, *z]);
                }
                (Some(Op::ConstantComposite | Op::SpecConstantComposite), [x, y, z]) => {
                    if let Some(id) = instruction.result.filter(|id| sized.contains(id)) {
                        parts.insert((Op::ConstantComposite, id), [*x, *y, *z]);
                    }
                }
                _ => {}
            }
        }
        parts
            .into_iter()
            .map(|(key, ids)| {
                let mut wanted = ids.iter().zip(size).map(|(id, extent)| {
                    plain.get(id).filter(|value| **value != extent).map(|_| (*id, extent))
                });
                (key, std::array::from_fn(|_| wanted.next().flatten()))
            })
            .collect()
    }
}

fn replace(words: &mut [u32], first: usize, wanted: Option<&Extents>, fresh: &BTreeMap<(u32, u32), u32>) {
    for (word, key) in words.iter_mut().skip(first).zip(wanted.into_iter().flatten()) {
        if let Some(id) = key.and_then(|key| fresh.get(&key)) {
            *word = *id;
        }
    }
}

fn opcode(instruction: &[u32]) -> Option<Op> {
    Op::from_u32(instruction.first()? & 0xffff)
}

/// Takes an instruction off the front.
fn next_instruction<'w>(rest: &mut &'w [u32]) -> Option<&'w [u32]> {
    let length = (rest.first()? >> 16).max(1) as usize;
    let (instruction, after) = rest.split_at(length.min(rest.len()));
    *rest = after;
    Some(instruction)
}

#[cfg(test)]
mod tests {
    use crate::lower::{lower, LowerOptions};
    use crate::module::{Module, ReadOptions};

    fn module(mode: &str, constants: &str) -> Module {
        let text = format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n{mode}\n\
             %void = OpTypeVoid\n%proc = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
             %uvec3 = OpTypeVector %uint 3\n%two = OpConstant %uint 2\n%one = OpConstant %uint 1\n{constants}\n\
             %main = OpFunction %void None %proc\n%entry = OpLabel\n%sum = OpIAdd %uint %two %one\n\
             OpReturn\nOpFunctionEnd\n"
        );
        Module::from_text(&text, "test", &ReadOptions::default()).unwrap()
    }

    fn sized(module: &Module) -> [u32; 3] {
        let words = module.words_with_local_size(None, [8, 1, 3]);
        let module = Module::from_words(words, "test", &ReadOptions::default()).unwrap();
        assert!(module.text.contains("OpIAdd %uint %uint_2 %uint_1"), "{}", module.text.as_str());
        lower(&module, &LowerOptions::default()).unwrap().entry.local_size
    }

    #[test]
    fn literals_are_replaced() {
        assert_eq!(sized(&module("OpExecutionMode %main LocalSize 2 1 1", "")), [8, 1, 3]);
    }

    #[test]
    fn ids_get_constants_of_their_own() {
        assert_eq!(sized(&module("OpExecutionModeId %main LocalSizeId %two %one %one", "")), [8, 1, 3]);
    }

    #[test]
    fn the_workgroup_size_constant_is_put_together_anew() {
        let mode = "OpExecutionMode %main LocalSize 2 1 1\nOpDecorate %size BuiltIn WorkgroupSize";
        assert_eq!(sized(&module(mode, "%size = OpConstantComposite %uvec3 %two %one %one")), [8, 1, 3]);
    }
}
