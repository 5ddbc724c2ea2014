//! Automatic inputs: initial contents for everything that the user did not give. Their values suit what they are used
//! as (`typed.rs`, `uses/`).
//!
//! The inputs come in this order: zeros; small distinct values; boundary values and constants harvested from both
//! modules; seeded random values. Each input of the third kind rotates the list by one, so that in time every
//! word takes every value. Everything is a function of the modules, the launch and the seed.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::acceleration::AccelerationPlace;
use super::build::{bounds, build_dispatch, Bound};
use super::images::ImageBound;
use super::physical::{self, Memories, PhysicalBuffer, PhysicalSource};
use super::uses::Uses;
use super::values::{Kind, Use, Words, BOUNDARIES, FIRST_BOUNDARIES};
use super::{acceleration, images, interface, scopes, slot, ImageContents, Launch, LaunchError, Slot};
use crate::acceleration::AccelerationStructure;
use crate::dispatch::Dispatch;
use crate::event::StorageClass;
use crate::ir::image::ImageLayout;
use crate::ir::Program;
use crate::value::Byte;

/// Largest number of automatic inputs where the user says none: a check makes fewer where they cost much.
pub const DEFAULT_INPUTS: u32 = 16;

/// Constants that are harvested, at most: the list has to come round within a few inputs.
const MAX_HARVESTED: usize = 8;

/// Largest size in bytes up to which a runtime array is grown to see what the module touches.
const MAX_TRIAL_BYTES: u32 = 1 << 18;

/// Elements of a runtime array that only the module after has: nothing says how many there are.
const AFTER_ONLY_ELEMENTS: u32 = 64;

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
}

/// How often images grow to what a trial run touches: what they hold may change where it goes.
const MAX_GROWTHS: u32 = 4;

/// Runs the module before once, in some order, to see how much of its runtime arrays it touches. `None` where there
/// is no time left for that.
pub type Trial<'t> = dyn FnMut(&Dispatch) -> Option<Touched> + 't;

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

/// What sizes depend on, beside what the module does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    bounds: BTreeMap<Slot, Bound>,
    invocations: ([u32; 3], [u32; 3], u32),
    strides: Vec<Option<u32>>,
    array_length: bool,
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
    kind: Kind,
    made: Vec<Input>,
    chosen: Chosen,
    /// The last one has sizes that were chosen for others.
    is_guessed: bool,
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
            kind: Kind::Given,
            made,
            chosen,
            is_guessed,
        }
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
        self.number
    }

    /// How many are left to make, at most.
    pub fn left(&self) -> u32 {
        self.count().saturating_sub(self.number)
    }

    /// Leaves out the zeros, which show least, unless there is one input only.
    pub fn without_zeros(&mut self) {
        if !self.generator.nothing_free() {
            self.number = self.number.max(1);
        }
    }

    /// Makes so many more.
    pub fn extend(&mut self, more: u32) {
        self.count = self.count.saturating_add(more);
    }

    /// What was chosen, for modules that come later.
    pub fn into_chosen(self) -> Chosen {
        self.chosen
    }

    /// The next input that differs from those before.
    pub fn next(&mut self, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        while self.left() > 0 {
            self.kind = match self.number {
                _ if self.generator.nothing_free() => Kind::Given,
                0 => Kind::Zeros,
                1 => Kind::Distinct,
                // Half of what is left turns the list of values, the other half is random.
                number if number % 2 == 0 || number < 2 + FIRST_BOUNDARIES => {
                    self.boundaries += 1;
                    Kind::Boundary(self.boundaries - 1)
                }
                number => Kind::Random(number),
            };
            let known = self.chosen.sizes.as_ref().map(|(_, sizes)| sizes);
            let known = known.filter(|_| self.generator.free_images().next().is_none());
            self.is_guessed = known.is_some();
            let input = match known {
                Some(sizes) => self.generator.fill(self.kind, self.seed, sizes)?,
                None => match self.with_trial(trial)? {
                    Some(input) => input,
                    None => return Ok(Next::OutOfTime),
                },
            };
            self.number += 1;
            if !self.made.iter().any(|other| other.same_contents(&input)) {
                self.made.push(input.clone());
                return Ok(Next::Input(input));
            }
        }
        Ok(Next::Over)
    }

    /// The last input as a trial on it sizes it, if its sizes were chosen for others and that makes a difference; none
    /// where it does not.
    pub fn resized(&mut self, trial: &mut Trial<'_>) -> Result<Next, LaunchError> {
        if !std::mem::take(&mut self.is_guessed) {
            return Ok(Next::Over);
        }
        let Some(input) = self.with_trial(trial)? else { return Ok(Next::OutOfTime) };
        if self.made.last().is_some_and(|last| last.same_contents(&input)) {
            return Ok(Next::Over);
        }
        self.made.pop();
        self.made.push(input.clone());
        Ok(Next::Input(input))
    }

    fn with_trial(&mut self, trial: &mut Trial<'_>) -> Result<Option<Input>, LaunchError> {
        let Some((input, sizes)) = self.generator.sized(self.kind, self.seed, trial)? else {
            return Ok(None);
        };
        if let Some(sizes) = sizes {
            let layout = || self.generator.layout();
            self.chosen.sizes.get_or_insert_with(|| (layout(), sizes));
        }
        Ok(Some(input))
    }
}

/// How large what the user did not size is.
#[derive(Clone, Debug)]
struct Sizes {
    /// Elements of runtime arrays, by the slot that stands for their memory.
    elements: BTreeMap<Slot, u32>,
    images: BTreeMap<Slot, ImageLayout>,
    physical: physical::Sizes,
}

struct Generator<'a> {
    before: &'a Program,
    launch: &'a Launch,
    bounds: BTreeMap<Slot, Bound>,
    /// Slots that only the module after has.
    after_only: BTreeMap<Slot, Bound>,
    /// Slots of acceleration structures in either module.
    acceleration_structures: BTreeSet<Slot>,
    push_size: u32,
    /// Boundary values and harvested constants.
    values: Vec<u32>,
    array_length: bool,
    images: BTreeMap<Slot, ImageBound>,
    images_after_only: BTreeMap<Slot, ImageBound>,
    /// The module asks for sizes of images.
    image_sizes: bool,
    after: Option<&'a Program>,
    /// Found out when an input needs it.
    uses: OnceCell<Uses>,
}

impl<'a> Generator<'a> {
    fn new(
        before: &'a Program,
        after: Option<&'a Program>,
        launch: &'a Launch,
        harvested: &BTreeSet<u32>,
    ) -> Self {
        let bounds_before = bounds(before);
        let mut after_only = after.map(bounds).unwrap_or_default();
        after_only.retain(|slot, _| !bounds_before.contains_key(slot));
        let images_before = images::images(before);
        let mut images_after_only = after.map(images::images).unwrap_or_default();
        images_after_only.retain(|slot, _| !images_before.contains_key(slot));
        let harvested = harvested.iter().copied().filter(|value| !BOUNDARIES.contains(value));
        let first = BOUNDARIES.iter().take(FIRST_BOUNDARIES as usize);
        let last = BOUNDARIES.iter().skip(FIRST_BOUNDARIES as usize);
        let harvested = harvested.take(MAX_HARVESTED);
        let values = first.copied().chain(harvested).chain(last.copied()).collect();
        let push = before.variables.iter().filter(|variable| variable.class == StorageClass::PushConstant);
        Generator {
            before,
            launch,
            bounds: bounds_before,
            after_only,
            acceleration_structures: std::iter::once(before)
                .chain(after)
                .flat_map(|program| program.variables.iter().flat_map(slot::acceleration_structures))
                .collect(),
            push_size: push.map(|variable| variable.size).max().unwrap_or(0),
            values,
            array_length: scopes::scope_use(before).array_length,
            images: images_before,
            images_after_only,
            image_sizes: images::depends_on_sizes(before),
            after,
            uses: OnceCell::new(),
        }
    }

    /// What memory is used as, by either module.
    fn uses(&self) -> &Uses {
        self.uses.get_or_init(|| {
            let mut uses = Uses::of(self.before, self.after);
            uses.unite(self.bounds.keys().map(|slot| (*slot, self.launch.memory_of(*slot))));
            uses
        })
    }

    fn nothing_free(&self) -> bool {
        let given = &self.launch.acceleration_structures;
        (self.push_size == 0 || self.launch.push.is_some())
            && self
                .acceleration_structures
                .iter()
                .all(|slot| given.contains_key(&AccelerationPlace::Slot(*slot)))
            && self.bounds.keys().all(|slot| self.launch.given(*slot).is_some())
            && self.images.keys().all(|slot| self.launch.images.contains_key(slot))
            && self
                .before
                .variables
                .iter()
                .filter(|variable| variable.class == StorageClass::Input)
                .flat_map(|variable| &variable.interface)
                .all(|part| self.launch.named.contains_key(&format!("in:{}", part.name)))
    }

    fn layout(&self) -> Layout {
        Layout {
            bounds: self.bounds.clone(),
            invocations: (self.launch.workgroups, self.launch.local_size, self.launch.subgroup_size),
            strides: self.before.pointees.iter().map(|pointee| pointee.runtime_stride).collect(),
            array_length: self.array_length,
        }
    }

    /// The input of this kind, with runtime arrays as long as a trial run on it touches, and these sizes, unless nothing
    /// has to be sized or no size contains all; `None` where there was no time for a trial.
    fn sized(
        &self,
        kind: Kind,
        seed: u64,
        trial: &mut Trial<'_>,
    ) -> Result<Option<(Input, Option<Sizes>)>, LaunchError> {
        let start = u32::try_from(self.launch.invocations().clamp(4, 1024)).unwrap_or(1024);
        let mut sizes = Sizes {
            elements: self.runtime_arrays().map(|(slot, _)| (slot, start)).collect(),
            images: self
                .free_images()
                .filter_map(|(slot, bound)| Some((slot, self.layout_of(bound)?)))
                .collect(),
            physical: physical::Sizes { elements: start, copies: 1, ends: None },
        };
        let first = self.fill(kind, seed, &sizes)?;
        let own = |buffer: &PhysicalBuffer| matches!(buffer.source, PhysicalSource::Own { .. });
        let grows = !sizes.elements.is_empty() || first.physical.iter().any(own);
        if !grows && sizes.images.is_empty() {
            return Ok(Some((first, None)));
        }
        let pointees = self.before.pointees.iter().map(|one| one.runtime_stride.unwrap_or(one.size));
        let strides = self.runtime_arrays().map(|(_, stride)| stride).chain(pointees);
        let stride = strides.max().unwrap_or(1).max(1);
        let mut input = first.clone();
        let mut length = start;
        let mut growths = 0;
        loop {
            let dispatch = build_dispatch(self.before, self.launch, &input)?;
            let Some(touched) = trial(&dispatch) else { return Ok(None) };
            if touched.out_of_bounds && grows {
                length = length.saturating_mul(2);
                if length.saturating_mul(stride) > MAX_TRIAL_BYTES {
                    // No size contains this access: it is the module's own fault, at any size.
                    return Ok(Some((first, None)));
                }
                sizes.elements.values_mut().for_each(|n| *n = length);
                sizes.physical = physical::Sizes { elements: length, copies: length, ends: None };
                input = self.fill(kind, seed, &sizes)?;
                continue;
            }
            if growths < MAX_GROWTHS && resize_images(&mut sizes.images, &dispatch, &touched, images::grown) {
                growths += 1;
                input = self.fill(kind, seed, &sizes)?;
                continue;
            }
            if !self.image_sizes {
                resize_images(&mut sizes.images, &dispatch, &touched, images::fitted);
            }
            // A module that asks for the length may touch less of a shorter array.
            if !self.array_length {
                self.shrink(&mut sizes, &dispatch, &touched);
            }
            return Ok(Some((self.fill(kind, seed, &sizes)?, Some(sizes))));
        }
    }

    /// The layout of an automatic image before it is resized.
    fn layout_of(&self, bound: &ImageBound) -> Option<ImageLayout> {
        let one_level = self.launch.samplers.values().any(|sampler| sampler.unnormalized);
        match self.launch.quad && self.image_sizes && !one_level {
            true => bound.layout_with_levels(),
            false => bound.usual_layout(),
        }
    }

    /// Images that the user gave no contents.
    fn free_images(&self) -> impl Iterator<Item = (Slot, &ImageBound)> + '_ {
        let free = self.images.iter().filter(|(slot, _)| !self.launch.images.contains_key(slot));
        free.map(|(slot, bound)| (*slot, bound))
    }

    /// Slots with a runtime array that the user did not size, by the slot that stands for their memory.
    fn runtime_arrays(&self) -> impl Iterator<Item = (Slot, u32)> + '_ {
        self.bounds
            .iter()
            .filter(|(slot, _)| self.launch.given(**slot).is_none())
            .filter_map(|(slot, bound)| Some((self.launch.memory_of(*slot), bound.stride?)))
    }

    fn shrink(&self, sizes: &mut Sizes, dispatch: &Dispatch, touched: &Touched) {
        // Under whichever of its names it was touched.
        let end_of = |key: &str| {
            let objects = || dispatch.objects.iter().zip(&touched.ends);
            let memory = objects().find(|(object, _)| object.key == key).map(|(object, _)| object.memory);
            let same = objects().filter(|(object, _)| Some(object.memory) == memory);
            same.map(|(_, end)| *end).max().unwrap_or(0)
        };
        let mut needed: BTreeMap<Slot, u32> = BTreeMap::new();
        for (slot, bound) in &self.bounds {
            let Some(stride) = bound.stride else { continue };
            let end = end_of(&slot.to_string());
            let count = end.saturating_sub(bound.size).div_ceil(stride.max(1)).max(1);
            let entry = needed.entry(self.launch.memory_of(*slot)).or_insert(1);
            *entry = count.max(*entry);
        }
        for (slot, count) in &mut sizes.elements {
            if let Some(needed) = needed.get(slot) {
                *count = *needed;
            }
        }
        let keys = dispatch.physical.iter().filter_map(|range| dispatch.objects.get(range.object as usize));
        sizes.physical.ends = Some(keys.map(|object| (object.key.clone(), end_of(&object.key))).collect());
    }

    /// Contents for everything, of these sizes.
    fn fill(&self, kind: Kind, seed: u64, wanted: &Sizes) -> Result<Input, LaunchError> {
        let [workgroups, local] = [self.launch.workgroups, self.launch.local_size];
        let extent = std::array::from_fn(|dimension| workgroups[dimension].saturating_mul(local[dimension]));
        let untyped = Uses::default();
        let uses = match kind {
            Kind::Given | Kind::Zeros => &untyped,
            Kind::Distinct | Kind::Boundary(_) | Kind::Random(_) => self.uses(),
        };
        let mut words = Words::new(kind, seed, &self.values, extent, uses.tells_nans());
        let size_of = |slot: &Slot, bound: &Bound| {
            let count = wanted.elements.get(&self.launch.memory_of(*slot)).copied().unwrap_or(1);
            bound.with_elements(count)
        };
        // Aliased slots are one memory, as large as the largest of them.
        let mut sizes: BTreeMap<Slot, (u32, Use)> = BTreeMap::new();
        for (slot, bound) in &self.bounds {
            let (size, memory_use) =
                sizes.entry(self.launch.memory_of(*slot)).or_insert((0, Use::Parameters));
            *size = size_of(slot, bound).max(*size);
            if !bound.constant {
                *memory_use = Use::Data;
            }
        }
        let mut memories: BTreeMap<Slot, Vec<Byte>> = sizes
            .iter()
            .map(|(slot, (size, memory_use))| match self.launch.given(*slot) {
                Some(given) => (*slot, given.clone()),
                None => {
                    let salt = u64::from(slot.binding) << 8 | u64::from(slot.set);
                    (*slot, words.typed(salt, *size, *memory_use, uses.slot(*slot)))
                }
            })
            .collect();
        let mut push = match &self.launch.push {
            Some(given) => given.clone(),
            None => words.typed(u64::MAX, self.push_size, Use::Parameters, Some(uses.push())),
        };
        // What aliases may be taken for what does not.
        let shared = !self.before.modes.restrict && matches!(kind, Kind::Boundary(turn) if turn % 2 == 1);
        let filled = Memories { buffers: &mut memories, push: &mut push };
        let physical =
            physical::place(self.before, self.launch, filled, (&mut words, uses), &wanted.physical, shared)?;
        let mut buffers: BTreeMap<Slot, Vec<Byte>> = self
            .bounds
            .keys()
            .filter_map(|slot| Some((*slot, memories.get(&self.launch.memory_of(*slot))?.clone())))
            .collect();
        for (slot, bound) in &self.after_only {
            let initial = match self.launch.given(*slot) {
                Some(given) => given.clone(),
                None => vec![Byte::Undef; bound.with_elements(AFTER_ONLY_ELEMENTS) as usize],
            };
            buffers.insert(*slot, initial);
        }
        for (_, slot, _) in &self.launch.push_pointers {
            if let (false, Some(given)) = (buffers.contains_key(slot), self.launch.given(*slot)) {
                buffers.insert(*slot, given.clone());
            }
        }
        let mut images = self.launch.images.clone();
        for (slot, layout) in &wanted.images {
            let salt = 1 << 40 | u64::from(slot.binding) << 8 | u64::from(slot.set);
            images.insert(*slot, images::automatic(*layout, &mut words, salt));
        }
        for (slot, bound) in &self.images_after_only {
            if let (false, Some(undefined)) = (images.contains_key(slot), bound.undefined()) {
                images.insert(*slot, undefined);
            }
        }
        let mut acceleration_structures = self.launch.acceleration_structures.clone();
        for slot in &self.acceleration_structures {
            acceleration_structures.entry(AccelerationPlace::Slot(*slot)).or_insert_with(|| {
                let salt = u64::from(slot.binding) << 8 | u64::from(slot.set);
                acceleration::automatic(kind, seed, salt, self.launch.invocations())
            });
        }
        let interface = interface::inputs(self.before, self.launch, &mut words, uses)?;
        Ok(Input { name: kind.name(), buffers, images, acceleration_structures, push, physical, interface })
    }
}

/// Gives images the size that a trial run asks for, within bounds. Returns whether one changed.
fn resize_images(
    layouts: &mut BTreeMap<Slot, ImageLayout>,
    dispatch: &Dispatch,
    touched: &Touched,
    resize: fn(ImageLayout, [u32; 4]) -> ImageLayout,
) -> bool {
    let mut changed = false;
    for (slot, layout) in layouts {
        let key = format!("image:{slot}");
        let objects = dispatch.objects.iter().zip(&touched.texels);
        let Some((_, ends)) = objects.into_iter().find(|(object, _)| object.key == key) else { continue };
        let resized = resize(*layout, *ends);
        if *ends != [0; 4] && resized != *layout && resized.bytes() <= u64::from(MAX_TRIAL_BYTES) {
            *layout = resized;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests;
