//! How an automatic input is made: from values of one kind, or from several that are grafted together.
//!
//! Where before is undefined on most inputs, or a change shows only where several values meet, an input that served is
//! taken on: some of its values are replaced by those of another kind.

use std::rc::Rc;

use super::generator::Sizes;
use super::patch::Patch;
use super::repair::is_integer;
use super::uses::MemoryUses;
use super::values::{Kind, Random};

/// Grafts of one input, at most.
const MAX_GRAFTS: usize = 4;

/// Solved values of one input, at most.
const MAX_PATCHES: usize = 64;

/// Shares are parts of this.
const WHOLE: u32 = 16;

/// Shares of values that a graft replaces: few, or many.
const SHARES: [u32; 5] = [1, 2, 4, 8, 12];

/// See [`Recipe::shape`]: these are not told apart.
const USUAL_SHAPES: u32 = 3;

/// Kinds of boundary values that are grafted.
const BOUNDARY_KINDS: u32 = 24;

/// Of so many patches, most graftings change some rather than what they leave.
const FEW_PATCHES: u32 = 2;

/// Patches that are changed together, at most.
const MOST_CHANGED: u32 = 3;

/// What a patched word becomes, beside what lies around it and what others are.
const PATCHED: [u32; 10] = [0, 1, 2, 3, 4, 5, 8, 16, 32, 64];

/// How an input is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// What it is filled with.
    pub kind: Kind,
    /// What replaces that, one after the other.
    pub grafts: Vec<Graft>,
    /// Values that were solved for, put in last.
    pub patches: Vec<Patch>,
    /// Its number among the inputs.
    number: u32,
    /// What tells the shapes of its images from those of others; the first few have the usual ones.
    pub shape: u32,
    /// How large the input is that it takes on, if that was found out for it.
    pub(super) sizes: Option<Rc<Sizes>>,
}

/// Values of another kind in some places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Graft {
    /// What the places are filled with.
    pub kind: Kind,
    seed: u64,
    share: u32,
    grain: Grain,
}

/// What is replaced as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grain {
    /// A buffer, the push constants, an image.
    Memory,
    /// A member, in all elements of a runtime array.
    Member,
    /// One value.
    Value,
}

impl Recipe {
    /// Its number among the inputs.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Of one kind.
    pub fn of(kind: Kind, number: u32) -> Self {
        let shape = match kind {
            Kind::Given | Kind::Zeros | Kind::Distinct => USUAL_SHAPES,
            Kind::Boundary(_) | Kind::Random(_) => number,
        };
        Recipe { kind, grafts: Vec::new(), patches: Vec::new(), number, shape, sizes: None }
    }

    /// This one with other values in some places, chosen by the seed.
    pub fn grafted(&self, number: u32, seed: u64) -> Self {
        let mut random = Random::new(seed ^ u64::from(number).rotate_left(33));
        // No graft reaches what is patched.
        let count = self.patches.len() as u32;
        let is_changed = count > 0 && random.below(count + FEW_PATCHES) >= FEW_PATCHES;
        if is_changed && random.below(4) > 0 {
            return self.changed(number, &mut random);
        }
        let kind = match random.below(8) {
            0 => Kind::Distinct,
            1..=4 => Kind::Boundary(random.below(BOUNDARY_KINDS)),
            _ => Kind::Random(number),
        };
        let grain = match random.below(4) {
            0 => Grain::Memory,
            1 => Grain::Member,
            _ => Grain::Value,
        };
        let share = match grain {
            Grain::Memory => WHOLE / 2,
            Grain::Member | Grain::Value => SHARES[random.below(SHARES.len() as u32) as usize],
        };
        let mut grafts = self.grafts.clone();
        grafts.push(Graft { kind, seed: random.next(), share, grain });
        // The oldest graft has the least left of it.
        if grafts.len() > MAX_GRAFTS {
            grafts.remove(0);
        }
        Recipe { grafts, number, shape: number, ..self.clone() }
    }

    /// This one with some of what is patched changed.
    fn changed(&self, number: u32, random: &mut Random) -> Self {
        let mut patches = self.patches.clone();
        let count = patches.len() as u32;
        for _ in 0..=random.below(MOST_CHANGED) {
            let other = self.patches[random.below(count) as usize].word();
            let patch = &mut patches[random.below(count) as usize];
            let Some(word) = patch.word().filter(|word| is_integer(*word)) else { continue };
            let word = match random.below(8) {
                0..=3 => PATCHED[random.below(PATCHED.len() as u32) as usize],
                4 => other.unwrap_or(word),
                5 => word.wrapping_add(1),
                6 => word.wrapping_mul(2),
                _ => word.wrapping_sub(1),
            };
            patch.bytes = word.to_le_bytes().to_vec();
        }
        Recipe { patches, number, ..self.clone() }
    }

    /// This one with other values in some places.
    pub fn patched(&self, number: u32, new: Vec<Patch>) -> Self {
        let mut patches = self.patches.clone();
        patches.retain(|old| new.iter().all(|patch| patch.place != old.place));
        patches.extend(new);
        patches.drain(..patches.len().saturating_sub(MAX_PATCHES));
        Recipe { patches, number, ..self.clone() }
    }

    /// The kind of what is filled as a whole.
    pub fn kind_of(&self, salt: u64) -> Kind {
        self.grafts.iter().rev().find(|graft| graft.takes(salt, 0)).map_or(self.kind, |graft| graft.kind)
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        match (&self.grafts[..], &self.patches[..]) {
            ([], []) => self.kind.name(),
            (_, []) => format!("mixed {}", self.number),
            _ => format!("solved {}", self.number),
        }
    }
}

impl Graft {
    /// Replaces what it takes of one memory. Both are as long.
    pub fn put<T: Copy>(&self, bytes: &mut [T], own: &[T], salt: u64, uses: Option<&MemoryUses>) {
        let size = bytes.len() as u32;
        let mut places = uses.into_iter().flat_map(|uses| uses.in_first(size)).peekable();
        let mut offset = 0;
        while offset < size {
            while places.next_if(|(start, _)| *start < offset).is_some() {}
            // What has no known use is replaced by the word.
            let word = (offset / 4 + 1) * 4;
            let end = match places.peek() {
                Some((start, usage)) if *start == offset => offset + u32::from(usage.width.max(1)),
                Some((start, _)) => word.min(*start),
                None => word,
            };
            let end = end.min(size);
            let place = match (self.grain, uses) {
                (Grain::Memory, _) => 0,
                (Grain::Member, Some(uses)) => uses.in_first_element(offset),
                (Grain::Member, None) | (Grain::Value, _) => offset,
            };
            if self.takes(salt, place) {
                let range = offset as usize..end as usize;
                if let (Some(bytes), Some(own)) = (bytes.get_mut(range.clone()), own.get(range)) {
                    bytes.copy_from_slice(own);
                }
            }
            offset = end;
        }
    }

    fn takes(&self, salt: u64, place: u32) -> bool {
        let mut random = Random::new(self.seed ^ salt.rotate_left(17) ^ u64::from(place).rotate_left(40));
        random.next();
        random.below(WHOLE) < self.share
    }
}

#[cfg(test)]
mod tests {
    use super::super::patch::Place;
    use super::*;

    #[test]
    fn a_graft_replaces_some_values_and_always_the_same() {
        let recipe = Recipe::of(Kind::Zeros, 0);
        let (mut some, mut all_of_one) = (0, 0);
        for number in 1..64 {
            let graft = recipe.grafted(number, 5).grafts[0];
            let made = || {
                let mut bytes = [0_u8; 64];
                graft.put(&mut bytes, &[1; 64], 7, None);
                bytes
            };
            assert_eq!(made(), made());
            let bytes = made();
            let words: Vec<&[u8]> = bytes.chunks(4).collect();
            assert!(words.iter().all(|word| word.iter().all(|byte| *byte == word[0])));
            match words.iter().filter(|word| word[0] == 1).count() {
                0 => {}
                16 => all_of_one += 1,
                _ => some += 1,
            }
        }
        assert!(some > 20 && all_of_one > 2, "{some} {all_of_one}");
    }

    #[test]
    fn what_is_patched_is_changed_in_most_graftings() {
        let place = |offset| Place::Object { key: "push".to_owned(), offset };
        let patch = |offset| Patch { place: place(offset), bytes: vec![offset as u8; 4] };
        let recipe = Recipe::of(Kind::Distinct, 1).patched(2, (0..24).map(|word| patch(4 * word)).collect());
        let (mut changed, mut grafted) = (0, 0);
        for number in 3..103 {
            let next = recipe.grafted(number, 5);
            assert_eq!(next, recipe.grafted(number, 5));
            let pairs = || recipe.patches.iter().zip(&next.patches);
            assert!(pairs().all(|(old, new)| old.place == new.place && new.bytes.len() == 4));
            let differing = pairs().filter(|(old, new)| old != new).count();
            assert!(differing <= MOST_CHANGED as usize && (differing == 0 || next.grafts.is_empty()));
            changed += u32::from(differing > 0);
            grafted += next.grafts.len();
        }
        assert!(changed > 50 && grafted > 10, "{changed} {grafted}");
        // A single value that was solved for stays, mostly.
        let solved = Recipe::of(Kind::Distinct, 1).patched(2, vec![patch(0)]);
        let stays = (3..103).filter(|number| solved.grafted(*number, 5).patches == solved.patches).count();
        assert!((60..100).contains(&stays), "{stays}");
    }

    #[test]
    fn only_the_latest_grafts_stay() {
        let mut recipe = Recipe::of(Kind::Distinct, 1);
        assert_eq!(recipe.name(), "distinct");
        for number in 2..20 {
            recipe = recipe.grafted(number, 0);
        }
        assert_eq!((recipe.grafts.len(), recipe.name().as_str()), (MAX_GRAFTS, "mixed 19"));
    }
}
