//! Which specialisation constants reach something that an entry point does, and what they are used as.
//!
//! A constant counts if an instruction with an effect needs it: a store, a branch, a barrier and the like. What only
//! feeds results that nobody uses reaches nothing.

use std::collections::{BTreeSet, HashMap, HashSet};

use rspirv::spirv::{ExecutionMode, MemoryAccess, Op as Opcode};

use super::decorations::DecorationTable;
use super::entry::{self, EntryPoint};
use super::globals;
use super::index::Index;
use super::specialisation::{literal_bits, parse, scan, NumberKind};
use crate::module::{Instruction, Module};

/// A SpecId that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecUse {
    pub spec_id: u32,
    pub kind: NumberKind,
    pub width: u32,
    /// The bits of the module's own value.
    pub default: u64,
    /// It reaches a workgroup's size, an array's length, or a matrix's.
    pub is_size: bool,
    /// The bits of constants that it is compared with.
    pub met: BTreeSet<u64>,
}

impl SpecUse {
    /// The bits of a value as `--spec` takes it.
    pub fn bits(&self, text: &str) -> Option<u64> {
        parse(text, self.kind, self.width).ok()
    }
}

/// The SpecIds that matter to the entry point of this name, in the order of the module.
pub fn spec_uses(module: &Module, entry: &str) -> Vec<SpecUse> {
    let (index, decorations) = (Index::new(module), DecorationTable::new(module));
    let constants = scan(module, &index, &decorations);
    let Ok(entry) = entry::select(module, Some(entry)) else { return Vec::new() };
    if constants.iter().all(|(constant, _)| constant.spec_id.is_none()) {
        return Vec::new();
    }
    let mut survey = Survey::new(module, &index, &entry);
    let sizes = local_sizes(module, &index, &decorations, &entry);
    survey.follow(sizes.clone());
    let lengths = survey.lengths().chain(sizes).collect();
    let sized = survey.constants_behind(lengths);
    let mut uses: Vec<SpecUse> = Vec::new();
    for (constant, kind) in constants {
        let Some(spec_id) = constant.spec_id.filter(|_| survey.reached.contains(&constant.result_id)) else {
            continue;
        };
        let is_size = sized.contains(&constant.result_id);
        let met = survey.met(constant.result_id, constant.width, &index);
        match uses.iter_mut().find(|known| known.spec_id == spec_id) {
            Some(known) => {
                known.is_size |= is_size;
                known.met.extend(met);
            }
            None => {
                let (width, default) = (constant.width, constant.value);
                uses.push(SpecUse { spec_id, kind, width, default, is_size, met });
            }
        }
    }
    uses
}

/// The ids that give the workgroup its size.
fn local_sizes(
    module: &Module,
    index: &Index,
    decorations: &DecorationTable,
    entry: &EntryPoint,
) -> Vec<u32> {
    if !entry.is_compute() {
        return Vec::new();
    }
    let is_own = |one: &Instruction<'_>| {
        one.op() == Some(Opcode::ExecutionModeId)
            && one.word(0) == Some(entry.function)
            && one.word(1) == Some(ExecutionMode::LocalSizeId as u32)
    };
    let modes = index.module_scope.clone().filter_map(|at| module.instruction(at)).filter(is_own);
    modes.flat_map(|one| one.words_from(2)).copied().chain(globals::workgroup_size(decorations)).collect()
}

/// What an entry point needs.
struct Survey<'m> {
    defined: HashMap<u32, Instruction<'m>>,
    reached: HashSet<u32>,
    /// The instructions that count, of functions and outside.
    live: Vec<Instruction<'m>>,
}

impl<'m> Survey<'m> {
    fn new(module: &'m Module, index: &Index, entry: &EntryPoint) -> Self {
        let declared = index.module_scope.clone().filter_map(|at| module.instruction(at));
        let mut survey = Survey {
            defined: declared.filter_map(|one| Some((one.result?, one))).collect(),
            reached: HashSet::new(),
            live: Vec::new(),
        };
        let mut functions = vec![entry.function];
        let mut effects = Vec::new();
        for number in 0.. {
            let Some(&function) = functions.get(number) else { break };
            for one in index.function(function).unwrap_or_default().filter_map(|at| module.instruction(at)) {
                if let Some(callee) = one.word(0).filter(|_| one.op() == Some(Opcode::FunctionCall)) {
                    if !functions.contains(&callee) {
                        functions.push(callee);
                    }
                }
                survey.defined.extend(one.result.map(|id| (id, one)));
                effects.extend(has_effect(&one).then_some(one));
            }
        }
        for one in effects {
            survey.follow(one.ids());
            survey.reached.extend(one.result);
            survey.live.push(one);
        }
        survey
    }

    /// Everything that these ids need.
    fn follow(&mut self, mut ids: Vec<u32>) {
        while let Some(id) = ids.pop() {
            let Some(&one) = self.defined.get(&id).filter(|_| self.reached.insert(id)) else { continue };
            ids.extend(one.ids());
            ids.extend(one.result_type);
            self.live.push(one);
        }
    }

    /// The ids of lengths.
    fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.live
            .iter()
            .flat_map(|one| match one.op() {
                Some(Opcode::TypeArray) => one.words_from(1),
                Some(Opcode::TypeCooperativeMatrixKHR) => one.words_from(1),
                _ => &[],
            })
            .copied()
    }

    /// These constants and what they are made of.
    fn constants_behind(&self, mut ids: Vec<u32>) -> HashSet<u32> {
        let mut found = HashSet::new();
        while let Some(id) = ids.pop() {
            if found.insert(id) {
                ids.extend(self.defined.get(&id).map(Instruction::ids).unwrap_or_default());
            }
        }
        found
    }

    /// The constants that this one is compared with.
    fn met(&self, id: u32, width: u32, index: &Index) -> BTreeSet<u64> {
        let mut met = BTreeSet::new();
        for one in &self.live {
            let (op, operands) = match one.op() {
                Some(Opcode::SpecConstantOp) => (one.word(0).and_then(Opcode::from_u32), one.words_from(1)),
                op => (op, one.operands),
            };
            let other = match *operands {
                [a, b] if a == id => b,
                [a, b] if b == id => a,
                [selector, _, ref cases @ ..] if op == Some(Opcode::Switch) && selector == id => {
                    let words = index.case_words(selector);
                    let literal = |case: &[u32]| {
                        let word = |at: usize| u64::from(case.get(at).copied().unwrap_or(0));
                        if words == 2 {
                            word(0) | word(1) << 32
                        } else {
                            word(0)
                        }
                    };
                    met.extend(cases.chunks(words + 1).map(literal));
                    continue;
                }
                _ => continue,
            };
            let compares = op.is_some_and(|op| {
                let comparisons = Opcode::IEqual as u32..=Opcode::FUnordGreaterThanEqual as u32;
                comparisons.contains(&(op as u32)) || op == Opcode::BitwiseAnd
            });
            let constant = self.defined.get(&other).filter(|one| one.op() == Some(Opcode::Constant));
            met.extend(constant.filter(|_| compares).map(|one| literal_bits(one, width)));
        }
        met
    }
}

/// Whether an instruction does more than to compute its result.
fn has_effect(one: &Instruction<'_>) -> bool {
    let is_volatile = |mask: Option<u32>| mask.is_some_and(|mask| mask & MemoryAccess::VOLATILE.bits() != 0);
    match one.op() {
        // Extended instructions may write through pointers.
        None | Some(Opcode::FunctionCall | Opcode::ExtInst) => true,
        Some(Opcode::Load) => is_volatile(one.word(1)),
        Some(op) => {
            let name = format!("{op:?}");
            one.result.is_none() || ["Atomic", "RayQuery"].iter().any(|family| name.starts_with(family))
        }
    }
}
