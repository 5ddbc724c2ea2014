//! Fills everything that the user did not: the contents of one input, and how large they are.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::acceleration::AccelerationPlace;
use super::build::{bounds, build_dispatch, Bound};
use super::images::ImageBound;
use super::inputs::{Input, Touched, Trial};
use super::physical::{self, Memories, PhysicalBuffer, PhysicalSource};
use super::recipe::Recipe;
use super::uses::Uses;
use super::values::{Drawn, Kind, Use, Words, BOUNDARIES, FIRST_BOUNDARIES};
use super::{
    acceleration, images, interface, scopes, shortened, slot, Launch, LaunchError, OutOfBounds, Slot,
};
use crate::dispatch::Dispatch;
use crate::event::StorageClass;
use crate::ir::image::{Dim, ImageLayout};
use crate::ir::Program;
use crate::value::Byte;

/// Constants that are harvested, at most: the list has to come round within a few inputs.
const MAX_HARVESTED: usize = 8;

/// Largest size in bytes that a runtime array, or an image, gets to hold what the module touches.
const MAX_TRIAL_BYTES: u32 = 1 << 18;

/// The same for a launch that is only looked at: it has workgroups far out.
const MAX_LOOKED_AT_BYTES: u32 = 1 << 21;

/// The same for what physical pointers lead to: all of it grows at once.
const MAX_POINTED_BYTES: u32 = 1 << 18;

/// How often buffers grow to what a trial run touches.
const MAX_ROUNDS: u32 = 6;

/// Elements of a runtime array that only the module after has: nothing says how many there are.
const AFTER_ONLY_ELEMENTS: u32 = 64;

/// Extents of images beside the usual one, which most have, in texels.
const SHAPES: [[u32; 2]; 3] = [[8, 4], [4, 8], [16, 8]];

/// One of so many images in a row has each of these.
const SHAPES_EVERY: usize = 6;

/// How often images grow to what a trial run touches: what they hold may change where it goes.
const MAX_GROWTHS: u32 = 4;

/// What sizes depend on, beside what the module does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    bounds: BTreeMap<Slot, Bound>,
    invocations: ([u32; 3], [u32; 3], u32),
    strides: Vec<Option<u32>>,
    array_length: bool,
}

/// Elements of runtime arrays in inputs that are repaired.
const ROOM: u32 = 2048;

/// How large what the user did not size is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sizes {
    /// Elements of runtime arrays, by the slot that stands for their memory.
    elements: BTreeMap<Slot, u32>,
    images: BTreeMap<Slot, ImageLayout>,
    physical: physical::Sizes,
}

/// An input, and how it was sized.
#[derive(Clone, Debug)]
pub(super) enum Sizing {
    /// Nothing has to be sized.
    Fixed(Input),
    /// As a trial run on it touches.
    To(Input, Sizes),
    /// No size contains what a trial run on it accesses.
    Nowise(Input),
}

impl Sizing {
    pub(super) fn input(self) -> Input {
        match self {
            Sizing::Fixed(input) | Sizing::To(input, _) | Sizing::Nowise(input) => input,
        }
    }

    /// The input, if all accesses have room.
    pub(super) fn fitting(self) -> Option<Input> {
        match self {
            Sizing::Fixed(input) | Sizing::To(input, _) => Some(input),
            Sizing::Nowise(_) => None,
        }
    }
}

pub(super) struct Generator<'a> {
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
    /// Whether sampled images have several levels.
    levels: bool,
    after: Option<&'a Program>,
    /// Found out when an input needs it.
    uses: OnceCell<Uses>,
}

impl<'a> Generator<'a> {
    pub(super) fn new(
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
            levels: launch.quad || images::names_levels(before),
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

    pub(super) fn nothing_free(&self) -> bool {
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

    /// Whether the contents of an object are made here, by its key.
    pub(super) fn makes(&self, key: &str) -> bool {
        let is = |slot: &Slot| slot.to_string() == key;
        match key {
            "push" => self.launch.push.is_none(),
            _ if self.bounds.keys().any(is) => {
                self.bounds.keys().filter(|slot| is(slot)).all(|slot| self.launch.given(*slot).is_none())
            }
            _ if key.starts_with("image:") => {
                self.free_images().any(|(slot, _)| format!("image:{slot}") == key)
            }
            _ => !self.launch.named.contains_key(key),
        }
    }

    pub(super) fn layout(&self) -> Layout {
        Layout {
            bounds: self.bounds.clone(),
            invocations: (self.launch.workgroups, self.launch.local_size, self.launch.subgroup_size),
            strides: self.before.pointees.iter().map(|pointee| pointee.runtime_stride).collect(),
            array_length: self.array_length,
        }
    }

    /// The input of this kind, with runtime arrays as long as a trial run on it touches; `None` where there was no time
    /// for a trial.
    pub(super) fn sized(
        &self,
        recipe: &Recipe,
        seed: u64,
        trial: &mut Trial<'_>,
    ) -> Result<Option<Sizing>, LaunchError> {
        let start = u32::try_from(self.launch.invocations().clamp(4, 1024)).unwrap_or(1024);
        let mut sizes = Sizes {
            elements: self.runtime_arrays().map(|(slot, _)| (slot, start)).collect(),
            images: self
                .free_images()
                .filter_map(|(slot, bound)| Some((slot, self.layout_of(slot, bound, recipe)?)))
                .collect(),
            physical: physical::Sizes { elements: start, copies: 1, ends: None },
        };
        let mut drawn = Drawn::new();
        let mut fill = |sizes: &Sizes| self.fill_further(recipe, seed, sizes, &mut drawn);
        let first = fill(&sizes)?;
        let own = |buffer: &PhysicalBuffer| matches!(buffer.source, PhysicalSource::Own { .. });
        let grows = !sizes.elements.is_empty() || first.physical.iter().any(own);
        if !grows && sizes.images.is_empty() {
            return Ok(Some(Sizing::Fixed(first)));
        }
        let pointees = self.before.pointees.iter().map(|one| one.runtime_stride.unwrap_or(one.size));
        let stride = pointees.max().unwrap_or(1).max(1);
        let points = first.physical.iter().any(own);
        let mut input = first.clone();
        let (mut length, mut rounds, mut growths) = (start, 0, 0);
        loop {
            let dispatch = build_dispatch(self.before, self.launch, &input)?;
            let Some(touched) = trial(&dispatch, &self.limits(&dispatch)) else { return Ok(None) };
            // What it is filled with may say how much is touched.
            let needed = self.elements(&dispatch, &touched);
            let is_too_small = |(slot, count): (&Slot, &u32)| *count < needed.get(slot).copied().unwrap_or(0);
            if rounds < MAX_ROUNDS && sizes.elements.iter().any(is_too_small) {
                rounds += 1;
                for (slot, count) in &mut sizes.elements {
                    *count = needed.get(slot).copied().unwrap_or(0).max(*count);
                }
                input = fill(&sizes)?;
                continue;
            }
            if touched.out_of_bounds
                && points
                && length.saturating_mul(2).saturating_mul(stride) <= MAX_POINTED_BYTES
            {
                length = length.saturating_mul(2);
                sizes.physical = physical::Sizes { elements: length, copies: length, ends: None };
                input = fill(&sizes)?;
                continue;
            }
            if touched.out_of_bounds && grows {
                // No size contains this access: it is the module's own fault, at any size.
                return Ok(Some(Sizing::Nowise(first)));
            }
            if growths < MAX_GROWTHS && resize_images(&mut sizes.images, &dispatch, &touched, images::grown) {
                growths += 1;
                input = fill(&sizes)?;
                continue;
            }
            if !self.image_sizes {
                resize_images(&mut sizes.images, &dispatch, &touched, images::fitted);
            }
            // A module that asks for the length may touch less of a shorter array.
            if !self.array_length {
                self.shrink(&mut sizes, &dispatch, &touched);
            }
            return Ok(Some(Sizing::To(fill(&sizes)?, sizes)));
        }
    }

    /// Sizes with which an input is as large as this one, but for what physical pointers lead to, and for runtime arrays of
    /// which nobody asks the length: they have room.
    pub(super) fn sizes_of(&self, input: &Input) -> Sizes {
        let elements = self.runtime_arrays().filter_map(|(slot, stride)| {
            let bytes = input.buffers.get(&slot)?.len() as u32;
            let fixed = self.bounds.get(&slot)?.size;
            let own = (bytes.saturating_sub(fixed) / stride.max(1)).max(1);
            Some((slot, if self.array_length { own } else { own.max(ROOM) }))
        });
        let images = self.free_images().filter_map(|(slot, _)| Some((slot, input.images.get(&slot)?.layout)));
        let start = u32::try_from(self.launch.invocations().clamp(4, 1024)).unwrap_or(1024);
        Sizes {
            elements: elements.collect(),
            images: images.collect(),
            physical: physical::Sizes { elements: start, copies: 1, ends: None },
        }
    }

    /// How large each object may be: what has a runtime array that the user did not size can grow.
    pub(super) fn limits(&self, dispatch: &Dispatch) -> Vec<u32> {
        let grows: BTreeSet<String> = self
            .bounds
            .iter()
            .filter(|(slot, bound)| bound.stride.is_some() && self.launch.given(**slot).is_none())
            .map(|(slot, _)| slot.to_string())
            .collect();
        let most = if self.launch.is_only_looked_at { MAX_LOOKED_AT_BYTES } else { MAX_TRIAL_BYTES };
        let limit = |key: &String| if grows.contains(key) { most } else { 0 };
        dispatch.objects.iter().map(|object| limit(&object.key)).collect()
    }

    /// The layout of an automatic image before it is resized. Where sizes count, images differ in them.
    fn layout_of(&self, slot: Slot, bound: &ImageBound, recipe: &Recipe) -> Option<ImageLayout> {
        let one_level = self.launch.samplers.values().any(|sampler| sampler.unnormalized);
        let mut layout = match self.levels && self.image_sizes && !one_level {
            true => bound.layout_with_levels(),
            false => bound.usual_layout(),
        }?;
        let shape = recipe.shape.wrapping_add(slot.binding);
        if let (true, Dim::Two, Some(shape)) =
            (self.image_sizes, layout.dim, SHAPES.get(shape as usize % SHAPES_EVERY))
        {
            layout.extent = [shape[0], shape[1], 1];
        }
        Some(layout)
    }

    /// Images that the user gave no contents.
    pub(super) fn free_images(&self) -> impl Iterator<Item = (Slot, &ImageBound)> + '_ {
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
        let needed = self.elements(dispatch, touched);
        for (slot, count) in &mut sizes.elements {
            if let Some(needed) = needed.get(slot) {
                *count = *needed;
            }
        }
        let keys = dispatch.physical.iter().filter_map(|range| dispatch.objects.get(range.object as usize));
        let end_of = |key: &str| touched.end_of(dispatch, key);
        sizes.physical.ends = Some(keys.map(|object| (object.key.clone(), end_of(&object.key))).collect());
    }

    /// How many elements of each runtime array were touched, by the slot that stands for its memory, and at least one.
    fn elements(&self, dispatch: &Dispatch, touched: &Touched) -> BTreeMap<Slot, u32> {
        let mut needed: BTreeMap<Slot, u32> = BTreeMap::new();
        for (slot, bound) in &self.bounds {
            let Some(stride) = bound.stride else { continue };
            let end = touched.end_of(dispatch, &slot.to_string());
            let count = end.saturating_sub(bound.size).div_ceil(stride.max(1)).max(1);
            let entry = needed.entry(self.launch.memory_of(*slot)).or_insert(1);
            *entry = count.max(*entry);
        }
        needed
    }

    /// These sizes, with a runtime array that is shorter: with robust access, in every other input.
    pub(super) fn shortened(&self, recipe: &Recipe, sizes: &Sizes) -> Option<Sizes> {
        let [out_of_bounds, _] = self.launch.out_of_bounds;
        if out_of_bounds == OutOfBounds::Undefined {
            return None;
        }
        let elements = shortened::shortened(self.before, &sizes.elements, recipe.number())?;
        Some(Sizes { elements, ..sizes.clone() })
    }

    /// Contents for everything, of these sizes.
    pub(super) fn fill(&self, recipe: &Recipe, seed: u64, wanted: &Sizes) -> Result<Input, LaunchError> {
        self.fill_further(recipe, seed, wanted, &mut Drawn::new())
    }

    /// As [`Generator::fill`], where some of it was drawn for other sizes.
    fn fill_further(
        &self,
        recipe: &Recipe,
        seed: u64,
        wanted: &Sizes,
        drawn: &mut Drawn,
    ) -> Result<Input, LaunchError> {
        let [workgroups, local] = [self.launch.workgroups, self.launch.local_size];
        let extent = std::array::from_fn(|dimension| workgroups[dimension].saturating_mul(local[dimension]));
        let untyped = Uses::default();
        let uses = match recipe.kind {
            Kind::Given | Kind::Zeros if recipe.grafts.is_empty() => &untyped,
            _ => self.uses(),
        };
        let words = Words::new(recipe, seed, &self.values, extent, uses.tells_nans());
        let mut words = words.with_drawn(std::mem::take(drawn));
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
        let shared =
            !self.before.modes.restrict && matches!(recipe.kind, Kind::Boundary(turn) if turn % 2 == 1);
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
            let is_sampled = self.images.get(slot).is_some_and(|bound| !bound.is_storage());
            let has_colours = words.turn().is_some_and(|turn| turn > 0 && (turn ^ slot.binding) % 2 == 1);
            images.insert(*slot, images::automatic(*layout, is_sampled && has_colours, &mut words, salt));
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
                acceleration::automatic(recipe.kind_of(salt), seed, salt, self.launch.invocations())
            });
        }
        let interface = interface::inputs(self.before, self.launch, &mut words, uses)?;
        *drawn = words.into_drawn();
        let name = recipe.name();
        let mut input = Input { name, buffers, images, acceleration_structures, push, physical, interface };
        recipe.patches.iter().for_each(|patch| patch.put(self.before, self.launch, &mut input));
        Ok(input)
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
