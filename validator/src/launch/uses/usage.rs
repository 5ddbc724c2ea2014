//! What one value is used as.

use std::collections::BTreeSet;

/// Constants that a value is compared with, at most.
const MAX_CONSTANTS: usize = 4;

/// Fields that are indices, at most.
const MAX_FIELDS: usize = 4;

/// Fields that are compared with constants, at most.
const MAX_COMPARED: usize = 8;

/// Numbers of which a turn of a loop takes so many, or that a quotient is computed with, at most.
const MAX_UNIT: u32 = 1 << 12;

/// One way to use a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A float of the value's width.
    Float,
    /// An integer that is computed with.
    Integer,
    /// An index as it is.
    Index,
    /// What an index is computed from: a stride, an offset.
    PartOfIndex,
    /// What a counter of a loop is compared with.
    Turns,
    /// What an invocation's number is compared with.
    Guard,
    /// Halves in an integer.
    Halves,
    /// Small numbers in an integer: bytes, bit fields.
    Packed,
    /// What atomic instructions access.
    Atomic,
    /// The coordinate of a sampled image.
    Coordinate,
    /// What such a coordinate, or an index, is computed from in floats.
    PartOfCoordinate,
    /// What another value is divided by.
    Divisor,
    /// By how much a number is shifted to the right.
    Shift,
    /// What is multiplied with another value.
    Factor,
    /// What is multiplied with another value for the upper half of the product: divisions by numbers that are no
    /// constants are computed so.
    Reciprocal,
    /// What an index is computed from that is within what it indexes, whatever the value is.
    Entry,
}

impl Role {
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Bits in an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// The lowest of them.
    pub first: u8,
    /// How many.
    pub bits: u8,
}

impl Field {
    /// Where the bits of a field of another field are.
    pub fn of(self, outer: Field) -> Option<Field> {
        let bits = self.bits.min(outer.bits.checked_sub(self.first)?);
        Some(Field { first: outer.first.checked_add(self.first)?, bits }).filter(|field| field.bits > 0)
    }

    /// A word with a number in the place of these bits; of a number that is too large, the lower bits.
    pub fn put(self, word: u64, number: u64) -> u64 {
        let mask = u64::MAX.checked_shr(u64::BITS.saturating_sub(self.bits.into())).unwrap_or(0);
        let shifted = |bits: u64| bits.checked_shl(u32::from(self.first)).unwrap_or(0);
        word & !shifted(mask) | shifted(number & mask)
    }
}

/// What a value is used as; several roles may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in memory.
    pub width: u8,
    roles: u16,
    /// The least number of elements of what it indexes.
    limit: Option<u32>,
    /// How much of it one turn of a loop takes; 0 where it bounds no loop.
    unit: u32,
    /// Constants that it is compared with, as bits.
    constants: BTreeSet<u64>,
    /// Bits of it that are an index, or part of one.
    index_fields: BTreeSet<Field>,
    /// Bits of it that are compared with a constant, and this constant.
    compared_fields: BTreeSet<(Field, u64)>,
    /// The number of elements of what it indexes with a constant added, and this constant.
    shifted: Option<(u32, i64)>,
    /// By how much it is divided where it is part of an index, or a guard, thereafter; 0 where it is not.
    quotient: u32,
}

impl Usage {
    /// The same uses of a value of so many bytes.
    pub fn with_width(self, width: u8) -> Self {
        Usage { width, ..self }
    }

    /// Without a role.
    pub fn without(self, role: Role) -> Self {
        Usage { roles: self.roles & !role.bit(), ..self }
    }

    /// Whether it is used so.
    pub fn is(&self, role: Role) -> bool {
        self.roles & role.bit() != 0
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.roles == 0
    }

    /// The least number of elements of what it indexes, where that is known.
    pub fn limit(&self) -> Option<u32> {
        self.limit
    }

    /// Whether it is by how much an index grows with another number: with a row, a layer.
    pub fn is_stride(&self) -> bool {
        self.is(Role::Factor) && self.is(Role::PartOfIndex) && !self.is(Role::Index) && !self.is_size()
    }

    /// Whether it is how many there are of something.
    pub fn is_size(&self) -> bool {
        self.is(Role::Divisor) || self.is(Role::Turns) || self.is(Role::Guard)
    }

    /// How much of it one turn of a loop takes, at least 1.
    pub fn unit(&self) -> u32 {
        self.unit.max(1)
    }

    /// Adds that it bounds a loop, each turn of which takes so much of it; true where that is new.
    pub fn set_turns(&mut self, unit: u32) -> bool {
        let before = self.unit;
        self.unit = before.max(unit.clamp(1, MAX_UNIT));
        self.set(Role::Turns) || self.unit != before
    }

    /// Constants that it is compared with, as bits of the value's width.
    pub fn constants(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.constants.iter().copied()
    }

    /// Adds a role; true where it is new.
    pub fn set(&mut self, role: Role) -> bool {
        let before = self.roles;
        self.roles |= role.bit();
        self.roles != before
    }

    /// Adds that it is an index below a limit.
    pub fn set_index(&mut self, limit: Option<u32>) {
        self.set(Role::Index);
        self.limit = least(self.limit, limit);
    }

    /// Bits of it that are an index, or part of one.
    pub fn index_fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.index_fields.iter().copied()
    }

    /// Adds that bits of it are an index, or part of one; true where that is new.
    pub fn set_index_field(&mut self, field: Field) -> bool {
        self.index_fields.len() < MAX_FIELDS && self.index_fields.insert(field)
    }

    /// Bits of it that are compared with a constant, and this constant.
    pub fn compared_fields(&self) -> impl ExactSizeIterator<Item = (Field, u64)> + '_ {
        self.compared_fields.iter().copied()
    }

    /// Adds that bits of it are used so: what these, or bits of these, are compared with; true where that is new.
    pub fn compare_field(&mut self, field: Field, of_bits: &Usage) -> bool {
        let inner =
            of_bits.compared_fields.iter().filter_map(|(part, value)| Some((part.of(field)?, *value)));
        let whole = of_bits.constants.iter().map(|value| (field, *value));
        let before = self.compared_fields.len();
        let room = MAX_COMPARED.saturating_sub(before);
        let new: Vec<(Field, u64)> =
            whole.chain(inner).filter(|one| !self.compared_fields.contains(one)).take(room).collect();
        self.compared_fields.extend(new);
        self.compared_fields.len() != before
    }

    /// By how much it is divided where it is part of an index, or a guard, thereafter; at least 1.
    pub fn quotient(&self) -> u32 {
        self.quotient.max(1)
    }

    /// Adds by how much it is divided then; true where that is new. What is more than usual moves numbers within a word.
    pub fn set_quotient(&mut self, by: u32) -> bool {
        let before = self.quotient;
        if by > 1 && by <= MAX_UNIT {
            self.quotient = before.max(by);
        }
        self.quotient != before
    }

    /// The number of elements of what it indexes with a constant added, and this constant.
    pub fn shifted_index(&self) -> Option<(u32, i64)> {
        self.shifted
    }

    /// Adds that it is an index below a limit once a constant is added; true where that is new.
    pub fn set_shifted_index(&mut self, limit: u32, by: i64) -> bool {
        let before = self.shifted;
        self.shifted = least(before, Some((limit, by)));
        self.shifted != before
    }

    /// Adds a constant that it is compared with.
    pub fn compare(&mut self, constant: u64) {
        if self.constants.len() < MAX_CONSTANTS {
            self.constants.insert(constant);
        }
    }

    /// Adds what a copy of it is used as; true where that is new.
    pub fn add(&mut self, other: &Usage) -> bool {
        let sizes = |own: &Usage| {
            let counts = [own.constants.len(), own.index_fields.len(), own.compared_fields.len()];
            (counts, own.shifted, own.quotient)
        };
        let before = (self.roles, self.limit, self.unit, sizes(self));
        self.unit = self.unit.max(other.unit);
        self.quotient = self.quotient.max(other.quotient);
        self.width = self.width.max(other.width);
        self.roles |= other.roles;
        self.limit = least(self.limit, other.limit);
        self.shifted = least(self.shifted, other.shifted);
        for constant in &other.constants {
            self.compare(*constant);
        }
        for field in &other.index_fields {
            self.set_index_field(*field);
        }
        let room = MAX_COMPARED.saturating_sub(self.compared_fields.len());
        self.compared_fields.extend(other.compared_fields.iter().copied().take(room));
        (self.roles, self.limit, self.unit, sizes(self)) != before
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
