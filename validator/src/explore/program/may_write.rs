//! Writes that no execution has reached so far but that the program leaves possible.
//!
//! The axioms forbid a cycle of load buffering because of the way in which its writes are ordered
//! (`branch/load_buffering.rs`). An instruction that only runs inside of such a cycle was never seen and may write in
//! another way. So the text of the program must show where an instruction cannot write. For example, an instruction
//! that stores to `a[i]` may write any element of `a`, but it writes no other variable.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::{smallvec, SmallVec};

use crate::dispatch::Dispatch;
use crate::explore::program::units::UnitKey;
use crate::ir::{
    AtomicKind, Bound, Effect, FunctionId, Inst, InstId, MemoryOp, Op, Operand, Program, ShapeId,
};

/// The instructions of a program that may write memory that invocations share. The constructors `plain` and `looking`
/// collect accesses of other kinds in the same form.
pub(crate) struct MayWrite(pub(crate) Vec<Writer>);

pub(crate) struct Writer {
    pub(crate) inst: InstId,
    /// The variable and its bytes, if the program shows them. Otherwise the instruction may write any shared memory.
    pub(crate) place: Option<Pointee>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointee {
    variable: u32,
    bytes: Range<u64>,
}

impl MayWrite {
    pub(crate) fn of(program: &Program) -> Self {
        MayWrite::accessing(program, |inst| written(program, inst).into_iter().collect())
    }

    /// The instructions that are no atomics and may read or write memory that invocations share.
    pub(crate) fn plain(program: &Program) -> Self {
        MayWrite::accessing(program, |inst| plain_accesses(program, inst))
    }

    /// The instructions that may read memory that invocations share without writing it.
    pub(crate) fn looking(program: &Program) -> Self {
        MayWrite::accessing(program, |inst| match inst.op.effect() {
            Effect::Atomic(op) => match op.kind {
                AtomicKind::Load | AtomicKind::CompareExchange { .. } => {
                    smallvec![Some((op.pointer, u64::from(op.width / 8)))]
                }
                _ => SmallVec::new(),
            },
            _ => plain_accesses(program, inst),
        })
    }

    fn accessing(program: &Program, accesses_of: impl Fn(&Inst) -> Accessed) -> Self {
        let mut accesses = Vec::new();
        for (number, function) in (0..).map(FunctionId).zip(&program.functions) {
            let pointers = pointers(&function.code);
            for (index, inst) in (0..).zip(&function.code) {
                for accessed in accesses_of(inst) {
                    let place = accessed.and_then(|(pointer, len)| {
                        let place = place(program, &pointers, pointer)?;
                        Some(Pointee {
                            bytes: place.bytes.start..place.bytes.end.saturating_add(len),
                            ..place
                        })
                    });
                    accesses.push(Writer { inst: InstId { function: number, index }, place });
                }
            }
        }
        MayWrite(accesses)
    }

    /// Whether the program leaves it open that an invocation writes this word.
    pub(crate) fn may_write(&self, dispatch: &Dispatch, invocation: usize, word: UnitKey) -> bool {
        self.of_word(dispatch, invocation, word).next().is_some()
    }

    /// The instructions at which the program leaves it open that an invocation writes this word.
    pub(crate) fn of_word<'a>(
        &'a self,
        dispatch: &'a Dispatch,
        invocation: usize,
        (memory, word): UnitKey,
    ) -> impl Iterator<Item = InstId> + 'a {
        let bytes = u64::from(word)..u64::from(word) + 4;
        let touching = move |writer: &&Writer| writer.may_touch(dispatch, invocation, memory, bytes.clone());
        self.0.iter().filter(touching).map(|writer| writer.inst)
    }
}

impl Writer {
    pub(crate) fn may_touch(
        &self,
        dispatch: &Dispatch,
        invocation: usize,
        memory: u32,
        bytes: Range<u64>,
    ) -> bool {
        let Some(place) = &self.place else { return true };
        let object = dispatch.object(place.variable, invocation as u32);
        let Some(object) = object.and_then(|object| dispatch.objects.get(object as usize)) else {
            return false;
        };
        let overlaps = place.bytes.start < bytes.end && bytes.start < place.bytes.end;
        // With robust access an index may leave its array for any byte of the buffer.
        let may_stray = dispatch.robustness.is_some();
        object.memory == memory && (object.view.is_some() || may_stray || overlaps)
    }
}

/// What an instruction may write: a pointer with a number of bytes, or `Some(None)` if only a run can determine it.
fn written(program: &Program, inst: &Inst) -> Option<Option<(Operand, u64)>> {
    match inst.op.effect() {
        Effect::Memory(
            MemoryOp::Store { pointer, class, shape, .. }
            | MemoryOp::Copy { target: pointer, target_class: class, target_shape: shape, .. },
        ) => {
            let len = u64::from(program.shapes[shape.0 as usize].size);
            class.is_shared().then_some(Some((*pointer, len)))
        }
        Effect::Atomic(op) => {
            (op.kind != AtomicKind::Load).then_some(Some((op.pointer, u64::from(op.width / 8))))
        }
        Effect::Image(_) | Effect::Cooperative(_) => Some(None),
        Effect::Memory(
            MemoryOp::Variable { .. }
            | MemoryOp::Chain(_)
            | MemoryOp::Load { .. }
            | MemoryOp::Uniform { .. }
            | MemoryOp::ArrayLength { .. }
            | MemoryOp::Difference { .. },
        )
        | Effect::Control(_)
        | Effect::Barrier(_)
        | Effect::Subgroup(_)
        | Effect::None => None,
    }
}

/// Pointers with a number of bytes. An entry is `None` if only a run can determine it.
type Accessed = SmallVec<[Option<(Operand, u64)>; 2]>;

/// What an instruction that is no atomic may access: pointers with a number of bytes, or `None` for what only a run can
/// determine.
fn plain_accesses(program: &Program, inst: &Inst) -> Accessed {
    let len = |shape: ShapeId| u64::from(program.shapes[shape.0 as usize].size);
    match inst.op.effect() {
        Effect::Memory(
            MemoryOp::Store { pointer, class, shape, .. } | MemoryOp::Load { pointer, class, shape, .. },
        ) if class.is_shared() => smallvec![Some((*pointer, len(*shape)))],
        Effect::Memory(MemoryOp::Copy { target, source, target_shape, source_shape, .. }) => {
            smallvec![Some((*target, len(*target_shape))), Some((*source, len(*source_shape)))]
        }
        Effect::Image(_) | Effect::Cooperative(_) => smallvec![None],
        Effect::Memory(
            MemoryOp::Store { .. }
            | MemoryOp::Load { .. }
            | MemoryOp::Variable { .. }
            | MemoryOp::Chain(_)
            | MemoryOp::Uniform { .. }
            | MemoryOp::ArrayLength { .. }
            | MemoryOp::Difference { .. },
        )
        | Effect::Atomic(_)
        | Effect::Control(_)
        | Effect::Barrier(_)
        | Effect::Subgroup(_)
        | Effect::None => SmallVec::new(),
    }
}

/// The instructions that make pointers to variables, by the registers that they set.
fn pointers(code: &[Inst]) -> FxHashMap<u32, &MemoryOp> {
    let pointers = code.iter().filter_map(|inst| match &inst.op {
        Op::Memory(op @ MemoryOp::Variable { dst, .. }) => Some((*dst, op)),
        Op::Memory(op @ MemoryOp::Chain(chain)) => Some((chain.dst, op)),
        _ => None,
    });
    pointers.collect()
}

/// Where a pointer may lead: a variable, and the range of the possible first bytes.
fn place(program: &Program, pointers: &FxHashMap<u32, &MemoryOp>, pointer: Operand) -> Option<Pointee> {
    if pointer.is_constant() {
        return None;
    }
    match pointers.get(&pointer.index())? {
        MemoryOp::Variable { variable, .. } => Some(Pointee { variable: *variable, bytes: 0..0 }),
        MemoryOp::Chain(chain) if !chain.physical => {
            let place = place(program, pointers, chain.base)?;
            let (mut first, mut span) = (u64::from(chain.offset), 0);
            for index in &chain.indices {
                let stride = u64::from(index.stride);
                match (index.bound, constant(program, index.index)) {
                    (Bound::Elements(_) | Bound::RuntimeArray { .. }, Some(value)) => {
                        first = first.saturating_add(stride * value);
                    }
                    (Bound::Elements(count), None) => {
                        span = stride.saturating_mul(u64::from(count.saturating_sub(1))).saturating_add(span);
                    }
                    (Bound::RuntimeArray { .. }, None) => span = u64::MAX,
                    (Bound::Unbounded | Bound::Held(_) | Bound::Descriptor(_), _) => return None,
                }
            }
            let start = place.bytes.start.saturating_add(first);
            let end = place.bytes.end.saturating_add(first).saturating_add(span);
            Some(Pointee { bytes: start..end, ..place })
        }
        _ => None,
    }
}

/// The value of an index that is a constant.
fn constant(program: &Program, index: Operand) -> Option<u64> {
    let value = program.constants.get(index.index() as usize).filter(|_| index.is_constant())?;
    (value.undef == 0 && value.bits <= i32::MAX as u64).then_some(value.bits)
}
