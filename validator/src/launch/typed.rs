//! Values of automatic inputs that suit what they are used as.
//!
//! Floats are ordinary ones, exact in few bits, so that sums of them are exact, too. Infinities and NaNs have inputs of
//! their own, and only where a module tells them from numbers: elsewhere Vulkan leaves most results open. Indices are
//! within what they index. What counters are compared with makes loops run a few turns, what numbers of invocations are
//! compared with stops some of them. Words that atomic instructions access are zero in most inputs, as programs expect.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::uses::{Field, Role, Usage};
use super::values::{Kind, Random, BOUNDARIES};

/// Indices into what has no known length stay below this.
const UNKNOWN_LIMIT: u32 = 4;

/// Values from which indices are computed stay below this.
const PART_LIMIT: u32 = 8;

/// Sizes of dimensions are at most this, where no loop takes more at a time.
const DIMENSION: u32 = 4;

/// Turns of loops, the most telling first.
const TURNS: [u32; 5] = [2, 3, 1, 4, 0];

/// Ordinary floats at which functions change their ways, or nearly.
const FLOATS: [f64; 12] = [1.0, -1.0, 0.5, 2.0, -0.0, -2.5, 0.000_976_562_5, 4096.0, 0.75, 3.0, -7.5, 100.0];

/// Those of inputs with special values.
const SPECIAL_FLOATS: [f64; 6] = [f64::INFINITY, 1.0, f64::NAN, -2.0, f64::NEG_INFINITY, 0.0];

/// Every so many inputs with boundary values have special floats, or words of atomics that are not zero.
const SPECIAL_EVERY: u32 = 4;

/// What has several uses, or is compared with a constant beside being an index, is taken so in every so many places.
const OTHER_EVERY: u32 = 4;

/// Chooses values for one input.
#[derive(Clone, Copy, Debug)]
pub struct Typed {
    pub kind: Kind,
    /// Invocations of the launch in each dimension.
    pub extent: [u32; 3],
    /// Infinities and NaNs are tried.
    pub specials: bool,
    /// More than what the first of several dimensions has.
    row: u32,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its number among others: makes neighbours differ.
    pub place: u32,
    /// Its number in a row of sizes, or of strides, one for each dimension.
    pub rank: u32,
}

/// Counts sizes that stand in a row, and strides.
#[derive(Debug, Default)]
pub struct Row {
    /// One past the last, whether it is a stride, and its number.
    last: Option<(u32, bool, u32)>,
}

impl Row {
    /// The number of this one.
    pub fn rank(&mut self, offset: u32, usage: &Usage) -> u32 {
        if !usage.is_stride() && !usage.is_size() {
            self.last = None;
            return 0;
        }
        let is_stride = usage.is_stride();
        let rank = match self.last {
            Some((end, kind, rank)) if end == offset && kind == is_stride => rank + 1,
            Some(_) | None => 0,
        };
        self.last = Some((offset.saturating_add(usage.width.into()), is_stride, rank));
        rank
    }
}

impl Typed {
    /// With sizes and strides that fit each other, among all that stand together.
    pub fn new<'u>(
        kind: Kind,
        extent: [u32; 3],
        specials: bool,
        together: impl Iterator<Item = &'u Usage>,
    ) -> Self {
        let mut row = DIMENSION;
        let guards = extent.into_iter().max().unwrap_or(1).saturating_mul(2).saturating_add(2);
        for usage in together.filter(|usage| usage.is_size()) {
            if usage.is(Role::Turns) {
                row = row.max(usage.unit().saturating_mul(DIMENSION));
            }
            // Where the number of invocations is that of all dimensions together, rows may be short.
            if usage.is(Role::Guard) && layout_of(kind) % 2 == 1 {
                row = row.max(guards);
            }
        }
        Typed { kind, extent, specials, row }
    }

    /// The bits of a value that is used so, at this place among others; none where any value will do.
    pub fn value(&self, usage: &Usage, Place { place, rank }: Place, random: &mut Random) -> Option<u64> {
        let turn = match self.kind {
            Kind::Given | Kind::Zeros => return None,
            Kind::Distinct => 0,
            Kind::Boundary(turn) => turn + 1,
            Kind::Random(_) => random.below(1 << 16),
        };
        let is_special = turn % SPECIAL_EVERY == SPECIAL_EVERY - 1;
        if usage.is(Role::Atomic) && !is_special {
            return Some(0);
        }
        let at = place.wrapping_add(turn);
        let is_other = turn > 1 && (place.wrapping_mul(5) ^ turn.wrapping_mul(11)) % OTHER_EVERY == 0;
        let shifted = |at: u32| {
            let (limit, by) = usage.shifted_index()?;
            Some((i64::from(at % limit.max(1)) - by) as u64)
        };
        if is_other && usage.is(Role::Float) && usage.is(Role::Integer) {
            // Among these places only.
            let at = (place / OTHER_EVERY).wrapping_add(turn);
            return shifted(at).or_else(|| self.integer(usage, (place, turn), random));
        }
        if is_other && !usage.is(Role::Float) && !usage.is(Role::Atomic) {
            let count = usage.constants().len().max(1);
            if let Some(constant) = usage.constants().nth(turn as usize % count) {
                return Some(constant);
            }
        }
        if usage.is_stride() {
            return Some(u64::from(self.stride(rank, at)));
        }
        if usage.is(Role::Index) {
            let limit = usage.limit().unwrap_or(UNKNOWN_LIMIT).max(1);
            return Some(u64::from(at % limit));
        }
        if let Some(index) = shifted(at).filter(|_| !usage.is(Role::Float)) {
            return Some(index);
        }
        if usage.is(Role::Float) {
            let float = self.float(usage, (place, turn), random);
            return float.map(|float| encoded(float, usage.width));
        }
        if usage.is(Role::Halves) {
            let halves = (0..2).map(|half| {
                let float = self.float(usage, (place.wrapping_mul(2).wrapping_add(half), turn), random);
                encoded(float.unwrap_or(0.0), 2)
            });
            return Some(halves.rev().fold(0, |word, half| word << 16 | half));
        }
        // An array of sizes may begin with how many they are.
        let is_size = turn > 0 && (place.wrapping_mul(3) ^ turn.wrapping_mul(7)) % 2 == 0;
        if usage.is(Role::Divisor) && (!usage.is(Role::Turns) || is_size) {
            return Some(u64::from(self.size(rank, at)));
        }
        // What an invocation's number is compared with may bound a loop that begins at it.
        let is_bound = usage.is(Role::Turns) && (!usage.is(Role::Guard) || layout_of(self.kind) % 2 == 1);
        if is_bound {
            return Some(u64::from(turns(usage.unit(), at)));
        }
        if usage.is(Role::Guard) {
            let guard = self.guard(place, turn);
            let by = u64::from(usage.quotient());
            // What invocations' numbers are compared with is a quotient of it: zero stops all, many make loops long. But
            // it may be a quotient of something larger.
            let few = 1 + guard % u64::from(DIMENSION);
            return Some(if guard < by && turn % 6 != 4 { few.saturating_mul(by) } else { guard });
        }
        if usage.is(Role::Shift) && usage.is(Role::Packed) {
            return Some(self.packed_shifts(turn));
        }
        // What is such fields is seldom a number as a whole, too.
        let has_fields = usage.index_fields().next().is_some() || usage.compared_fields().len() > 0;
        if usage.is(Role::Packed) && has_fields && (turn + 1) % OTHER_EVERY != 0 {
            return Some(fields(usage, place, turn));
        }
        if usage.is(Role::PartOfIndex) {
            let part = 1 + at % (PART_LIMIT - 1);
            if usage.quotient() > 1 && turn % 2 == 1 {
                // Of whole ones, mostly.
                return Some(u64::from(part * usage.quotient() + (at / 3) % 3));
            }
            // The other half of the word may be another offset.
            let is_both = usage.is(Role::Packed) && usage.width == 4 && turn % 2 == 1;
            return Some(u64::from(if is_both { part << 16 | part } else { part }));
        }
        if usage.is(Role::Shift) && usage.width == 4 {
            return Some(u64::from(if rank == 0 && layout_of(self.kind) % 3 == 1 { 2_u32 } else { 1 }));
        }
        if usage.is(Role::Reciprocal) && !is_special {
            return Some(0);
        }
        if usage.is(Role::Entry) && (usage.constants().len() == 0 || at % 3 == 0) {
            return Some(entry(place, turn));
        }
        if usage.is(Role::Packed) {
            return Some(fields(usage, place, turn));
        }
        self.integer(usage, (place, turn), random)
    }

    /// Shifts in the bytes of a word: those by which all sizes of the inner dimensions divide, or so many that nothing is
    /// left, or any small ones.
    fn packed_shifts(&self, turn: u32) -> u64 {
        match layout_of(self.kind) % 4 {
            0 => 0x0001_0203,
            1 => 0x0002_0304,
            2 => 0x001f_1f1f,
            _ => (0..3).fold(0, |word, part| word << 8 | u64::from((turn >> part) % 4)),
        }
    }

    /// How many there are in one dimension. Where all invocations are told apart by what remains of a division, there
    /// are many, or so many that it counts whether they are taken for a negative number.
    fn size(&self, rank: u32, at: u32) -> u32 {
        if layout_of(self.kind) % 4 == 3 && at / 5 % 4 == 3 {
            return 1 << 31 | 1;
        }
        if layout_of(self.kind) % 4 == 3 {
            let all = self.extent.into_iter().fold(1, u32::saturating_mul);
            return [all.saturating_add(1), 1, 2, all, DIMENSION][at as usize % 5];
        }
        match layout_of(self.kind) % 3 {
            0 => 2,
            1 if rank == 0 => DIMENSION,
            1 => 2,
            _ => 1 + at % DIMENSION,
        }
    }

    /// How far one is from the next in one dimension. Dimensions lie next to each other, the first innermost, in most
    /// inputs.
    fn stride(&self, rank: u32, at: u32) -> u32 {
        // The first one may go without saying.
        let rank = match layout_of(self.kind) {
            layout if layout % 6 == 5 => return at % DIMENSION,
            layout => rank + (layout / 2) % 2,
        };
        match rank {
            0 => 1,
            rank => self.row.saturating_mul(1 << (rank - 1).min(4)),
        }
    }

    fn integer(&self, usage: &Usage, (place, turn): (u32, u32), random: &mut Random) -> Option<u64> {
        let count = usage.constants().len() as u32;
        let at = place.wrapping_add(turn);
        // Next to a constant is where comparisons flip.
        if count != 0 && at % 3 != 0 {
            let constant = usage.constants().nth((at / 3 % count) as usize).unwrap_or(0);
            return Some(constant.wrapping_add(u64::from(at / (3 * count) % 3)).wrapping_sub(1));
        }
        match self.kind {
            Kind::Distinct => Some(u64::from(place.wrapping_add(1))),
            // What is four bytes long has the usual values already.
            Kind::Boundary(_) | Kind::Random(_) if usage.width == 4 => None,
            Kind::Boundary(turn) => {
                let value = BOUNDARIES[place.wrapping_add(turn) as usize % BOUNDARIES.len()];
                let top = 64 - 8 * u32::from(usage.width).clamp(1, 8);
                Some(match value {
                    0x7fff_ffff => u64::MAX >> 1 >> top,
                    0x8000_0000 => 1 << 63 >> top,
                    _ => i64::from(value as i32) as u64,
                })
            }
            Kind::Random(_) if random.below(2) == 0 => Some(u64::from(random.below(8))),
            Kind::Random(_) => Some(random.next()),
            Kind::Given | Kind::Zeros => None,
        }
    }

    /// Near the number of invocations in some dimension, so that few of them or all but few pass.
    fn guard(&self, place: u32, turn: u32) -> u64 {
        let wide = || self.extent.iter().copied().filter(|extent| *extent > 1);
        let dimension = place.wrapping_add(turn / 6) as usize % wide().count().max(1);
        let extent = wide().nth(dimension).unwrap_or(1);
        let value = match turn % 6 {
            0 => extent.saturating_sub(1).max(1),
            1 => extent.saturating_mul(2).saturating_add(1),
            2 => extent / 2 + 1,
            3 => extent,
            // So few that they hardly meet in memory.
            4 => 2,
            // All pass, unless it is taken for a negative number.
            _ if turn / 6 % 4 == 1 => 1 << 31 | 1,
            _ => 1 + turn / 6 % 4,
        };
        u64::from(value)
    }

    fn float(&self, usage: &Usage, (place, turn): (u32, u32), random: &mut Random) -> Option<f64> {
        let at = place.wrapping_add(turn) as usize;
        let count = usage.constants().len();
        if count != 0 && at % 2 == 1 {
            let constant = decoded(usage.constants().nth(at / 2 % count).unwrap_or(0), usage.width);
            return Some(constant + [0.0, -0.5, 0.5][at / (2 * count) % 3]);
        }
        let sixteenth = place.wrapping_mul(5).wrapping_add(turn).wrapping_add(3) % 16;
        if usage.is(Role::Coordinate) && turn % SPECIAL_EVERY != SPECIAL_EVERY - 1 {
            return Some(f64::from(sixteenth) / 16.0 + 0.031_25);
        }
        // Of the unit of coordinates, of so many texels, or any.
        match turn % 3 {
            0 if usage.is(Role::PartOfCoordinate) => return Some(f64::from(sixteenth) / 16.0 + 0.031_25),
            1 if usage.is(Role::PartOfCoordinate) => return Some(f64::from(sixteenth) / 4.0 + 0.031_25),
            _ => {}
        }
        Some(match self.kind {
            Kind::Given | Kind::Zeros => return None,
            Kind::Distinct => eighth(place),
            Kind::Boundary(_) if self.specials && turn % SPECIAL_EVERY == 0 => {
                SPECIAL_FLOATS[at % SPECIAL_FLOATS.len()]
            }
            Kind::Boundary(_) => FLOATS[at % FLOATS.len()],
            Kind::Random(_) => match random.below(8) {
                0..=3 => eighth(random.below(127)),
                4 => (f64::from(random.below(1 << 14)) - 8192.0) / 1024.0,
                5 => f64::from(random.below(9)) - 4.0,
                6 => (f64::from(random.below(1 << 10)) + 1.0) / 1024.0,
                _ => FLOATS[random.below(FLOATS.len() as u32) as usize],
            },
        })
    }
}

/// A word of small numbers: bytes, but for fields of which more is known.
fn fields(usage: &Usage, place: u32, turn: u32) -> u64 {
    let at = place.wrapping_add(turn);
    let byte =
        |part: u32| place.wrapping_mul(4).wrapping_add(part).wrapping_mul(29).wrapping_add(turn + 7) % 251;
    let bytes = (0..u32::from(usage.width)).rev();
    let word = bytes.fold(0, |word, part| word << 8 | u64::from(byte(part)));
    let number = u64::from(1 + at % PART_LIMIT);
    let word = usage.index_fields().fold(word, |word, field| field.put(word, number));
    // Next to constants is where comparisons flip. The last of several for one field counts.
    let mut compared: Vec<(Field, u64)> = usage.compared_fields().collect();
    let first = at as usize % compared.len().max(1);
    compared.rotate_left(first);
    compared.into_iter().zip(0..).fold(word, |word, ((field, constant), number)| {
        let apart = u64::from(at.wrapping_mul(number + 2) / 2 % 5);
        field.put(word, constant.wrapping_add(apart).wrapping_sub(2))
    })
}

/// Bits of which any are an entry of a table: in time, every entry is met, whichever places are read.
fn entry(place: u32, turn: u32) -> u64 {
    Random::new(u64::from(turn) << 32 | u64::from(place)).next()
}

/// The bound of a loop that takes so much a turn: whole turns in most cases, or a part of one.
fn turns(unit: u32, at: u32) -> u32 {
    let whole = TURNS[at as usize % TURNS.len()].saturating_mul(unit);
    match at / TURNS.len() as u32 % 4 {
        1 if unit > 1 => whole.saturating_add(unit / 2 + 1),
        3 => whole.saturating_sub(1),
        _ => whole,
    }
}

/// What tells the sizes and strides of one input from those of others.
fn layout_of(kind: Kind) -> u32 {
    match kind {
        Kind::Given | Kind::Zeros | Kind::Distinct => 0,
        Kind::Boundary(turn) => turn + 1,
        Kind::Random(number) => number,
    }
}

/// A float in −8…8, in eighths: 127 places in a row have different ones.
fn eighth(place: u32) -> f64 {
    (f64::from(place.wrapping_mul(37).wrapping_add(74) % 127) - 63.0) / 8.0
}

/// The bits of a float of so many bytes.
pub(super) fn encoded(value: f64, width: u8) -> u64 {
    let double = Double::from_bits(u128::from(value.to_bits()));
    let mut loses = false;
    match width {
        2 => {
            let half: Half = double.convert(&mut loses).value;
            half.to_bits() as u64
        }
        4 => {
            let single: Single = double.convert(&mut loses).value;
            single.to_bits() as u64
        }
        _ => value.to_bits(),
    }
}

/// The float that bits of so many bytes are.
fn decoded(bits: u64, width: u8) -> f64 {
    let bits = u128::from(bits);
    let mut loses = false;
    let double: Double = match width {
        2 => Half::from_bits(bits).convert(&mut loses).value,
        4 => Single::from_bits(bits).convert(&mut loses).value,
        _ => Double::from_bits(bits),
    };
    f64::from_bits(double.to_bits() as u64)
}

#[cfg(test)]
mod tests;
