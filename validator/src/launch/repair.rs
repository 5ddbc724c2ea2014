//! Inputs on which before is undefined are made such that it is defined: parameters are changed one by one, as long as
//! fewer invocations meet undefined behaviour and conflict with each other, and more of them work.
//!
//! Sizes and strides that fit each other seldom come by chance. What is wrong with them shows in a run of the invocations
//! one after the other, which decides nothing.

use super::patch::{word_at, Patch, Place};
use super::trial::{self, Outlook};
use super::values::Random;
use crate::dispatch::Dispatch;
use crate::ir::Program;

/// Values that parameters are given.
const VALUES: [u32; 15] = [0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384];

/// Words that are changed, at most: the first that were read.
const MOST_WORDS: usize = 32;

/// Objects that may hold parameters, though the program could write them, are at most so large.
const SMALL: usize = 8192;

/// Runs without anything better, after which it is given up.
const PATIENCE: u32 = 160;

/// What it costs to begin a run, in instructions.
const RUN: u64 = 2_000;

const WORD: usize = 4;

/// Changes the parameters of one input.
pub struct Repair<'r> {
    /// What runs.
    pub program: &'r Program,
    /// The input, which is changed.
    pub dispatch: Dispatch,
    /// How large each object may be made.
    pub limits: &'r [u32],
    /// Who runs.
    pub invocations: &'r [u32],
    /// Whether the contents of an object may be chosen, by its key.
    pub is_free: &'r dyn Fn(&str) -> bool,
    /// Whether time is over.
    pub is_over: &'r dyn Fn() -> bool,
    /// Instructions that are left.
    pub fuel: u64,
}

/// How good an outlook is: as few as possible in trouble, then as many as possible at work.
fn rank(outlook: &Outlook) -> (u32, std::cmp::Reverse<u32>) {
    (outlook.faulted + outlook.conflicting, std::cmp::Reverse(outlook.working))
}

impl Repair<'_> {
    /// What is put into the input; `None` where it stays undefined, or nobody works.
    pub fn run(&mut self, seed: u64) -> Option<Vec<Patch>> {
        let mut random = Random::new(seed);
        let mut best = self.outlook(u32::MAX)?;
        let mut patches: Vec<Patch> = Vec::new();
        let mut waited = 0;
        let mut words = self.words(&best);
        while waited < PATIENCE && self.fuel > 0 && !words.is_empty() {
            if rank(&best).0 == 0 && best.working as usize * 2 > self.invocations.len() {
                break;
            }
            let at = random.below(words.len() as u32) as usize;
            let Some((object, offset, key)) = words.get(at).cloned() else { break };
            let own = self.word(object, offset)?;
            let value = VALUES[random.below(VALUES.len() as u32) as usize];
            waited += 1;
            if value == own {
                continue;
            }
            let place = Place::Object { key, offset };
            let of = |word: u32| Patch { place: place.clone(), bytes: word.to_le_bytes().to_vec() };
            of(value).put_into(self.program, &mut self.dispatch);
            let other = self.outlook(rank(&best).0)?;
            // What makes no difference by itself may do so together with the next one.
            if rank(&other) <= rank(&best) {
                if rank(&other) < rank(&best) {
                    waited = 0;
                    words = self.words(&other);
                }
                best = other;
                patches.retain(|patch| patch.place != place);
                patches.push(of(value));
            } else {
                of(own).put_into(self.program, &mut self.dispatch);
            }
        }
        (rank(&best).0 == 0 && best.working > 0).then_some(patches)
    }

    fn outlook(&mut self, patience: u32) -> Option<Outlook> {
        let limits = (self.limits, patience);
        let outlook = trial::outlook(self.program, &self.dispatch, limits, self.invocations, self.is_over)?;
        self.fuel = self.fuel.saturating_sub(outlook.executed + RUN);
        Some(outlook)
    }

    /// The words of parameters that were read: object, first byte, and the object's key.
    fn words(&self, outlook: &Outlook) -> Vec<(u32, u32, String)> {
        let mut words: Vec<(u32, u32, String)> = Vec::new();
        for (object, first, bytes) in &outlook.reads {
            let Some(it) = self.dispatch.objects.get(*object as usize) else { continue };
            let holds_parameters = it.image.is_none() && (it.constant || it.initial.len() <= SMALL);
            if *bytes as usize != WORD || !holds_parameters || words.len() == MOST_WORDS {
                continue;
            }
            let is_known = words.iter().any(|(other, offset, _)| (other, offset) == (object, first));
            if !is_known && (self.is_free)(&it.key) && self.word(*object, *first).is_some_and(is_integer) {
                words.push((*object, *first, it.key.clone()));
            }
        }
        words
    }

    fn word(&self, object: u32, offset: u32) -> Option<u32> {
        let bytes = &self.dispatch.objects.get(object as usize)?.initial;
        word_at(bytes, offset)
    }
}

/// Whether a word is no ordinary float.
const fn is_integer(word: u32) -> bool {
    !matches!(word >> 28 & 7, 3 | 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::inputs::inputs;
    use crate::launch::{build_dispatch, Launch, LaunchOptions};
    use crate::lower::{self, LowerOptions};
    use crate::module::{Module, ReadOptions};
    use crate::value::Byte;

    /// Invocations below the first push constant store where the second, times their number, says.
    const MODULE: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpDecorate %words ArrayStride 4
OpDecorate %data BufferBlock
OpMemberDecorate %data 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%block = OpTypeStruct %uint %uint
%p_block = OpTypePointer PushConstant %block
%p_size = OpTypePointer PushConstant %uint
%hundred = OpConstant %uint 100
%words = OpTypeArray %uint %hundred
%data = OpTypeStruct %words
%p_data = OpTypePointer Uniform %data
%p_word = OpTypePointer Uniform %uint
%p_input = OpTypePointer Input %uint
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%id = OpVariable %p_input Input
%sizes = OpVariable %p_block PushConstant
%buffer = OpVariable %p_data Uniform
%main = OpFunction %void None %function
%entry = OpLabel
%i = OpLoad %uint %id
%at_count = OpAccessChain %p_size %sizes %zero
%count = OpLoad %uint %at_count
%at_stride = OpAccessChain %p_size %sizes %one
%stride = OpLoad %uint %at_stride
%works = OpULessThan %bool %i %count
OpSelectionMerge %end None
OpBranchConditional %works %work %end
%work = OpLabel
%at = OpIMul %uint %i %stride
%word = OpAccessChain %p_word %buffer %zero %at
OpStore %word %i
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
";

    /// How many work then.
    fn repaired(push: [u32; 2], is_free: bool) -> Option<u32> {
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let module = Module::from_text(MODULE, "repair.spvasm", &options).unwrap();
        let program = lower::lower(&module, &LowerOptions::default()).unwrap();
        let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
        let mut input = inputs(&program, None, &launch, 1, 0, &mut |_, _| None).unwrap().remove(0);
        input.push = push.iter().flat_map(|word| word.to_le_bytes()).map(Byte::Known).collect();
        let mut repair = Repair {
            program: &program,
            dispatch: build_dispatch(&program, &launch, &input).unwrap(),
            limits: &[],
            invocations: &[0, 1, 2, 3, 4, 5, 6, 7],
            is_free: &|_| is_free,
            is_over: &|| false,
            fuel: 1_000_000,
        };
        for patch in repair.run(3)? {
            patch.put(&program, &launch, &mut input);
        }
        let dispatch = build_dispatch(&program, &launch, &input).unwrap();
        let outlook = trial::outlook(&program, &dispatch, (&[], 8), repair.invocations, &|| false).unwrap();
        assert!(outlook.faulted == 0 && outlook.conflicting == 0 && outlook.working > 4, "{outlook:?}");
        Some(outlook.working)
    }

    #[test]
    fn strides_become_such_that_all_work_and_nobody_conflicts() {
        // All store to one word; far outside; nobody does.
        for push in [[8, 0], [8, 70_000], [0, 0]] {
            assert!(repaired(push, true).is_some(), "{push:?}");
        }
        // What the user gave stays, and so does the conflict.
        assert_eq!(repaired([8, 0], false), None);
    }
}
