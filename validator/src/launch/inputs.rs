//! Automatic inputs: initial contents for everything that the user did not give. Their values suit what they are used
//! as (`typed.rs`, `uses/`).
//!
//! The inputs come in this order: zeros; small distinct values; boundary values and constants harvested from both
//! modules; seeded random values. Each input of the third kind rotates the list by one, so that in time every
//! word takes every value. Everything is a function of the modules, the launch and the seed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::acceleration::AccelerationPlace;
use super::generator::{Generator, Layout, Sizes, Sizing};
use super::kept::{Kept, LeftOut, Made, Needs, Was};
use super::patch::Patch;
use super::physical::{PhysicalBuffer, PhysicalSource};
use super::recipe::Recipe;
use super::values::{Kind, Random, FIRST_BOUNDARIES};
use super::{ImageContents, Launch, LaunchError, Slot};
use crate::acceleration::AccelerationStructure;
use crate::dispatch::Dispatch;
use crate::ir::Program;
use crate::lower::Specialisation;
use crate::value::Byte;

/// Largest number of automatic inputs where the user says none: a check makes fewer where they cost much.
pub const DEFAULT_INPUTS: u32 = 16;

/// Inputs that reach nothing new are varied, too, if they are among the first so many on which before is defined.
const SERVED: usize = 6;

/// One of so many grafts is of any input that served, the others of one that is favoured, if there is one.
const OTHERS: u32 = 4;

/// Other inputs of each kind of which values are taken in a repair.
const OTHER_KINDS: u32 = 8;

/// Initial contents of everything that the host provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// `given`, `zeros`, `distinct`, `boundary 1`, …, `random 1`, ….
    pub name: String,
    /// Contents of every slot of either module; aliased slots hold the same. Those of slots that
    /// only the module after has are undefined.
    pub buffers: BTreeMap<Slot, Vec<Byte>>,
    /// Every image of either module, likewise.
    pub images: BTreeMap<Slot, ImageContents>,
    /// What rays are traced through, of either module.
    pub acceleration_structures: BTreeMap<AccelerationPlace, AccelerationStructure>,
    /// Push constants.
    pub push: Vec<Byte>,
    /// Where physical pointers lead, by address.
    pub physical: Vec<PhysicalBuffer>,
    /// Inputs of a vertex or fragment entry point, by key: `in:LOCATION`, `in:NAME`.
    pub interface: BTreeMap<String, Vec<Byte>>,
}

impl Input {
    /// Whether both hold the same.
    fn same_contents(&self, other: &Input) -> bool {
        self.buffers == other.buffers
            && self.images == other.images
            && self.push == other.push
            && self.physical == other.physical
            && self.interface == other.interface
            && self.acceleration_structures == other.acceleration_structures
    }

    /// The contents of memory without a binding, by key: `ptr:NAME`, `in:NAME`.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Vec<Byte>)> {
        let own = self.physical.iter().filter_map(|buffer| match &buffer.source {
            PhysicalSource::Own { key, bytes } => Some((key.as_str(), bytes)),
            PhysicalSource::Slot(_) => None,
        });
        own.chain(self.interface.iter().map(|(key, bytes)| (key.as_str(), bytes)))
    }
}

/// What a trial run touched.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// For each object of the dispatch, one past the highest byte that an access touched.
    pub ends: Vec<u32>,
    /// Whether an access was out of bounds.
    pub out_of_bounds: bool,
    /// For each object, one past the greatest x, y, z and layer of a texel that integer coordinates named,
    /// in the image or not.
    pub texels: Vec<[u32; 4]>,
    /// Instructions that it took to find out.
    pub executed: u64,
}

impl Touched {
    /// Adds what others touched of the same dispatch.
    pub fn merge(&mut self, other: &Touched) {
        self.ends.iter_mut().zip(&other.ends).for_each(|(end, other)| *end = (*end).max(*other));
        let texels = self.texels.iter_mut().flatten().zip(other.texels.iter().flatten());
        texels.for_each(|(end, other)| *end = (*end).max(*other));
        self.out_of_bounds |= other.out_of_bounds;
        self.executed = self.executed.saturating_add(other.executed);
    }

    /// One past the highest byte that was touched of a memory, under whichever of its names.
    pub(super) fn end_of(&self, dispatch: &Dispatch, key: &str) -> u32 {
        let objects = || dispatch.objects.iter().zip(&self.ends);
        let memory = objects().find(|(object, _)| object.key == key).map(|(object, _)| object.memory);
        let same = objects().filter(|(object, _)| Some(object.memory) == memory);
        same.map(|(_, end)| *end).max().unwrap_or(0)
    }
}

/// Runs the module before once, in some order, to see how much of its runtime arrays it touches, where each object may be
/// as large as its limit says. `None` where there is no time left for that.
pub type Trial<'t> = dyn FnMut(&Dispatch, &[u32]) -> Option<Touched> + 't;

/// Makes the inputs: at most `count`, one where nothing is left free; distinct. Fewer where a trial had no time.
pub fn inputs(
    before: &Program,
    after: Option<&Program>,
    launch: &Launch,
    count: u32,
    seed: u64,
    trial: &mut Trial<'_>,
) -> Result<Vec<Input>, LaunchError> {
    let mut inputs = Inputs::new(before, after, launch, count, seed, Chosen::default());
    let mut made = Vec::new();
    while let Next::Input(input) = inputs.next(trial)? {
        made.push(input);
    }
    Ok(made)
}

/// What was chosen for modules before that are likely to be alike.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Constants that were harvested.
    harvested: BTreeSet<u32>,
    /// How large what the user did not size is, where everything else is alike.
    sizes: Option<(Layout, Sizes)>,
}

/// The next one of the inputs.
#[derive(Debug)]
pub enum Next {
    /// The input.
    Input(Input),
    /// All are made.
    Over,
    /// There was no time for a trial.
    OutOfTime,
}

/// Makes inputs, one after the other.
pub struct Inputs<'a> {
    generator: Generator<'a>,
    count: u32,
    seed: u64,
    /// How many were tried, and the last of them.
    number: u32,
    boundaries: u32,
    /// How many were no grafts, beyond the first two.
    plain: u32,
    recipe: Recipe,
    /// Those on which before is defined, as far as they are to be varied, and what they make.
    served: Vec<(Recipe, Input)>,
    /// Those of them that are varied most.
    favoured: Vec<usize>,
    /// Those of them that reached what no other one did, by their numbers.
    telling: BTreeSet<u32>,
    made: Vec<Input>,
    chosen: Chosen,
    /// The last one has sizes that were chosen for others.
    is_guessed: bool,
    /// Images have sizes that were chosen for others, too.
    guesses_images: bool,
    /// What the checks of a series keep, and for what.
    kept: Option<(Needs, Made)>,
    /// The numbers of those that are tried again, and whether new ones are made after them.
    again: VecDeque<u32>,
    makes_new: bool,
    /// So many numbers were passed over for these.
    passed: u32,
    /// The number of the first one that is no more than looked at.
    first_look: Option<u32>,
    /// Under this number the last one is kept.
    kept_as: Option<u32>,
}

impl<'a> Inputs<'a> {
    /// At most `count` distinct ones. What was chosen for another module spares trials.
    pub fn new(
        before: &'a Program,
        after: Option<&'a Program>,
        launch: &'a Launch,
        count: u32,
        seed: u64,
        mut chosen: Chosen,
    ) -> Self {
        let programs = std::iter::once(before).chain(after);
        chosen.harvested.extend(programs.flat_map(|program| program.harvested.iter().copied()));
        let generator = Generator::new(before, after, launch, &chosen.harvested);
        let layout = generator.layout();
        chosen.sizes = chosen.sizes.filter(|(known, _)| *known == layout);
        let (made, is_guessed) = (Vec::new(), false);
        Inputs {
            generator,
            count,
            seed,
            number: 0,
            boundaries: 0,
            plain: 0,
            recipe: Recipe::of(Kind::Given, 0),
            served: Vec::new(),
            favoured: Vec::new(),
            telling: BTreeSet::new(),
            made,
            chosen,
            is_guessed,
            guesses_images: false,
            kept: None,
            again: VecDeque::new(),
            makes_new: true,
            passed: 0,
            first_look: None,
            kept_as: None,
        }
    }

    /// In a series of checks: the first ones are those of the checks before, where nothing that they are made for has
    /// changed. At least so many are to be tried. Returns what is not tried again since it was not finished.
    pub fn keep(
        &mut self,
        kept: &mut Kept,
        (before, after): (&Program, &Program),
        launch: (&Launch, &[Specialisation]),
        least: u32,
    ) -> LeftOut {
        let none = LeftOut::default();
        let Some(needs) = Needs::of(before, Some(after), launch, self.seed) else { return none };
        let made = kept.take(&needs);
        let mut left_out = none;
        if made.end() > 0 {
            let again = made.again(least);
            (self.again, self.makes_new, left_out) = (again.numbers.into(), again.makes_new, again.left_out);
            self.passed = made.end().saturating_sub(self.number);
            (2..made.end()).for_each(|number| _ = self.kind_of(number));
            self.number = made.end();
        }
        self.kept = Some((needs, made));
        left_out
    }

    /// How many it makes at most, those that are made included.
    pub fn count(&self) -> u32 {
        if self.generator.nothing_free() {
            1
        } else {
            self.count.max(1)
        }
    }

    /// How many it has begun to make, those included that are like others.
    pub fn begun(&self) -> u32 {
        self.number.saturating_sub(self.passed)
    }

    /// How many are left to make, at most.
    pub fn left(&self) -> u32 {
        let new = if self.makes_new { self.count().saturating_sub(self.begun()) } else { 0 };
        new.max(self.again.len() as u32)
    }

    /// Leaves out the zeros, which show least, unless there is one input only.
    pub fn without_zeros(&mut self) {
        if !self.generator.nothing_free() {
            self.number = self.number.max(1);
        }
    }

    /// The last one may be too small, though a trial on it was run.
    pub fn distrust(&mut self) {
        self.is_guessed = true;
    }

    /// From now on images have the sizes of earlier ones, too, until that turns out to be too small.
    pub fn guess_images(&mut self) {
        self.guesses_images = true;
    }

    /// Makes so many more.
    pub fn extend(&mut self, more: u32) {
        self.count = self.count.saturating_add(more);
        self.makes_new = true;
        self.again.clear();
        self.first_look = Some(self.number);
    }

    /// What was chosen, for modules that come later; and what is kept for them.
    pub fn into_chosen(mut self, kept: &mut Kept) -> Chosen {
        if let Some((needs, mut made)) = self.kept {
            let first = self.first_look.unwrap_or(u32::MAX);
            let telling = self.telling.split_off(&first);
            let is_telling = |(recipe, _): &(Recipe, Input)| telling.contains(&recipe.number());
            for (recipe, input) in self.served.into_iter().filter(is_telling) {
                made.put(recipe.number(), (recipe, input), Was::Telling);
            }
            kept.keep(needs, made);
        }
        self.chosen
    }

    /// Keeps the last one for the checks that come later.
    fn keep_last(&mut self) {
        let (Some((_, made)), Some(number)) = (&mut self.kept, self.kept_as) else { return };
        if let Some(input) = self.made.last() {
            made.put(number, (self.recipe.clone(), input.clone()), Was::Undefined);
        }
    }

    /// Notes what became of the last one.
    pub fn came(&mut self, was: Was) {
        if let (Some((_, made)), Some(number)) = (&mut self.kept, self.kept_as) {
            made.note(number, was);
        }
    }

    /// The next one that is tried again.
    fn known(&mut self) -> Option<Input> {
        let (_, made) = self.kept.as_ref()?;
        let number = self.again.pop_front()?;
        let (recipe, input) = made.get(number)?;
        self.passed = self.passed.saturating_sub(1);
        self.kept_as = Some(number);
        self.is_guessed = false;
        self.recipe = recipe;
        self.made.push(input.clone());
        Some(input)
    }

    /// The next input that differs from those before.
    pub fn next(&mut self, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        while self.left() > 0 {
            if let Some(input) = self.known() {
                return Ok(Next::Input(input));
            }
            let kind = self.kind_of(self.number);
            self.kept_as = Some(self.number).filter(|_| self.first_look.is_none());
            match self.made_of(Recipe::of(kind, self.number), trial)? {
                Next::Over => {}
                Next::Input(input) => {
                    self.keep_last();
                    return Ok(Next::Input(input));
                }
                Next::OutOfTime => return Ok(Next::OutOfTime),
            }
        }
        Ok(Next::Over)
    }

    /// What the next one is filled with, which has this number.
    fn kind_of(&mut self, number: u32) -> Kind {
        match number {
            _ if self.generator.nothing_free() => Kind::Given,
            0 => Kind::Zeros,
            1 => Kind::Distinct,
            // Half of what is left turns the list of values, the other half is random.
            _ if self.plain.is_multiple_of(2) || self.plain < FIRST_BOUNDARIES => {
                self.boundaries += 1;
                self.plain += 1;
                Kind::Boundary(self.boundaries - 1)
            }
            number => {
                self.plain += 1;
                Kind::Random(number)
            }
        }
    }

    /// An input that has values of another kind in some places of one that served; none where none did, or where it is
    /// like one before.
    pub fn grafted(&mut self, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        if self.left() == 0 || self.generator.nothing_free() {
            return Ok(Next::Over);
        }
        let mut random = Random::new(self.seed ^ u64::from(self.number));
        // Those that served last have more of what is rare.
        let is_other = self.favoured.is_empty() || random.below(OTHERS) == 0;
        let mut late = |count: usize| random.below(count as u32).max(random.below(count as u32)) as usize;
        let at = match is_other {
            true => late(self.served.len()),
            false => self.favoured[late(self.favoured.len())],
        };
        let Some((recipe, _)) = self.served.get(at) else { return Ok(Next::Over) };
        self.kept_as = None;
        self.made_of(recipe.grafted(self.number, self.seed), trial)
    }

    /// Before is defined on the last input. `is_new`: it reached what no other one did; `is_favoured`: it reached what is to
    /// be seen.
    pub fn serve(&mut self, is_new: bool, is_favoured: bool) {
        if is_new || self.served.len() < SERVED || is_favoured && self.favoured.len() < SERVED {
            let Some(input) = self.made.last() else { return };
            if is_favoured {
                self.favoured.push(self.served.len());
            }
            if is_new {
                self.telling.insert(self.recipe.number());
            }
            self.served.push((self.recipe.clone(), input.clone()));
        }
    }

    /// The inputs that served, as far as they are to be varied, the latest last.
    pub fn serving(&self) -> &[(Recipe, Input)] {
        &self.served
    }

    /// Of these, the first and the last of those that are varied most; the last one, where there are none.
    pub fn telling(&self) -> impl Iterator<Item = &(Recipe, Input)> {
        let last = self.favoured.last().copied().or_else(|| self.served.len().checked_sub(1));
        let first = self.favoured.first().copied().filter(|first| Some(*first) != last);
        last.into_iter().chain(first).filter_map(|at| self.served.get(at))
    }

    /// Whether any is to be varied most.
    pub fn has_telling(&self) -> bool {
        !self.favoured.is_empty()
    }

    /// Whether the contents of an object are made here, by its key.
    pub fn makes(&self, key: &str) -> bool {
        self.generator.makes(key)
    }

    /// How the last one was made.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// How large each object of a dispatch may be.
    pub fn limits(&self, dispatch: &Dispatch) -> Vec<u32> {
        self.generator.limits(dispatch)
    }

    /// An input that is like another one but for some values; none where it is like another one before.
    pub fn patched(
        &mut self,
        served: &Recipe,
        patches: Vec<Patch>,
        trial: &mut Trial<'_>,
    ) -> Result<Next, LaunchError> {
        self.kept_as = None;
        self.made_of(served.patched(self.number, patches), trial)
    }

    /// The last one with other values in some places, in its stead; none where it is like one before.
    pub fn calmed(&mut self, patches: Vec<Patch>, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        let kept_as = self.kept_as;
        let next = self.patched(&self.recipe.clone(), patches, trial)?;
        if matches!(next, Next::Input(_)) {
            self.kept_as = kept_as;
            self.keep_last();
        }
        Ok(next)
    }

    /// This input with room in its runtime arrays, and then so many of other kinds as large, if there are so many.
    pub fn with_room(
        &self,
        recipe: &Recipe,
        input: &Input,
        others: usize,
    ) -> Result<Vec<Input>, LaunchError> {
        let sizes = self.generator.sizes_of(input);
        let kinds = [Kind::Distinct].into_iter().chain(
            (0..OTHER_KINDS)
                .flat_map(|turn| [Kind::Boundary(turn), Kind::Random(self.number.wrapping_add(turn))]),
        );
        let kinds = kinds.filter(|kind| *kind != recipe.kind).map(|kind| Recipe::of(kind, self.number));
        let all = std::iter::once(recipe.clone()).chain(kinds.take(others));
        all.map(|recipe| self.generator.fill(&recipe, self.seed, &sizes)).collect()
    }

    /// Whether some input served.
    pub fn has_served(&self) -> bool {
        !self.served.is_empty()
    }

    /// The input that is made so; none where it is like one before.
    fn made_of(&mut self, recipe: Recipe, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        self.recipe = recipe;
        let chosen = self.chosen.sizes.as_ref().map(|(_, sizes)| sizes);
        let known = self.recipe.sizes.as_deref().or(chosen);
        let known = known.filter(|_| self.guesses_images || self.generator.free_images().next().is_none());
        self.is_guessed = known.is_some();
        let input = match known {
            Some(sizes) => self.of_sizes(sizes)?,
            None => match self.with_trial(trial)? {
                Some(sized) => sized.input(),
                None => return Ok(Next::OutOfTime),
            },
        };
        self.number += 1;
        if self.made.iter().any(|other| other.same_contents(&input)) {
            return Ok(Next::Over);
        }
        self.made.push(input.clone());
        Ok(Next::Input(input))
    }

    /// The last input as a trial on it sizes it, if its sizes were chosen for others and that makes a difference; none
    /// where it does not.
    pub fn resized(&mut self, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        if !std::mem::take(&mut self.is_guessed) {
            return Ok(Next::Over);
        }
        let Some(sized) = self.with_trial(trial)? else { return Ok(Next::OutOfTime) };
        let Some(input) = sized.fitting() else { return Ok(Next::Over) };
        if self.made.last().is_some_and(|last| last.same_contents(&input)) {
            return Ok(Next::Over);
        }
        self.made.pop();
        self.made.push(input.clone());
        self.keep_last();
        Ok(Next::Input(input))
    }

    fn with_trial(&mut self, trial: &mut Trial<'_>) -> Result<Option<Sizing>, LaunchError> {
        let Some(sized) = self.generator.sized(&self.recipe, self.seed, trial)? else {
            return Ok(None);
        };
        let Sizing::To(input, sizes) = sized else { return Ok(Some(sized)) };
        let input = match self.generator.shortened(&self.recipe, &sizes) {
            Some(shortened) => self.generator.fill(&self.recipe, self.seed, &shortened)?,
            None => input,
        };
        let layout = || self.generator.layout();
        self.recipe.sizes = Some(Rc::new(sizes.clone()));
        self.chosen.sizes.get_or_insert_with(|| (layout(), sizes));
        Ok(Some(Sizing::Fixed(input)))
    }

    /// The input of these sizes, unless a runtime array of it is shortened.
    fn of_sizes(&self, sizes: &Sizes) -> Result<Input, LaunchError> {
        match self.generator.shortened(&self.recipe, sizes) {
            Some(shortened) => self.generator.fill(&self.recipe, self.seed, &shortened),
            None => self.generator.fill(&self.recipe, self.seed, sizes),
        }
    }
}

#[cfg(test)]
mod tests;
