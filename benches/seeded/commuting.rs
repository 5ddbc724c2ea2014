//! Mistakes that no execution shows: what nobody uses, accesses that commute, counters whose sign bit is never set.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::dr::{Function, Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, GlslStd450Op, MemoryAccess, Op, StorageClass, Word};
use spirv_tv_mutators::Mutant;

/// Built-ins that are zero in a workgroup of one invocation.
const LOCAL: [BuiltIn; 2] = [BuiltIn::LocalInvocationIndex, BuiltIn::LocalInvocationId];

/// Updates that change nothing where their operand is 0.
const KEEP: [&str; 5] = ["AtomicOr", "AtomicXor", "AtomicIAdd", "AtomicISub", "AtomicUMax"];

/// Why the mutant means the same as the module that it was made from.
pub fn proof(module: &Module, mutant: &Mutant) -> Option<&'static str> {
    let position = mutant.site?.position;
    let mut functions = module.functions.iter();
    let mut before = 0;
    let function = functions.find(|function| {
        let count = instructions(function).count();
        before += count;
        position < before
    })?;
    let code: Vec<&Instruction> = instructions(function).collect();
    let at = position + code.len() - before;
    let facts = Facts::of(module, function, &code);
    match mutant.mutator {
        "swap" if facts.commute(code.get(at)?, code.iter().skip(at + 1).find(|inst| has_effect(inst))?) => {
            Some("plain accesses of different places, or plain loads, that follow each other")
        }
        "wrong-signedness" if facts.counts_upwards(code.get(at)?) => {
            Some("a counter from a constant to a constant")
        }
        "wrong-signedness" if mutant.what == "SMod" && facts.is_modulo_power_of_two(code.get(at)?) => {
            Some("the lower bits of a number are its remainder modulo a power of two, with or without a sign")
        }
        "operation-skipped" | "wrong-function" | "wrong-constant"
            if facts.is_limit(code.get(at)?, mutant) =>
        {
            Some("a buffer has fewer than 2^31 elements, and any clamp puts an index in bounds")
        }
        "wrong-constant" if is_without_case(code.get(at)?) => {
            Some("a switch without a case goes to its default whatever its selector is")
        }
        "wrong-atomic" if KEEP.contains(&mutant.what.as_str()) && facts.updates_by_zero(code.get(at)?) => {
            Some("an update by 0 that changes nothing")
        }
        "built-in-zero" if LOCAL.iter().any(|name| mutant.what == format!("{name:?}")) && is_one(module) => {
            Some("the workgroup has one invocation")
        }
        _ if !facts.is_used(code.get(at)?) => Some("nobody uses the result"),
        _ => None,
    }
}

/// Whether it is a switch that has its default alone.
fn is_without_case(inst: &Instruction) -> bool {
    inst.class.opcode == Op::Switch && inst.operands.len() == 2
}

/// Whether the workgroup has one invocation.
fn is_one(module: &Module) -> bool {
    let one = Operand::LiteralBit32(1);
    let mode = Operand::ExecutionMode(ExecutionMode::LocalSize);
    let is_size = |inst: &&Instruction| inst.operands.get(1) == Some(&mode);
    let mut sizes = module.execution_modes.iter().filter(is_size);
    sizes.all(|inst| inst.operands.iter().skip(2).all(|size| *size == one))
}

fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.blocks.iter().flat_map(|block| &block.instructions)
}

fn ids(inst: &Instruction) -> impl Iterator<Item = Word> + '_ {
    inst.operands.iter().filter_map(|operand| match operand {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    })
}

/// An index: a value and a constant.
#[derive(PartialEq, Eq)]
struct Linear {
    base: Option<Word>,
    constant: i64,
}

/// How deep computations are looked into.
const DEPTH: usize = 8;

struct Facts<'m> {
    module: &'m Module,
    defined: BTreeMap<Word, &'m Instruction>,
    /// Results on which an effect depends.
    used: BTreeSet<Word>,
    /// The only store to a Function variable.
    stored: BTreeMap<Word, usize>,
}

impl<'m> Facts<'m> {
    fn of(module: &'m Module, function: &'m Function, code: &[&'m Instruction]) -> Self {
        let globals = module.types_global_values.iter().chain(&function.parameters);
        let defined = globals.chain(code.iter().copied()).filter_map(|inst| Some((inst.result_id?, inst)));
        let mut facts =
            Facts { module, defined: defined.collect(), used: BTreeSet::new(), stored: BTreeMap::new() };
        let mut waiting: Vec<&Instruction> = code.iter().copied().filter(|inst| has_effect(inst)).collect();
        while let Some(inst) = waiting.pop() {
            let operands = ids(inst).filter(|id| facts.used.insert(*id)).collect::<Vec<_>>();
            waiting.extend(operands.iter().filter_map(|id| facts.defined.get(id).copied()));
        }
        for store in code.iter().filter(|inst| inst.class.opcode == Op::Store) {
            *facts.stored.entry(ids(store).next().unwrap_or_default()).or_default() += 1;
        }
        facts
    }

    fn is_used(&self, inst: &Instruction) -> bool {
        has_effect(inst) || inst.result_id.is_some_and(|id| self.used.contains(&id))
    }

    /// Whether it limits a length by the greatest positive number, which is skipped, done with a sign or by one more; or
    /// clamps an index from 0 on, which is then done without a sign: negative ones go to the end instead.
    fn is_limit(&self, inst: &Instruction, mutant: &Mutant) -> bool {
        let [Operand::IdRef(_), Operand::LiteralExtInstInteger(function), Operand::IdRef(first), Operand::IdRef(second), ..] =
            inst.operands[..]
        else {
            return false;
        };
        let is = |wanted: GlslStd450Op| inst.class.opcode == Op::ExtInst && function == wanted as u32;
        let is_length = self.defined.get(&first).is_some_and(|inst| {
            let length = ids(inst).next().and_then(|id| self.defined.get(&id));
            inst.class.opcode == Op::ISub && length.is_some_and(|inst| inst.class.opcode == Op::ArrayLength)
        });
        let limits =
            is(GlslStd450Op::UMin) && is_length && self.constant(second) == Some(i64::from(i32::MAX));
        let clamps = is(GlslStd450Op::SClamp) && self.constant(second) == Some(0);
        let what = mutant.what.as_str();
        match mutant.mutator {
            "wrong-function" => (limits && what == "UMin to SMin") || (clamps && what == "SClamp to UClamp"),
            "wrong-constant" => limits && what.ends_with("2147483647 plus 1"),
            _ => limits,
        }
    }

    /// Whether it is an unsigned remainder by a constant power of two.
    fn is_modulo_power_of_two(&self, inst: &Instruction) -> bool {
        let divisor = ids(inst).last().and_then(|id| self.constant(id));
        inst.class.opcode == Op::UMod
            && divisor.is_some_and(|divisor| divisor > 0 && divisor.count_ones() == 1)
    }

    /// Whether it is an atomic update of those that keep what is there, by the constant 0.
    fn updates_by_zero(&self, inst: &Instruction) -> bool {
        let is_one = KEEP.contains(&format!("{:?}", inst.class.opcode).as_str());
        is_one && ids(inst).last().and_then(|id| self.constant(id)) == Some(0)
    }

    fn commute(&self, one: &Instruction, other: &Instruction) -> bool {
        let is_load = |inst: &Instruction| inst.class.opcode == Op::Load;
        let is_access = |inst: &Instruction| is_load(inst) || inst.class.opcode == Op::Store;
        if !is_access(one) || !is_access(other) || self.is_volatile(one) || self.is_volatile(other) {
            return false;
        }
        let pointer = |inst| ids(inst).next();
        let (Some(first), Some(second)) = (pointer(one), pointer(other)) else { return false };
        (is_load(one) && is_load(other)) || self.differ(first, second)
    }

    /// Whether accesses may be part of the trace.
    fn is_volatile(&self, inst: &Instruction) -> bool {
        let is = |operand: &Operand| matches!(operand, Operand::MemoryAccess(access) if access.contains(MemoryAccess::VOLATILE));
        let decoration = Operand::Decoration(Decoration::Volatile);
        inst.operands.iter().any(is)
            || self.module.annotations.iter().any(|inst| inst.operands.contains(&decoration))
    }

    /// Whether two pointers lead to places that do not overlap.
    fn differ(&self, one: Word, other: Word) -> bool {
        let (first, second) = (self.path(one), self.path(other));
        if first.0 != second.0 {
            let aliased = Operand::Decoration(Decoration::Aliased);
            let is_variable =
                |id: Word| self.defined.get(&id).is_some_and(|inst| inst.class.opcode == Op::Variable);
            let may_alias = self.module.annotations.iter().any(|inst| inst.operands.contains(&aliased));
            return is_variable(first.0) && is_variable(second.0) && !may_alias;
        }
        first.1.iter().zip(&second.1).any(|(one, other)| {
            let (one, other) = (self.linear(*one), self.linear(*other));
            let is_same = match (one.base, other.base) {
                (Some(one), Some(other)) => self.agree(one, other, DEPTH),
                (one, other) => one == other,
            };
            is_same && one.constant != other.constant
        })
    }

    /// Whether two values are computed alike, from the same.
    fn agree(&self, one: Word, other: Word, depth: usize) -> bool {
        let (Some(first), Some(second)) = (self.defined.get(&one), self.defined.get(&other)) else {
            return false;
        };
        let pure = [Op::IMul, Op::IAdd, Op::ISub, Op::ShiftLeftLogical, Op::Bitcast, Op::CompositeExtract];
        let is_computed = pure.contains(&first.class.opcode) || self.is_constant_load(first);
        let rest = || {
            first.operands.iter().zip(&second.operands).all(|pair| match pair {
                (Operand::IdRef(one), Operand::IdRef(other)) => self.agree(*one, *other, depth - 1),
                (one, other) => one == other,
            })
        };
        one == other
            || (depth > 0
                && first.class.opcode == second.class.opcode
                && first.operands.len() == second.operands.len()
                && is_computed
                && rest())
    }

    /// Whether this loads an input, or a variable that is stored once: it has one value wherever it is loaded behind that.
    fn is_constant_load(&self, inst: &Instruction) -> bool {
        let variable = ids(inst).next().unwrap_or_default();
        let class = Operand::StorageClass(StorageClass::Input);
        inst.class.opcode == Op::Load
            && (self.stored.get(&variable) == Some(&1)
                || self.defined.get(&variable).is_some_and(|inst| inst.operands.first() == Some(&class)))
    }

    /// The variable and the indices.
    fn path(&self, pointer: Word) -> (Word, Vec<Word>) {
        match self.defined.get(&pointer) {
            Some(inst) if matches!(inst.class.opcode, Op::AccessChain | Op::InBoundsAccessChain) => {
                let mut operands = ids(inst);
                let (base, mut indices) =
                    operands.next().map_or((pointer, Vec::new()), |base| self.path(base));
                indices.extend(operands);
                (base, indices)
            }
            _ => (pointer, Vec::new()),
        }
    }

    fn constant(&self, id: Word) -> Option<i64> {
        let inst = self.defined.get(&id)?;
        match (inst.class.opcode, inst.operands.as_slice()) {
            (Op::Constant, [Operand::LiteralBit32(value)]) => Some(i64::from(value.cast_signed())),
            _ => None,
        }
    }

    fn linear(&self, id: Word) -> Linear {
        if let Some(constant) = self.constant(id) {
            return Linear { base: None, constant };
        }
        let Some(inst) = self.defined.get(&id) else { return Linear { base: Some(id), constant: 0 } };
        let operands: Vec<Word> = ids(inst).collect();
        match (inst.class.opcode, operands.as_slice()) {
            (Op::IAdd, [one, other]) => match (self.linear(*one), self.linear(*other)) {
                (Linear { base, constant }, Linear { base: None, constant: more })
                | (Linear { base: None, constant: more }, Linear { base, constant }) => {
                    Linear { base, constant: constant + more }
                }
                _ => Linear { base: Some(id), constant: 0 },
            },
            _ => Linear { base: Some(id), constant: 0 },
        }
    }

    /// Whether this compares a counter that begins at a constant and grows by another one with a third one, none of
    /// which is negative or great.
    fn counts_upwards(&self, inst: &Instruction) -> bool {
        const GREAT: i64 = 1 << 30;
        let is_small = |id: Word| self.constant(id).is_some_and(|value| (0..GREAT).contains(&value));
        let operands: Vec<Word> = ids(inst).collect();
        let less = matches!(
            inst.class.opcode,
            Op::SLessThan | Op::ULessThan | Op::SLessThanEqual | Op::ULessThanEqual
        );
        let [counter, bound] = *operands else { return false };
        let counter = self.linear(counter);
        let Some(phi) = counter.base.and_then(|base| self.defined.get(&base)) else { return false };
        let from: Vec<Word> = ids(phi).step_by(2).collect();
        let grows = |id: &Word| {
            let next = self.linear(*id);
            next.base == phi.result_id && (1..GREAT).contains(&next.constant)
        };
        less && phi.class.opcode == Op::Phi
            && (0..GREAT).contains(&counter.constant)
            && is_small(bound)
            && from.iter().any(grows)
            && from.iter().all(|id| is_small(*id) || grows(id))
    }
}

/// Whether the instruction does more than to compute a value.
fn has_effect(inst: &Instruction) -> bool {
    let is_volatile = |operand: &Operand| matches!(operand, Operand::MemoryAccess(access) if access.contains(MemoryAccess::VOLATILE));
    let name = inst.class.opname;
    inst.result_id.is_none()
        || inst.operands.iter().any(is_volatile)
        || name.starts_with("Atomic")
        || name.starts_with("Group")
        || matches!(inst.class.opcode, Op::FunctionCall | Op::Load | Op::ImageRead | Op::Variable)
}
