//! Inputs on which before is undefined, or nobody does anything, are made such that it is defined and works: parameters
//! are changed, as long as fewer invocations meet undefined behaviour and conflict with each other, more of them work, and
//! they reach more of the program.
//!
//! Sizes and strides that fit each other seldom come by chance. What is wrong with them shows in a run of the invocations
//! one after the other, which decides nothing. First a handful of them run, then few, then all.

use std::cmp::Reverse;

use super::patch::{word_at, Patch, Place};
use super::trial::{self, Outlook, BUDGET};
use super::values::Random;
use crate::coverage::Coverage;
use crate::dispatch::Dispatch;
use crate::ir::Program;

/// Values that parameters are given.
const VALUES: [u32; 15] = [0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384];

/// Values with which few work.
const FEW: [u32; 5] = [3, 2, 4, 8, 16];

/// Values of parameters that hold four bytes, each of which is one of these.
const BYTES: [u32; 6] = [1, 2, 4, 8, 16, 24];

/// By how much each of several strides is larger than the one before.
const RATIOS: [u32; 5] = [2, 4, 8, 16, 32];

/// Parameters in a row that are changed together, at most.
const RUN_OF: u32 = 6;

/// Words that are changed, at most: the first that were read.
const MOST_WORDS: usize = 32;

/// Words that were read last before undefined behaviour and are changed, at most, what they are changed to, and how often.
const LAST_WORDS: usize = 8;
const LEAST: [u32; 4] = [1, 0, 2, 3];
const CHASES: u32 = 24;

/// Objects that may hold parameters, though the program could write them, are at most so large.
const SMALL: usize = 8192;

/// Runs without anything better, after which it is given up.
const PATIENCE: u32 = 400;

/// The same where nobody is in trouble, and some work.
const PATIENCE_AT_WORK: u32 = 60;

/// So many invocations are a handful.
const HANDFUL: usize = 4;

/// So many times longer may runs take where all may take long.
const DEEP_TIMES: u64 = 8;

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
    /// Who runs: first a handful, then few, then all that count.
    pub invocations: [&'r [u32]; 3],
    /// The same dispatch with other values, which are tried.
    pub others: &'r [Dispatch],
    /// What stays as it is.
    pub held: &'r [Patch],
    /// Whether the contents of an object may be chosen, by its key.
    pub is_free: &'r dyn Fn(&str) -> bool,
    /// Where all take too long to be run often: how many instructions they may take then; none where they may not.
    pub deep: u64,
    /// Whether time is over.
    pub is_over: &'r dyn Fn() -> bool,
    /// Instructions that are left.
    pub fuel: u64,
}

/// How good an outlook is, the less the better: as little trouble as possible, then as many as possible at work, then, where
/// nobody is in trouble, as much as possible covered.
fn rank((outlook, covered): &(Outlook, u32)) -> (u32, Reverse<u32>, Reverse<u32>) {
    let trouble = outlook.trouble();
    (trouble, Reverse(outlook.working), Reverse(if trouble == 0 { *covered } else { 0 }))
}

/// A word of a parameter: object, first byte, and its key.
pub type Word = (u32, u32, String);

impl Repair<'_> {
    /// What is put into the input; `None` where it stays undefined, or nobody works.
    pub fn run(&mut self, seed: u64) -> Option<Vec<Patch>> {
        let mut random = Random::new(seed);
        let mut patches: Vec<Patch> = Vec::new();
        let [handful, few, all] = self.invocations;
        self.improve((handful, self.fuel / 3 * 2), &mut patches, &mut random)?;
        let of_few = self.improve((few, self.fuel / 2), &mut patches, &mut random)?;
        let of_all = of_few.0.executed.saturating_mul(all.len() as u64) / few.len().max(1) as u64;
        let best = match BUDGET < of_all && of_all <= self.deep {
            true => of_few,
            false => self.improve((all, 0), &mut patches, &mut random)?,
        };
        self.keep(&best.0, &mut patches);
        (rank(&best).0 == 0 && best.0.working > 0).then_some(patches)
    }

    /// Keeps what was read of buffers as it is: what they are filled with may hang on their sizes.
    fn keep(&self, outlook: &Outlook, patches: &mut Vec<Patch>) {
        for (object, offset, key) in self.words(outlook) {
            let is_constant = self.dispatch.objects.get(object as usize).is_none_or(|it| it.constant);
            let Some(word) = self.word(object, offset).filter(|_| !is_constant) else { continue };
            let place = Place::Object { key, offset };
            if patches.iter().all(|known| known.place != place) {
                patches.push(Patch::of_word(&place, word));
            }
        }
    }

    /// What is put into the input, if what was read last before undefined behaviour is enough; for few invocations.
    pub fn run_chase(&mut self) -> Option<Vec<Patch>> {
        let mut patches: Vec<Patch> = Vec::new();
        let [handful, few, _] = self.invocations;
        self.chase(handful, &mut patches)?;
        self.chase(few, &mut patches)?;
        let (outlook, _) = self.outlook(few, 0)?;
        (outlook.trouble() == 0 && outlook.working > 0 && !patches.is_empty()).then_some(patches)
    }

    /// What is read last before the first undefined behaviour is what leads there, mostly: it is given a small value, as long
    /// as more of the program is reached so, or undefined behaviour comes later. `None` where time is over.
    fn chase(&mut self, invocations: &[u32], patches: &mut Vec<Patch>) -> Option<()> {
        let (mut outlook, mut covered) = self.outlook(invocations, 0)?;
        for _ in 0..CHASES {
            if outlook.faulted == 0 || self.fuel == 0 {
                break;
            }
            let Some((patch, next)) = self.chase_once(invocations, (&outlook, covered))? else { break };
            patches.retain(|known| known.place != patch.place);
            patches.push(patch);
            (outlook, covered) = next;
        }
        Some(())
    }

    /// A value with which it goes farther, and how far; the inner `None` where there is none.
    #[allow(clippy::type_complexity, reason = "a value, and an outlook with what was covered")]
    fn chase_once(
        &mut self,
        invocations: &[u32],
        (outlook, covered): (&Outlook, u32),
    ) -> Option<Option<(Patch, (Outlook, u32))>> {
        for (object, offset, key) in self.last_words(outlook) {
            let Some(own) = self.word(object, offset) else { continue };
            let place = Place::Object { key, offset };
            for value in LEAST.into_iter().filter(|value| *value != own) {
                let patch = Patch::of_word(&place, value);
                patch.put_into(self.program, &mut self.dispatch);
                let (other, reached) = self.outlook(invocations, 0)?;
                let how_far = |outlook: &Outlook, covered: u32| {
                    (outlook.trouble() == 0, outlook.faulted == 0, covered, outlook.reads.len())
                };
                if how_far(&other, reached) > how_far(outlook, covered) {
                    return Some(Some((patch, (other, reached))));
                }
            }
            Patch::of_word(&place, own).put_into(self.program, &mut self.dispatch);
        }
        Some(None)
    }

    /// The words that were read last and may be chosen, the last first.
    fn last_words(&self, outlook: &Outlook) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        for (object, first, bytes) in outlook.reads.iter().rev() {
            let Some(it) = self.dispatch.objects.get(*object as usize) else { continue };
            if it.image.is_some() || !(self.is_free)(&it.key) {
                continue;
            }
            for offset in (*first..first.saturating_add(*bytes)).step_by(WORD) {
                let is_known = words.iter().any(|(other, at, _)| (other, at) == (object, &offset));
                if words.len() < LAST_WORDS && !is_known && !self.is_held(&it.key, offset) {
                    words.push((*object, offset, it.key.clone()));
                }
            }
            if words.len() == LAST_WORDS {
                break;
            }
        }
        words
    }

    /// The most invocations that contend for a word; `None` where time is over.
    pub fn contending(&mut self) -> Option<u32> {
        let [_, _, all] = self.invocations;
        self.outlook(all, u32::MAX).map(|(outlook, _)| outlook.contending)
    }

    /// The value of one parameter with which at most `most` invocations contend for a word, and at least two; `None` where
    /// there is none.
    pub fn calm(&mut self, most: u32) -> Option<Vec<Patch>> {
        let [_, _, all] = self.invocations;
        let (outlook, _) = self.outlook(all, u32::MAX)?;
        let words = self.words(&outlook);
        for value in FEW {
            for (object, offset, key) in &words {
                let Some(own) = self.word(*object, *offset).filter(|_| self.fuel > 0) else { continue };
                let place = Place::Object { key: key.clone(), offset: *offset };
                let patch = Patch::of_word(&place, value);
                patch.put_into(self.program, &mut self.dispatch);
                let (other, _) = self.outlook(all, u32::MAX)?;
                let is_calm = (2..=most).contains(&other.contending);
                if is_calm && other.faulted + other.unfinished <= outlook.faulted + outlook.unfinished {
                    return Some(vec![patch]);
                }
                Patch::of_word(&place, own).put_into(self.program, &mut self.dispatch);
            }
        }
        None
    }

    /// Changes parameters while that makes things better for these invocations, and more than so many instructions are
    /// left; the outlook then.
    fn improve(
        &mut self,
        (invocations, left): (&[u32], u64),
        patches: &mut Vec<Patch>,
        random: &mut Random,
    ) -> Option<(Outlook, u32)> {
        let mut best = self.outlook(invocations, u32::MAX)?;
        let mut words = self.words(&best.0);
        let mut waited = 0;
        while waited < PATIENCE && self.fuel > left && !words.is_empty() {
            // That a handful covers more costs little.
            let is_enough = best.0.working as usize * 2 > invocations.len() && invocations.len() > HANDFUL;
            let is_enough = is_enough || best.0.working > 0 && waited > PATIENCE_AT_WORK;
            if rank(&best).0 == 0 && is_enough && self.deep == 0 {
                break;
            }
            waited += 1;
            let changes = self.changes(&words, random);
            let mut undo = Vec::with_capacity(changes.len());
            for ((object, offset, key), value) in &changes {
                let Some(own) = self.word(*object, *offset) else { continue };
                let place = Place::Object { key: key.clone(), offset: *offset };
                undo.push(Patch::of_word(&place, own));
                let patch = Patch::of_word(&place, *value);
                patch.put_into(self.program, &mut self.dispatch);
            }
            if undo.is_empty() {
                continue;
            }
            let other = self.outlook(invocations, rank(&best).0)?;
            // What makes no difference by itself may do so together with the next one.
            if rank(&other) > rank(&best) {
                undo.iter().rev().for_each(|patch| patch.put_into(self.program, &mut self.dispatch));
                continue;
            }
            if rank(&other) < rank(&best) {
                waited = 0;
                words = self.words(&other.0);
            }
            best = other;
            for ((_, offset, key), value) in changes {
                let place = Place::Object { key, offset };
                patches.retain(|patch| patch.place != place);
                patches.push(Patch::of_word(&place, value));
            }
        }
        Some(best)
    }

    /// Words that are changed together, and what they become; those that are so already are left out.
    fn changes(&self, words: &[Word], random: &mut Random) -> Vec<(Word, u32)> {
        let any = |random: &mut Random| words.get(random.below(words.len() as u32) as usize).cloned();
        let usual = |random: &mut Random| VALUES[random.below(VALUES.len() as u32) as usize];
        let mut changes: Vec<(Word, u32)> = Vec::new();
        match random.below(10) {
            0..=2 => changes.extend(any(random).map(|word| (word, usual(random)))),
            3 | 4 => {
                let byte = BYTES[random.below(BYTES.len() as u32) as usize];
                changes.extend(any(random).map(|word| (word, 0x0101_0101 * byte)));
            }
            5 => {
                for _ in 0..2 {
                    changes.extend(any(random).map(|word| (word, usual(random))));
                }
            }
            6 => {
                let mut stride = 1;
                let ratio = RATIOS[random.below(RATIOS.len() as u32) as usize];
                for word in self.row(any(random), random) {
                    changes.push((word, stride));
                    stride = stride.saturating_mul(ratio);
                }
            }
            _ => {
                let Some(other) = self.others.get(random.below(self.others.len().max(1) as u32) as usize)
                else {
                    return changes;
                };
                for word in self.row(any(random), random) {
                    let of_other = other.objects.iter().find(|object| object.key == word.2);
                    let value = of_other.and_then(|object| word_at(&object.initial, word.1));
                    changes.extend(value.map(|value| (word, value)));
                }
            }
        }
        changes.retain(|((object, offset, key), value)| {
            self.word(*object, *offset) != Some(*value) && !self.is_held(key, *offset)
        });
        changes
    }

    /// A few words in a row, from this one on.
    fn row(&self, first: Option<Word>, random: &mut Random) -> Vec<Word> {
        let count = 1 + random.below(RUN_OF);
        let Some((object, offset, key)) = first else { return Vec::new() };
        let after = (0..count).map(|number| (object, offset + number * WORD as u32, key.clone()));
        after.filter(|(object, offset, _)| self.word(*object, *offset).is_some_and(is_integer)).collect()
    }

    fn outlook(&mut self, invocations: &[u32], patience: u32) -> Option<(Outlook, u32)> {
        self.dispatch.coverage = Coverage::of(self.program);
        let times = if self.deep > 0 { DEEP_TIMES } else { 1 };
        let limits = (self.limits, patience, times);
        let outlook = trial::outlook(self.program, &self.dispatch, limits, invocations, self.is_over)?;
        self.fuel = self.fuel.saturating_sub(outlook.executed + RUN);
        Some((outlook, self.dispatch.coverage.extent()))
    }

    /// The words of parameters that were read and may be changed.
    fn words(&self, outlook: &Outlook) -> Vec<Word> {
        let mut words = parameters(&self.dispatch, &outlook.reads, self.is_free);
        words.retain(|(_, offset, key)| !self.is_held(key, *offset));
        words.truncate(MOST_WORDS);
        words
    }

    fn is_held(&self, key: &str, offset: u32) -> bool {
        self.held.iter().any(|patch| match &patch.place {
            Place::Object { key: held, offset: at } => held == key && *at == offset,
            Place::Passed { .. } => false,
        })
    }

    fn word(&self, object: u32, offset: u32) -> Option<u32> {
        let bytes = &self.dispatch.objects.get(object as usize)?.initial;
        word_at(bytes, offset)
    }
}

/// The words of parameters that were read, the first first, in objects whose contents may be chosen, by their key.
pub fn parameters(
    dispatch: &Dispatch,
    reads: &[(u32, u32, u32)],
    is_free: &dyn Fn(&str) -> bool,
) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (object, first, bytes) in reads {
        let Some(it) = dispatch.objects.get(*object as usize) else { continue };
        let holds_parameters = it.image.is_none() && (it.constant || it.initial.len() <= SMALL);
        let is_known = || words.iter().any(|(other, offset, _)| (other, offset) == (object, first));
        if *bytes as usize == WORD
            && holds_parameters
            && is_free(&it.key)
            && word_at(&it.initial, *first).is_some_and(is_integer)
            && !is_known()
        {
            words.push((*object, *first, it.key.clone()));
        }
    }
    words
}

/// Whether a word is no ordinary float.
pub(super) const fn is_integer(word: u32) -> bool {
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

    /// What is found of the module with these push constants.
    fn of<T>(
        (text, push): (&str, [u32; 2]),
        (held, is_free): (&[Patch], bool),
        find: impl FnOnce(&mut Repair<'_>) -> T,
    ) -> T {
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let module = Module::from_text(text, "repair.spvasm", &options).unwrap();
        let program = lower::lower(&module, &LowerOptions::default()).unwrap();
        let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
        let mut input = inputs(&program, None, &launch, 1, 0, &mut |_, _| None).unwrap().remove(0);
        input.push = push.iter().flat_map(|word| word.to_le_bytes()).map(Byte::Known).collect();
        find(&mut Repair {
            program: &program,
            dispatch: build_dispatch(&program, &launch, &input).unwrap(),
            limits: &[],
            invocations: [&[0, 7], &[0, 1, 6, 7], &[0, 1, 2, 3, 4, 5, 6, 7]],
            others: &[],
            held,
            is_free: &|_| is_free,
            deep: 0,
            is_over: &|| false,
            fuel: 1_000_000,
        })
    }

    /// How all invocations fare with these values.
    fn patched(repair: &mut Repair<'_>, patches: &[Patch]) -> Outlook {
        patches.iter().for_each(|patch| patch.put_into(repair.program, &mut repair.dispatch));
        trial::outlook(repair.program, &repair.dispatch, (&[], 8, 1), repair.invocations[2], &|| false)
            .unwrap()
    }

    /// How many work after a repair.
    fn repaired(push: [u32; 2], held: &[Patch], is_free: bool) -> Option<u32> {
        of((MODULE, push), (held, is_free), |repair| {
            let patches = repair.run(3)?;
            let outlook = patched(repair, &patches);
            assert!(outlook.faulted == 0 && outlook.conflicting == 0, "{outlook:?}");
            Some(outlook.working)
        })
    }

    #[test]
    fn strides_become_such_that_all_work_and_nobody_conflicts() {
        // All store to one word; far outside; nobody does.
        for push in [[8, 0], [8, 70_000], [0, 0]] {
            assert!(repaired(push, &[], true) > Some(4), "{push:?}");
        }
        // What the user gave stays, and so does the conflict.
        assert_eq!(repaired([8, 0], &[], false), None);
    }

    #[test]
    fn what_was_read_last_before_undefined_behaviour_is_chased() {
        let chased = |push: [u32; 2], held: &[Patch]| {
            of((MODULE, push), (held, true), |repair| {
                let patches = repair.run_chase()?;
                Some((patches.len(), patched(repair, &patches).faulted))
            })
        };
        // The stride is read last, and the number of those who work before it.
        assert_eq!(chased([8, 70_000], &[]), Some((1, 0)));
        let stride = Place::Object { key: "push".to_owned(), offset: 4 };
        let stride = Patch { place: stride, bytes: 70_000_u32.to_le_bytes().to_vec() };
        assert_eq!(chased([8, 70_000], &[stride]), Some((1, 0)));
        // Nobody is to be helped.
        assert_eq!(chased([8, 1], &[]), None);
    }

    #[test]
    fn what_is_held_stays() {
        let place = |offset| Place::Object { key: "push".to_owned(), offset };
        let held = |offset, value: u32| Patch { place: place(offset), bytes: value.to_le_bytes().to_vec() };
        // Nobody works, or all store to one word but for one who is alone.
        assert_eq!(repaired([0, 1], &[held(0, 0)], true), None);
        assert_eq!(repaired([8, 0], &[held(4, 0)], true), Some(1));
    }

    #[test]
    fn what_was_read_of_a_buffer_stays_as_it_was() {
        // The stride lies in a buffer, and fits; nobody works.
        let text =
            MODULE.replace("OpAccessChain %p_size %sizes %one", "OpAccessChain %p_word %buffer %zero %one");
        let patches = of((&text, [0, 0]), (&[], true), |repair| {
            let buffer = repair.dispatch.objects.iter_mut().find(|object| object.key == "0.0").unwrap();
            buffer.initial[4] = Byte::Known(8);
            repair.run(3)
        });
        let place = Place::Object { key: "0.0".to_owned(), offset: 4 };
        assert!(patches.is_some_and(|patches| patches.iter().any(|patch| patch.place == place)));
    }

    #[test]
    fn few_are_left_of_many_who_contend() {
        let slot = "%at_counter = OpAccessChain %p_word %buffer %zero %last
%at = OpAtomicIAdd %uint %at_counter %one %zero %one";
        let text = MODULE
            .replace("%at = OpIMul %uint %i %stride", slot)
            .replace("%one =", "%last = OpConstant %uint 99\n%one =");
        let contending = |text: &str, is_free| {
            of((text, [8, 1]), (&[], is_free), |repair| {
                let all = repair.contending();
                let patches = repair.calm(3);
                (all, patches.map(|patches| patched(repair, &patches).contending))
            })
        };
        assert_eq!(contending(&text, true), (Some(8), Some(3)));
        assert_eq!(contending(&text, false), (Some(8), None));
        // Nobody uses what the instruction finds, so that its order shows nowhere.
        let unused = text.replace(
            "%word = OpAccessChain %p_word %buffer %zero %at\n",
            "%word = OpAccessChain %p_word %buffer %zero %i\n",
        );
        assert_eq!(contending(&unused, true), (Some(0), None));
    }
}
