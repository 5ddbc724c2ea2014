//! Atomic instructions (SPIR-V 3.3.18) on integers and floats of any width.

use std::cmp::Ordering;

use smallvec::smallvec;

use super::access::Bytes;
use super::machine::{fault, Machine, Step};
use super::memory::outside;
use super::own_memory::{from_bytes, to_bytes};
use super::{arithmetic, bits, compare, float, Invocation, Pointer, Stop};
use crate::event::{Access, Atomicity, Commuting, StorageClass, UndefinedKind};
use crate::ir::{AtomicKind, AtomicOp, LeafKind, Line, Op, Operand, Program};
use crate::value::{Byte, Scalar};

impl AtomicKind {
    const fn reads(self) -> bool {
        !matches!(self, AtomicKind::Store { .. })
    }

    const fn may_write(self) -> bool {
        !matches!(self, AtomicKind::Load)
    }

    /// Integer updates that commute with others of their kind. Those of floats round, and see NaNs.
    const fn commuting(self) -> Option<Commuting> {
        match self {
            AtomicKind::IIncrement
            | AtomicKind::IDecrement
            | AtomicKind::IAdd { .. }
            | AtomicKind::ISub { .. } => Some(Commuting::Add),
            AtomicKind::And { .. } => Some(Commuting::And),
            AtomicKind::Or { .. } => Some(Commuting::Or),
            AtomicKind::Xor { .. } => Some(Commuting::Xor),
            AtomicKind::SMin { .. } => Some(Commuting::SMin),
            AtomicKind::UMin { .. } => Some(Commuting::UMin),
            AtomicKind::SMax { .. } => Some(Commuting::SMax),
            AtomicKind::UMax { .. } => Some(Commuting::UMax),
            AtomicKind::Load
            | AtomicKind::Store { .. }
            | AtomicKind::Exchange { .. }
            | AtomicKind::CompareExchange { .. }
            | AtomicKind::FAdd { .. }
            | AtomicKind::FMin { .. }
            | AtomicKind::FMax { .. }
            | AtomicKind::IMul { .. }
            | AtomicKind::SDiv { .. } => None,
        }
    }
}

/// What an atomic does with the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// Writes this.
    Write(Scalar),
    /// Writes nothing.
    Keep,
    /// A compare-exchange whose comparison is undefined: writes this, or nothing.
    Either(Scalar),
}

/// The update, with operands looked up by `value`.
fn update(op: &AtomicOp, old: Scalar, value: impl Fn(Operand) -> Scalar) -> Update {
    let width = u32::from(op.width);
    let pick = |first: Scalar, second: Scalar, takes_first: Scalar| {
        if !takes_first.is_defined() {
            arithmetic::join(first, second)
        } else if takes_first.bits != 0 {
            first
        } else {
            second
        }
    };
    let one = Scalar::new(1);
    Update::Write(match op.kind {
        AtomicKind::Load => return Update::Keep,
        AtomicKind::Store { value: operand } | AtomicKind::Exchange { value: operand } => value(operand),
        AtomicKind::CompareExchange { value: operand, comparator } => {
            let equal = compare::equal(old, value(comparator));
            let new = value(operand);
            return match (equal.is_defined(), equal.bits) {
                (true, 0) => Update::Keep,
                (true, _) => Update::Write(new),
                (false, _) => Update::Either(new),
            };
        }
        AtomicKind::IIncrement => arithmetic::add(width, old, one),
        AtomicKind::IDecrement => arithmetic::subtract(width, old, one),
        AtomicKind::IAdd { value: operand } => arithmetic::add(width, old, value(operand)),
        AtomicKind::ISub { value: operand } => arithmetic::subtract(width, old, value(operand)),
        AtomicKind::SMin { value: operand } => {
            let operand = value(operand);
            pick(old, operand, compare::signed_less(width, old, operand))
        }
        AtomicKind::UMin { value: operand } => {
            let operand = value(operand);
            pick(old, operand, compare::unsigned_less(old, operand))
        }
        AtomicKind::SMax { value: operand } => {
            let operand = value(operand);
            pick(old, operand, compare::signed_less(width, operand, old))
        }
        AtomicKind::UMax { value: operand } => {
            let operand = value(operand);
            pick(old, operand, compare::unsigned_less(operand, old))
        }
        AtomicKind::And { value: operand } => bits::and(old, value(operand)),
        AtomicKind::Or { value: operand } => bits::or(old, value(operand)),
        AtomicKind::Xor { value: operand } => bits::xor(old, value(operand)),
        AtomicKind::FAdd { value: operand } => {
            float::add(op.width, old, value(operand)).unwrap_or(Scalar::undefined(width))
        }
        AtomicKind::FMin { value: operand } => {
            let operand = value(operand);
            pick(old, operand, float_less(op.width, old, operand))
        }
        AtomicKind::FMax { value: operand } => {
            let operand = value(operand);
            pick(old, operand, float_less(op.width, operand, old))
        }
        AtomicKind::IMul { value: operand } => arithmetic::multiply(width, old, value(operand)),
        AtomicKind::SDiv { value: operand } => {
            let quotient = arithmetic::signed_divide(width, old, value(operand));
            quotient.unwrap_or(Scalar::undefined(width))
        }
    })
}

/// Whether `a` is less than `b`; undefined where nothing says which is the lesser: of a NaN and
/// anything, and of two zeros.
fn float_less(width: u8, a: Scalar, b: Scalar) -> Scalar {
    let holds = |predicate: fn(Option<Ordering>) -> bool| {
        float::compare(width, a, b, predicate).unwrap_or(Scalar::undefined(1))
    };
    let decided = holds(|order| matches!(order, Some(Ordering::Less | Ordering::Greater)));
    if decided == Scalar::new(1) {
        holds(|order| order == Some(Ordering::Less))
    } else {
        Scalar::undefined(1)
    }
}

const fn leaf(op: &AtomicOp) -> LeafKind {
    LeafKind::Number(op.width / 8)
}

fn encode(op: &AtomicOp, value: Scalar) -> Bytes {
    let mut bytes: Bytes = smallvec![Byte::Undef; leaf(op).bytes() as usize];
    to_bytes(leaf(op), value, &mut bytes);
    bytes
}

impl Machine<'_> {
    pub(super) fn atomic(&mut self, op: &AtomicOp, line: Line) -> Step {
        self.state.effects += 1;
        self.state.atomics += 1;
        if let AtomicKind::FAdd { .. } | AtomicKind::FMin { .. } | AtomicKind::FMax { .. } = op.kind {
            self.note_here();
        }
        if self.misses_texel(op) {
            if op.kind.reads() {
                self.state.set(op.dst, Scalar::undefined(u32::from(op.width)));
            }
            self.note_stray_texel(op.pointer, op.kind.may_write());
            self.state.advance();
            return Ok(());
        }
        let pointer = self.resolve_in(op.class, op.pointer, line)?;
        if self.is_outside(pointer, leaf(op).bytes()) {
            return self.atomic_outside(op, pointer, line);
        }
        if op.kind.may_write() {
            self.check_qualifiers(pointer, true, line)?;
        }
        if op.kind.reads() {
            self.check_qualifiers(pointer, false, line)?;
        }
        self.name_bytes(pointer, leaf(op).bytes(), op.kind.may_write(), line)?;
        match pointer.own_object() {
            Some(object) => self.atomic_own(op, object, pointer.offset, line),
            None => self.atomic_shared(op, pointer, line),
        }
    }

    /// Whether the pointer is to a texel that the image does not have: the atomic reads an undefined value and
    /// writes nothing.
    fn misses_texel(&self, op: &AtomicOp) -> bool {
        op.class == StorageClass::Image
            && Pointer::decode([self.value(op.pointer), self.value(op.pointer.offset(1))])
                .is_some_and(|pointer| pointer.out_of_bounds)
    }

    /// An atomic outside of a buffer whose bounds are checked reads an undefined value and writes nothing.
    fn atomic_outside(&mut self, op: &AtomicOp, pointer: Pointer, line: Line) -> Step {
        if op.kind.may_write() {
            self.check_qualifiers(pointer, true, line)?;
        }
        if op.kind.reads() {
            self.check_qualifiers(pointer, false, line)?;
            self.state.set(op.dst, Scalar::undefined(u32::from(op.width)));
        }
        self.note_stray_atomic(pointer, op.kind.may_write());
        self.state.advance();
        Ok(())
    }

    /// On the invocation's own memory an atomic is just an update.
    fn atomic_own(&mut self, op: &AtomicOp, object: u32, offset: u32, line: Line) -> Step {
        let kind = leaf(op);
        let Some(address) = self.state.own.locate(object, offset, kind.bytes()) else {
            return Err(outside(offset, kind.bytes(), self.state.own.size(object), line));
        };
        let old = self.state.own.load(address, 0, kind);
        if let Some(new) = self.decide(op, old, line)? {
            self.state.own.store(address, 0, kind, new);
        }
        if op.kind.reads() {
            self.state.set(op.dst, old);
        }
        self.state.advance();
        Ok(())
    }

    /// The value to write, after a choice where it is undecided.
    fn decide(&mut self, op: &AtomicOp, old: Scalar, line: Line) -> Result<Option<Scalar>, Box<Stop>> {
        Ok(match update(op, old, |operand| self.value(operand)) {
            Update::Write(new) => Some(new),
            Update::Keep => None,
            Update::Either(new) => (self.choose(2, line)? != 0).then_some(new),
        })
    }

    fn atomic_shared(&mut self, op: &AtomicOp, pointer: Pointer, line: Line) -> Step {
        let access = self.atomic_access(op, pointer, line)?;
        self.state.uncertain = self.may_be_overwritten(access.object);
        if self.state.helper {
            if op.kind.reads() {
                self.state.set(op.dst, Scalar::undefined(u32::from(op.width)));
            }
            self.state.advance();
            return Ok(());
        }
        let scope = self.memory_scope(op.scope);
        let commutes = op.kind.commuting().filter(|_| !op.result_used);
        let atomicity = Atomicity { scope, semantics: op.semantics, unequal: op.unequal, commutes };
        if let AtomicKind::Store { value } = op.kind {
            let mut bytes = encode(op, self.value(value));
            self.blur(&mut bytes);
            self.state.advance();
            let written = self.memory.write(&access, Some(&atomicity), &bytes);
            if self.settle(written) {
                return Ok(());
            }
            return Err(Box::new(Stop::AtomicWrite { access, atomicity, bytes: bytes.into_vec() }));
        }
        let mut bytes: Bytes = smallvec![Byte::Undef; leaf(op).bytes() as usize];
        if !self.memory.read(&access, Some(&atomicity), &mut bytes) {
            let may_write = op.kind.may_write();
            return Err(Box::new(Stop::AtomicRead { access, atomicity, may_write }));
        }
        let old = from_bytes(leaf(op), &bytes);
        if let Some(new) = self.decide(op, old, line)? {
            // What is known of undefined bits may depend on the order.
            let is_known = new.is_defined() && !self.state.uncertain;
            let commutes = atomicity.commutes.filter(|_| is_known);
            let atomicity = Atomicity { commutes, ..atomicity };
            let mut bytes = encode(op, new);
            self.blur(&mut bytes);
            let written = self.memory.write(&access, Some(&atomicity), &bytes);
            self.settle(written);
        }
        self.state.set(op.dst, old);
        self.state.advance();
        Ok(())
    }

    /// Atomics are non-private, with availability and visibility at their own scope.
    fn atomic_access(&self, op: &AtomicOp, pointer: Pointer, line: Line) -> Result<Access, Box<Stop>> {
        let size = leaf(op).bytes();
        let object_size = self.memory.size(pointer.object);
        if u64::from(pointer.offset) + u64::from(size) > u64::from(object_size) {
            return Err(outside(pointer.offset, size, object_size, line));
        }
        if !pointer.offset.is_multiple_of(size) {
            let detail = format!("an atomic of {size} bytes acts on byte {} of the object", pointer.offset);
            return Err(fault(UndefinedKind::Misaligned, line, detail));
        }
        let scope = self.memory_scope(op.scope);
        Ok(Access {
            object: pointer.object,
            declaration: self.state.names.root(pointer.declaration),
            ranges: smallvec![(pointer.offset, size)],
            class: op.class,
            non_private: true,
            available: op.kind.may_write().then_some(scope),
            visible: op.kind.reads().then_some(scope),
            volatile: op.semantics.volatile || pointer.decorations.volatile,
            aliased: pointer.decorations.aliased,
            inst: self.state.frame.instruction(),
            line,
        })
    }
}

impl AtomicOp {
    /// What it writes, if it is the same whenever it writes.
    pub fn constant_value(&self, program: &Program) -> Option<Vec<Byte>> {
        match self.kind {
            AtomicKind::Store { value }
            | AtomicKind::Exchange { value }
            | AtomicKind::CompareExchange { value, .. }
                if value.is_constant() =>
            {
                let constant = program.constants[value.index() as usize];
                constant.is_defined().then(|| encode(self, constant).into_vec())
            }
            _ => None,
        }
    }
}

impl Invocation {
    /// How many ways [`supply_atomic`](Self::supply_atomic) may go with these bytes: 2 for a
    /// compare-exchange whose comparison is undefined (answer with [`choose`](Self::choose)
    /// first: 0 fails, 1 exchanges), else 1.
    pub fn atomic_ways(&self, program: &Program, bytes: &[Byte]) -> u32 {
        match self.waiting_update(program, bytes) {
            Some((_, _, Update::Either(_))) => 2,
            Some((_, _, Update::Write(_) | Update::Keep)) | None => 1,
        }
    }

    /// Whether [`supply_atomic`](Self::supply_atomic) writes whatever is chosen.
    pub fn always_writes(&self, program: &Program, bytes: &[Byte]) -> bool {
        matches!(self.waiting_update(program, bytes), Some((_, _, Update::Write(_))))
    }

    /// What the compare-exchange that waits compares what it reads with.
    pub fn comparator(&self, program: &Program) -> Option<Vec<Byte>> {
        let Op::Atomic(op) = &self.function(program).code[self.frame.pc as usize].op else { return None };
        let AtomicKind::CompareExchange { comparator, .. } = op.kind else { return None };
        Some(encode(op, self.operand(program, comparator)).into_vec())
    }

    /// Answers [`Stop::AtomicRead`]. Returns the bytes that the instruction writes; `None` for a
    /// load and for a compare-exchange that fails.
    pub fn supply_atomic(&mut self, program: &Program, bytes: &[Byte]) -> Option<Vec<Byte>> {
        let (op, old, update) = self.waiting_update(program, bytes)?;
        let written = match update {
            Update::Write(new) => Some(new),
            Update::Keep => None,
            Update::Either(new) => self.choices.first().is_some_and(|way| *way != 0).then_some(new),
        };
        self.set(op.dst, old);
        self.advance();
        let uncertain = self.uncertain;
        written.map(|new| match uncertain {
            true => vec![Byte::Undef; leaf(op).bytes() as usize],
            false => encode(op, new).into_vec(),
        })
    }

    /// The atomic that waits for these bytes, the old value, and what it does with it.
    fn waiting_update<'a>(
        &self,
        program: &'a Program,
        bytes: &[Byte],
    ) -> Option<(&'a AtomicOp, Scalar, Update)> {
        let Op::Atomic(op) = &self.function(program).code[self.frame.pc as usize].op else { return None };
        let value = |operand| self.operand(program, operand);
        let old = from_bytes(leaf(op), bytes);
        Some((op, old, update(op, old, value)))
    }
}
