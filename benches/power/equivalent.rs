//! Mutants that mean the same as their module, by proof.
//!
//! A comparison that is ordered instead of unordered, or the reverse, answers otherwise for NaNs only, and without the
//! execution mode SignedZeroInfNanPreserve a module need not tell those from numbers. Where halves are rounded to is the
//! implementation's choice, which may be the even number (GLSL.std.450, Round and RoundEven). An operation on signed
//! numbers gives what that on unsigned ones gives where no operand has its sign bit set; which have not is found by an
//! interval analysis: an upper bound of each value of up to 32 bits, whatever the path is, but that a counter is bounded
//! by what its loop tests before each step ([`counters`]). Built-in variables are bounded by what a dispatch may count
//! on: fewer than 2^16 workgroups in a dimension (Vulkan, "Required Limits", maxComputeWorkGroupCount; some devices have
//! more), and 2^10 invocations in one, which no device exceeds; lengths of arrays by the memory that is shared ([`lengths`]).
//! What only counts the turns of a loop so as to end it after 2^64 of them ([`guards`]) shows after millions of turns, if at
//! all; so does what no longer counts them.
//! What is left is asked of a solver (`solver/`), which also uses these bounds.

mod counters;
mod guards;
mod lengths;

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, GlslStd450Op, Op, StorageClass, Word};
use spirv_tv_mutators::Mutant;

use counters::Test;

/// Nothing is known: every number of 32 bits.
const ANY: u64 = u32::MAX as u64;

/// The greatest number without a sign bit.
const GREATEST: u64 = i32::MAX as u64;

/// The greatest number of so many bits.
const fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Rounds after which a bound that still grows becomes [`GREATEST`], then [`ANY`].
const ROUNDS: usize = 12;

/// Why the mutant means the same as the module that it was made from.
pub fn proof(module: &Module, mutant: &Mutant) -> Option<&'static str> {
    let position = mutant.site?.position;
    let inst = instructions(module).nth(position)?;
    match mutant.mutator {
        "wrong-nan" if !preserves_nans(module) => Some("NaNs need not be told from numbers"),
        "wrong-signedness" if signs_agree(inst, &Bounds::of(module)) => Some("no operand has a sign bit"),
        "wrong-function" if chooses_even(inst, mutant, position) => Some("Round may be RoundEven"),
        _ if guards::is_dropped(module, mutant, position)
            || guards::counts_turns(
                module,
                || rspirv::dr::load_words(mutant.module.words()).ok(),
                position,
            ) =>
        {
            Some("it counts turns of a loop that ends after 2^22 of them at least")
        }
        _ => None,
    }
}

fn instructions(module: &Module) -> impl Iterator<Item = &Instruction> {
    module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions)
}

fn preserves_nans(module: &Module) -> bool {
    let is = |operand: &Operand| {
        matches!(operand, Operand::ExecutionMode(ExecutionMode::SignedZeroInfNanPreserve))
    };
    module.execution_modes.iter().any(|inst| inst.operands.iter().any(is))
}

/// Whether Round has become RoundEven, which is what an implementation may choose for halves (GLSL.std.450, Round).
fn chooses_even(inst: &Instruction, mutant: &Mutant, position: usize) -> bool {
    let Ok(after) = rspirv::dr::load_words(mutant.module.words()) else { return false };
    let called = |inst: &Instruction| match inst.operands.get(1) {
        Some(Operand::LiteralExtInstInteger(which)) if inst.class.opcode == Op::ExtInst => Some(*which),
        _ => None,
    };
    let becomes = instructions(&after).nth(position).and_then(called);
    called(inst) == Some(GlslStd450Op::Round as u32) && becomes == Some(GlslStd450Op::RoundEven as u32)
}

/// Whether the operation on signed numbers and that on unsigned ones agree on these operands.
fn signs_agree(inst: &Instruction, bounds: &Bounds<'_>) -> bool {
    let operands = match inst.class.opcode {
        Op::SDiv | Op::UDiv | Op::UMod | Op::SRem | Op::SMod => 2,
        Op::SLessThan | Op::ULessThan | Op::SLessThanEqual | Op::ULessThanEqual => 2,
        Op::SGreaterThan | Op::UGreaterThan | Op::SGreaterThanEqual | Op::UGreaterThanEqual => 2,
        Op::ShiftRightLogical | Op::ShiftRightArithmetic => 1,
        Op::ConvertSToF | Op::ConvertUToF | Op::SConvert | Op::UConvert => 1,
        _ => return false,
    };
    ids(inst).take(operands).all(|id| {
        let width = bounds.width(id).filter(|width| *width <= 32);
        width.is_some_and(|width| bounds.get(id) <= ones(width) / 2)
    })
}

fn ids(inst: &Instruction) -> impl Iterator<Item = Word> + '_ {
    inst.operands.iter().filter_map(|operand| match operand {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    })
}

/// Upper bounds of integers; of vectors, of all components.
pub struct Bounds<'m> {
    instructions: HashMap<Word, &'m Instruction>,
    /// What is stored to a variable as a whole or in part, where nothing else is done with it but loading.
    stored: HashMap<Word, Vec<Word>>,
    /// Arguments of each parameter, and values that each function returns.
    passed: HashMap<Word, Vec<Word>>,
    built_ins: HashMap<Word, BuiltIn>,
    glsl: Option<Word>,
    /// Specialisation constants that are the size of a workgroup in a dimension.
    sizes: Vec<Word>,
    /// Those that are lengths of arrays in shared memory.
    lengths: HashSet<Word>,
    /// Tests that a step of a counter is behind.
    tests: HashMap<Word, Test>,
    bounds: HashMap<Word, u64>,
}

impl<'m> Bounds<'m> {
    pub fn of(module: &'m Module) -> Self {
        let defined = module.all_inst_iter().filter_map(|inst| Some((inst.result_id?, inst)));
        let mut bounds = Bounds {
            instructions: defined.collect(),
            stored: HashMap::new(),
            passed: HashMap::new(),
            built_ins: HashMap::new(),
            sizes: Vec::new(),
            lengths: HashSet::new(),
            glsl: module.ext_inst_imports.first().and_then(|inst| inst.result_id),
            tests: HashMap::new(),
            bounds: HashMap::new(),
        };
        for inst in &module.annotations {
            if let [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)] =
                inst.operands[..]
            {
                bounds.built_ins.insert(id, built_in);
            }
        }
        let is_size = |inst: &&Instruction| {
            inst.result_id.and_then(|id| bounds.built_ins.get(&id)) == Some(&BuiltIn::WorkgroupSize)
        };
        let size = module.types_global_values.iter().find(is_size).or_else(|| {
            let modes = &mut module.execution_modes.iter();
            modes.find(|inst| {
                inst.operands.get(1) == Some(&Operand::ExecutionMode(ExecutionMode::LocalSizeId))
            })
        });
        bounds.sizes = size.into_iter().flat_map(ids).collect();
        bounds.lengths = lengths::lengths(module, &bounds.instructions);
        bounds.collect(module);
        bounds.tests = counters::tests(module, &bounds);
        bounds.solve(module);
        bounds
    }

    /// Where values go through variables and calls.
    fn collect(&mut self, module: &'m Module) {
        let own = |inst: &Instruction| {
            let is = |class| inst.operands.first() == Some(&Operand::StorageClass(class));
            inst.class.opcode == Op::Variable && (is(StorageClass::Function) || is(StorageClass::Private))
        };
        for inst in module.all_inst_iter().filter(|inst| own(inst)) {
            let initial = ids(inst).collect();
            self.stored.extend(inst.result_id.map(|id| (id, initial)));
        }
        for inst in instructions(module) {
            match inst.class.opcode {
                Op::Load | Op::AccessChain | Op::InBoundsAccessChain => {}
                Op::Store => {
                    let mut operands = ids(inst);
                    let (Some(pointer), Some(value)) = (operands.next(), operands.next()) else { continue };
                    let root = self.root(pointer);
                    self.stored.entry(root).and_modify(|stored| stored.push(value));
                    self.stored.remove(&value);
                }
                Op::FunctionCall => {
                    let mut operands = ids(inst);
                    let callee = operands.next();
                    let called = module.functions.iter().find(|one| one.def_id() == callee);
                    let parameters = called.into_iter().flat_map(|one| &one.parameters);
                    for (parameter, argument) in parameters.filter_map(|one| one.result_id).zip(operands) {
                        self.passed.entry(parameter).or_default().push(argument);
                        let root = self.root(argument);
                        self.stored.remove(&root);
                    }
                }
                _ => {
                    for id in ids(inst) {
                        let root = self.root(id);
                        self.stored.remove(&root);
                    }
                }
            }
        }
        for function in &module.functions {
            let code = function.blocks.iter().flat_map(|block| &block.instructions);
            let returned = code.filter(|inst| inst.class.opcode == Op::ReturnValue).flat_map(ids);
            self.passed.extend(function.def_id().map(|id| (id, returned.collect())));
        }
    }

    /// The variable that a pointer leads into.
    fn root(&self, pointer: Word) -> Word {
        match self.instructions.get(&pointer) {
            Some(inst) if matches!(inst.class.opcode, Op::AccessChain | Op::InBoundsAccessChain) => {
                ids(inst).next().map_or(pointer, |base| self.root(base))
            }
            Some(_) | None => pointer,
        }
    }

    /// How often a variable is written, but for its initialiser.
    fn writes_of(&self, variable: Word) -> usize {
        let is_initial =
            |inst: &&&Instruction| inst.class.opcode == Op::Variable && ids(inst).next().is_some();
        let initial = self.instructions.get(&variable).filter(is_initial).is_some();
        self.stored.get(&variable).map_or(0, |stored| stored.len() - usize::from(initial))
    }

    /// The counter that a value is read from: a variable that is loaded as a whole, or the value of an OpPhi.
    fn counter(&self, id: Word) -> Option<Word> {
        let inst = self.instructions.get(&id)?;
        match inst.class.opcode {
            Op::Load => ids(inst).next().filter(|pointer| self.stored.contains_key(pointer)),
            Op::Phi => Some(id),
            _ => None,
        }
    }

    fn solve(&mut self, module: &Module) {
        for round in 0.. {
            let mut changed = false;
            for inst in module.all_inst_iter() {
                let Some(id) = inst.result_id else { continue };
                let bound =
                    self.bound(inst).min(self.width(id).filter(|width| *width < 32).map_or(ANY, ones));
                if bound > self.get(id) {
                    let widened = if bound <= GREATEST { GREATEST } else { ANY };
                    self.bounds.insert(id, if round < ROUNDS { bound } else { widened });
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    pub fn get(&self, id: Word) -> u64 {
        self.bounds.get(&id).copied().unwrap_or(0)
    }

    fn greatest(&self, ids: impl Iterator<Item = Word>) -> u64 {
        ids.map(|id| self.get(id)).max().unwrap_or(0)
    }

    /// The bits of a scalar or component of this value; none where it is no integer.
    pub fn width(&self, id: Word) -> Option<u32> {
        let mut ty = self.instructions.get(&self.instructions.get(&id)?.result_type?)?;
        if ty.class.opcode == Op::TypeVector {
            ty = self.instructions.get(&ids(ty).next()?)?;
        }
        match (ty.class.opcode, ty.operands.first()) {
            (Op::TypeInt, Some(Operand::LiteralBit32(width))) => Some(*width),
            _ => None,
        }
    }

    pub fn constant(&self, id: Word) -> Option<u64> {
        let inst = self.instructions.get(&id)?;
        match (inst.class.opcode, inst.operands.first()) {
            (Op::Constant, Some(Operand::LiteralBit32(value))) => Some(u64::from(*value)),
            _ => None,
        }
    }

    fn bound(&self, inst: &Instruction) -> u64 {
        let operands: Vec<Word> = ids(inst).collect();
        let of = |at: usize| operands.get(at).map_or(ANY, |id| self.get(*id));
        let constant = |at: usize| operands.get(at).and_then(|id| self.constant(*id));
        let positive = |bound: u64| if bound <= GREATEST { bound } else { ANY };
        match inst.class.opcode {
            Op::Constant => match inst.operands.first() {
                Some(Operand::LiteralBit32(value)) => u64::from(*value),
                _ => ANY,
            },
            Op::ConstantNull => 0,
            Op::SpecConstant if inst.result_id.is_some_and(|id| self.sizes.contains(&id)) => 1 << 10,
            Op::SpecConstant if inst.result_id.is_some_and(|id| self.lengths.contains(&id)) => {
                lengths::GREATEST
            }
            Op::SpecConstantOp => match inst.operands.first() {
                Some(Operand::LiteralSpecConstantOpInteger(opcode)) => {
                    let operands = inst.operands[1..].to_vec();
                    self.bound(&Instruction::new(*opcode, inst.result_type, inst.result_id, operands))
                }
                _ => ANY,
            },
            Op::ConstantComposite | Op::CompositeConstruct | Op::Phi | Op::VectorShuffle => {
                self.greatest(operands.iter().copied().filter(|id| self.is_value(*id)))
            }
            Op::CopyObject | Op::CompositeExtract | Op::CopyLogical | Op::VectorExtractDynamic => of(0),
            Op::Bitcast => match operands.first().and_then(|id| self.width(*id)) {
                Some(32) => of(0),
                _ => ANY,
            },
            Op::Select => of(1).max(of(2)),
            Op::UConvert => of(0),
            Op::BitwiseAnd => of(0).min(of(1)),
            Op::BitwiseOr | Op::BitwiseXor => (of(0).max(of(1)) + 1).next_power_of_two() - 1,
            Op::ShiftRightLogical => of(0) >> constant(1).unwrap_or(0).min(31),
            Op::ShiftRightArithmetic => positive(of(0)) >> constant(1).unwrap_or(0).min(31),
            Op::ShiftLeftLogical => constant(1).map_or(ANY, |by| of(0) << by.min(31)),
            Op::UDiv => of(0) / constant(1).unwrap_or(1).max(1),
            Op::SDiv if of(0).max(of(1)) <= GREATEST => of(0),
            Op::UMod => of(0).min(of(1).saturating_sub(1)),
            Op::SRem | Op::SMod if of(0).max(of(1)) <= GREATEST => of(0).min(of(1).saturating_sub(1)),
            Op::IAdd => {
                let sum = of(0) + of(1);
                let test = inst.result_id.and_then(|id| self.tests.get(&id));
                let capped = test.map_or(sum, |test| sum.min(test.greatest(self.get(test.with)) + of(1)));
                let is_capped = test.is_some_and(|test| !test.is_signed || capped <= GREATEST);
                if is_capped {
                    capped
                } else {
                    sum
                }
            }
            Op::IMul => of(0).saturating_mul(of(1)),
            Op::BitFieldUExtract => constant(2).map_or(ANY, |bits| (1 << bits.min(32)) - 1),
            Op::BitCount => 32,
            // A buffer has fewer than 2^32 bytes, and the elements of the arrays here four or more.
            Op::ArrayLength => 1 << 30,
            Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels | Op::ImageQuerySamples => {
                1 << 16
            }
            Op::FunctionCall => {
                let returned = operands.first().and_then(|callee| self.passed.get(callee));
                returned.map_or(ANY, |returned| self.greatest(returned.iter().copied()))
            }
            Op::FunctionParameter => {
                let passed = inst.result_id.and_then(|id| self.passed.get(&id));
                passed.map_or(ANY, |passed| self.greatest(passed.iter().copied()))
            }
            Op::Load => operands.first().map_or(ANY, |pointer| self.loaded(*pointer)),
            Op::ExtInst if operands.first().copied() == self.glsl => match inst.operands.get(1) {
                Some(Operand::LiteralExtInstInteger(number)) => self.extended(*number, &operands),
                _ => ANY,
            },
            _ => ANY,
        }
    }

    /// Operands of OpPhi that are values, and no labels.
    fn is_value(&self, id: Word) -> bool {
        self.instructions.get(&id).is_some_and(|inst| inst.class.opcode != Op::Label)
    }

    fn loaded(&self, pointer: Word) -> u64 {
        let root = self.root(pointer);
        if let Some(stored) = self.stored.get(&root) {
            return self.greatest(stored.iter().copied());
        }
        match self.built_ins.get(&root) {
            Some(BuiltIn::GlobalInvocationId) => 1 << 26,
            Some(BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups) => 1 << 16,
            Some(
                BuiltIn::LocalInvocationId
                | BuiltIn::LocalInvocationIndex
                | BuiltIn::SubgroupId
                | BuiltIn::NumSubgroups
                | BuiltIn::SubgroupSize
                | BuiltIn::SubgroupLocalInvocationId
                | BuiltIn::SampleId
                | BuiltIn::ViewIndex,
            ) => 1 << 10,
            Some(_) | None => ANY,
        }
    }

    fn extended(&self, number: Word, operands: &[Word]) -> u64 {
        let of = |at: usize| operands.get(at).map_or(ANY, |id| self.get(*id));
        match GlslStd450Op::from_u32(number) {
            Some(GlslStd450Op::UMin) => of(1).min(of(2)),
            Some(GlslStd450Op::UMax) => of(1).max(of(2)),
            Some(GlslStd450Op::UClamp) => of(3),
            Some(GlslStd450Op::SMin) if of(1).max(of(2)) <= GREATEST => of(1).min(of(2)),
            // One that is not negative is enough, and the other one is less where it is.
            Some(GlslStd450Op::SMax) if of(1).min(of(2)) <= GREATEST => of(1).max(of(2)).min(GREATEST),
            Some(GlslStd450Op::SClamp) if of(2).max(of(3)) <= GREATEST => of(3),
            _ => ANY,
        }
    }
}
