//! The values of automatic inputs.

use std::collections::BTreeMap;

use super::recipe::Recipe;
use super::typed::{Place, Row, Typed};
use super::uses::MemoryUses;
use crate::value::Byte;

/// What an input is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is free.
    Given,
    Zeros,
    Distinct,
    /// The list of boundary values and constants, turned on by this many.
    Boundary(u32),
    Random(u32),
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> String {
        match self {
            Kind::Given => "given".to_owned(),
            Kind::Zeros => "zeros".to_owned(),
            Kind::Distinct => "distinct".to_owned(),
            Kind::Boundary(turn) => format!("boundary {}", turn + 1),
            Kind::Random(number) => format!("random {number}"),
        }
    }
}

/// What memory is for, which says what values are likely to tell something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Buffers: any value.
    Data,
    /// Push constants and uniform blocks: sizes and indices live there, and large ones make most
    /// modules undefined.
    Parameters,
}

/// Values at which integer and float operations change their ways, the most telling first.
pub const BOUNDARIES: [u32; 12] = [
    0x7fff_ffff,
    u32::MAX,
    0x8000_0000,
    // 1.0, -1.0, infinity, a NaN
    0x3f80_0000,
    0xbf80_0000,
    31,
    32,
    0x7f80_0000,
    0x7fc0_0000,
    0x7fff_fffe,
    1,
    0,
];

/// How many of them come before harvested constants and random inputs.
pub const FIRST_BOUNDARIES: u32 = 4;

/// Places from the beginning of one memory with data to that of the next one.
const APART: u32 = 256;

/// Parameters count as small below this.
const SMALL: u32 = 4;

/// What one input has been filled with so far, by the salt of each memory and the number of memories before it: a shorter
/// memory is the beginning of a longer one.
pub type Drawn = BTreeMap<(u64, u32, Use), Vec<Byte>>;

/// The values of one input.
pub struct Words<'a> {
    recipe: Recipe,
    /// What it is made of: the values of its kind, and those of each graft.
    streams: Vec<Stream<'a>>,
    drawn: Drawn,
}

impl<'a> Words<'a> {
    /// `values` are those that [`Kind::Boundary`] takes in turn.
    pub fn new(recipe: &Recipe, seed: u64, values: &'a [u32], extent: [u32; 3], specials: bool) -> Self {
        let kinds = std::iter::once(recipe.kind).chain(recipe.grafts.iter().map(|graft| graft.kind));
        let streams =
            kinds.map(|kind| Stream { kind, seed, values, extent, specials, memories: 0 }).collect();
        Words { recipe: recipe.clone(), streams, drawn: Drawn::new() }
    }

    /// The same values, some of which were drawn before.
    pub fn with_drawn(self, drawn: Drawn) -> Self {
        Words { drawn, ..self }
    }

    /// What was drawn.
    pub fn into_drawn(self) -> Drawn {
        self.drawn
    }

    /// `size` bytes for one memory, with values that suit what they are used as, where that is known.
    pub fn typed(&mut self, salt: u64, size: u32, memory: Use, uses: Option<&MemoryUses>) -> Vec<Byte> {
        let key = (salt, self.streams.first().map_or(0, |stream| stream.memories), memory);
        if let Some(begun) = self.drawn.get(&key).and_then(|drawn| drawn.get(..size as usize)) {
            self.streams.iter_mut().for_each(|stream| stream.count(memory));
            return begun.to_vec();
        }
        let bytes = self.draw(salt, size, memory, uses);
        self.drawn.insert(key, bytes.clone());
        bytes
    }

    fn draw(&mut self, salt: u64, size: u32, memory: Use, uses: Option<&MemoryUses>) -> Vec<Byte> {
        let mut parts = self.streams.iter_mut().map(|stream| stream.typed(salt, size, memory, uses));
        let mut bytes = parts.next().unwrap_or_default();
        for (graft, own) in self.recipe.grafts.iter().zip(parts) {
            graft.put(&mut bytes, &own, salt, uses);
        }
        bytes
    }

    /// As [`Words::typed`], where no use is known.
    pub fn take(&mut self, salt: u64, size: u32, memory: Use) -> Vec<Byte> {
        self.typed(salt, size, memory, None)
    }

    /// What distinguishes this input from others; none where everything is zero.
    pub(super) fn turn(&self) -> Option<u32> {
        self.streams.iter().find_map(Stream::turn)
    }

    /// Whether the input is one of random values.
    pub(super) fn is_random(&self) -> bool {
        matches!(self.recipe.kind, Kind::Random(_))
    }
}

/// A stream of words of one kind.
struct Stream<'a> {
    kind: Kind,
    seed: u64,
    values: &'a [u32],
    /// Invocations of the launch in each dimension.
    extent: [u32; 3],
    /// Infinities and NaNs are tried.
    specials: bool,
    /// Counts memories with data. Places in them lie apart, so that values are distinct, however long the memories are.
    memories: u32,
}

impl Stream<'_> {
    fn typed(&mut self, salt: u64, size: u32, memory: Use, uses: Option<&MemoryUses>) -> Vec<Byte> {
        let first = match memory {
            Use::Data => self.memories.wrapping_mul(APART),
            Use::Parameters => 0,
        };
        let mut bytes = self.take(salt, size, memory);
        let together = uses.into_iter().flat_map(MemoryUses::all);
        let typed = Typed::new(self.kind, self.extent, self.specials, together);
        let mut row = Row::default();
        for (offset, usage) in uses.into_iter().flat_map(|uses| uses.in_first(size)) {
            // A value depends on its place alone: a longer buffer begins as a shorter one.
            let mut random = self.random(salt ^ u64::from(offset).rotate_left(29) ^ 1);
            let place = first.wrapping_add(offset / u32::from(usage.width.max(1)));
            let rank = if memory == Use::Parameters { row.rank(offset, usage) } else { 0 };
            let Some(value) = typed.value(usage, Place { place, rank }, &mut random) else { continue };
            let own = bytes.iter_mut().skip(offset as usize).take(usage.width.into());
            own.zip(value.to_le_bytes()).for_each(|(byte, value)| *byte = Byte::Known(value));
        }
        bytes
    }

    fn turn(&self) -> Option<u32> {
        match self.kind {
            Kind::Given | Kind::Zeros => None,
            Kind::Distinct => Some(0),
            Kind::Boundary(turn) => Some(turn + 1),
            Kind::Random(number) => Some(self.random(u64::from(number)).below(1 << 16)),
        }
    }

    fn random(&self, salt: u64) -> Random {
        let number = match self.kind {
            Kind::Random(number) => u64::from(number),
            Kind::Given | Kind::Zeros | Kind::Distinct | Kind::Boundary(_) => 0,
        };
        Random(self.seed ^ salt.rotate_left(17) ^ number.rotate_left(40))
    }

    /// `size` bytes for one buffer. The random words of a buffer depend on `salt` and their place
    /// alone: a longer buffer begins as a shorter one.
    fn take(&mut self, salt: u64, size: u32, memory: Use) -> Vec<Byte> {
        let mut random = self.random(salt);
        let mut bytes: Vec<Byte> = Vec::with_capacity(size as usize + 3);
        let first = self.memories.wrapping_mul(APART);
        self.count(memory);
        let mut own: u32 = 0;
        while bytes.len() < size as usize {
            let word = match memory {
                Use::Data => self.data(first.wrapping_add(own), &mut random),
                Use::Parameters => self.parameter(own, &mut random),
            };
            own = own.wrapping_add(1);
            bytes.extend(word.to_le_bytes().map(Byte::Known));
        }
        bytes.truncate(size as usize);
        bytes
    }

    fn count(&mut self, memory: Use) {
        self.memories = self.memories.wrapping_add(u32::from(memory == Use::Data));
    }

    fn data(&self, place: u32, random: &mut Random) -> u32 {
        match self.kind {
            Kind::Given | Kind::Zeros => 0,
            Kind::Distinct => place.wrapping_add(1),
            Kind::Boundary(turn) => {
                let index = place.wrapping_add(turn) as usize % self.values.len().max(1);
                self.values.get(index).copied().unwrap_or(0)
            }
            Kind::Random(_) => match random.below(4) {
                0 => random.below(8),
                // Next to a constant is where comparisons flip.
                1 => random.pick(self.values).wrapping_add(random.below(3)).wrapping_sub(1),
                2 => random.pick(self.values),
                _ => random.next() as u32,
            },
        }
    }

    fn parameter(&self, place: u32, random: &mut Random) -> u32 {
        match self.kind {
            Kind::Boundary(turn) if turn % 2 == 1 => place.wrapping_add(turn) % SMALL,
            Kind::Random(_) if random.below(4) > 0 => random.below(SMALL),
            Kind::Given | Kind::Zeros | Kind::Distinct | Kind::Boundary(_) | Kind::Random(_) => {
                self.data(place, random)
            }
        }
    }
}

/// The splitmix64 generator: the same everywhere and for ever, which `--seed` promises.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    fn pick(&mut self, values: &[u32]) -> u32 {
        let index = self.below(u32::try_from(values.len()).unwrap_or(u32::MAX));
        values.get(index as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_for_some_sizes_serves_for_others() {
        for kind in [Kind::Distinct, Kind::Boundary(3), Kind::Random(5)] {
            let recipe = Recipe::of(kind, 7);
            let words = || Words::new(&recipe, 1, &[5, 6, 7], [4, 1, 1], false);
            let take = |words: &mut Words<'_>, sizes: [u32; 3]| {
                let [first, second, third] = sizes;
                [
                    words.take(1, first, Use::Data),
                    words.take(2, second, Use::Parameters),
                    words.take(3, third, Use::Data),
                ]
            };
            let mut begun = words();
            take(&mut begun, [8, 40, 60]);
            let mut further = words().with_drawn(begun.into_drawn());
            let sizes = [40, 24, 72];
            assert_eq!(take(&mut further, sizes), take(&mut words(), sizes), "{kind:?}");
        }
    }
}
