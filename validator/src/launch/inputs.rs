//! Automatic inputs: initial contents for what the user did not give.
//!
//! In this order: zeros; small distinct values; boundary values and constants harvested from both
//! modules, each input turning the list on by one, so that every word takes every value in time;
//! seeded random ones. Everything is a function of the modules, the launch and the seed.

use std::collections::{BTreeMap, BTreeSet};

use super::acceleration::AccelerationPlace;
use super::build::{bounds, build_dispatch, Bound};
use super::images::ImageBound;
use super::physical::{self, Memories, PhysicalBuffer, PhysicalSource};
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

/// Runs the module before once, in some order, to see how much of its runtime arrays it touches.
pub type Trial<'t> = dyn FnMut(&Dispatch) -> Touched + 't;

/// Makes the inputs: at most `count`, one where nothing is left free; distinct.
pub fn inputs(
    before: &Program,
    after: Option<&Program>,
    launch: &Launch,
    count: u32,
    seed: u64,
    trial: &mut Trial<'_>,
) -> Result<Vec<Input>, LaunchError> {
    let generator = Generator::new(before, after, launch);
    if generator.nothing_free() {
        return Ok(vec![generator.sized(Kind::Given, seed, trial)?]);
    }
    let mut made: Vec<Input> = Vec::new();
    let mut boundaries = 0;
    for number in 0..count.max(1) {
        let kind = match number {
            0 => Kind::Zeros,
            1 => Kind::Distinct,
            // Half of what is left turns the list of values, the other half is random.
            _ if number % 2 == 0 || number < 2 + FIRST_BOUNDARIES => Kind::Boundary(boundaries),
            _ => Kind::Random(number),
        };
        if matches!(kind, Kind::Boundary(_)) {
            boundaries += 1;
        }
        let input = generator.sized(kind, seed, trial)?;
        if !made.iter().any(|other| other.same_contents(&input)) {
            made.push(input);
        }
    }
    Ok(made)
}

/// How large what the user did not size is.
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
}

impl<'a> Generator<'a> {
    fn new(before: &'a Program, after: Option<&Program>, launch: &'a Launch) -> Self {
        let bounds_before = bounds(before);
        let mut after_only = after.map(bounds).unwrap_or_default();
        after_only.retain(|slot, _| !bounds_before.contains_key(slot));
        let images_before = images::images(before);
        let mut images_after_only = after.map(images::images).unwrap_or_default();
        images_after_only.retain(|slot, _| !images_before.contains_key(slot));
        let harvested: BTreeSet<u32> = std::iter::once(before)
            .chain(after)
            .flat_map(|program| program.harvested.iter().copied())
            .filter(|value| !BOUNDARIES.contains(value))
            .collect();
        let first = BOUNDARIES.iter().take(FIRST_BOUNDARIES as usize);
        let last = BOUNDARIES.iter().skip(FIRST_BOUNDARIES as usize);
        let harvested = harvested.into_iter().take(MAX_HARVESTED);
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
        }
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

    /// The input of this kind, with runtime arrays as long as a trial run on it touches.
    fn sized(&self, kind: Kind, seed: u64, trial: &mut Trial<'_>) -> Result<Input, LaunchError> {
        let start = u32::try_from(self.launch.invocations().clamp(4, 1024)).unwrap_or(1024);
        let mut sizes = Sizes {
            elements: self.runtime_arrays().map(|(slot, _)| (slot, start)).collect(),
            images: self
                .free_images()
                .filter_map(|(slot, bound)| Some((slot, bound.usual_layout()?)))
                .collect(),
            physical: physical::Sizes { elements: start, copies: 1, ends: None },
        };
        let first = self.fill(kind, seed, &sizes)?;
        let own = |buffer: &PhysicalBuffer| matches!(buffer.source, PhysicalSource::Own { .. });
        let grows = !sizes.elements.is_empty() || first.physical.iter().any(own);
        if !grows && sizes.images.is_empty() {
            return Ok(first);
        }
        let pointees = self.before.pointees.iter().map(|one| one.runtime_stride.unwrap_or(one.size));
        let strides = self.runtime_arrays().map(|(_, stride)| stride).chain(pointees);
        let stride = strides.max().unwrap_or(1).max(1);
        let mut input = first.clone();
        let mut length = start;
        let mut growths = 0;
        loop {
            let dispatch = build_dispatch(self.before, self.launch, &input)?;
            let touched = trial(&dispatch);
            if touched.out_of_bounds && grows {
                length = length.saturating_mul(2);
                if length.saturating_mul(stride) > MAX_TRIAL_BYTES {
                    // No size contains this access: it is the module's own fault, at any size.
                    return Ok(first);
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
            return self.fill(kind, seed, &sizes);
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
        let mut words = Words::new(kind, seed, &self.values);
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
                    (*slot, words.take(salt, *size, *memory_use))
                }
            })
            .collect();
        let mut push = match &self.launch.push {
            Some(given) => given.clone(),
            None => words.take(u64::MAX, self.push_size, Use::Parameters),
        };
        // What aliases may be taken for what does not.
        let shared = !self.before.modes.restrict && matches!(kind, Kind::Boundary(turn) if turn % 2 == 1);
        let filled = Memories { buffers: &mut memories, push: &mut push };
        let physical =
            physical::place(self.before, self.launch, filled, &mut words, &wanted.physical, shared)?;
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
        let interface = interface::inputs(self.before, self.launch, &mut words)?;
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
mod tests {
    use super::*;
    use crate::launch::build::tests::{buffer, launch, program, slot};

    fn untried(_: &Dispatch) -> Touched {
        Touched::default()
    }

    fn made(program: &Program, launch: &Launch, count: u32, seed: u64) -> Vec<Input> {
        inputs(program, None, launch, count, seed, &mut untried).unwrap_or_default()
    }

    fn words(input: &Input, binding: u32) -> Vec<u32> {
        let bytes = &input.buffers[&slot(binding)];
        let known = |byte: &Byte| if let Byte::Known(byte) = byte { *byte } else { 0xee };
        bytes
            .chunks(4)
            .map(|c| c.iter().rev().fold(0, |word, byte| word << 8 | u32::from(known(byte))))
            .collect()
    }

    #[test]
    fn zeros_then_distinct_then_every_value_in_turn() {
        let mut program = program(vec![buffer(1, 0, 0), buffer(2, 0, 1)]);
        program.harvested = vec![77];
        let made = made(&program, &launch(1, 2, 2), 8, 0);
        let names: Vec<&str> = made.iter().map(|input| input.name.as_str()).collect();
        let expected = ["zeros", "distinct", "boundary 1", "boundary 2", "boundary 3", "boundary 4"];
        assert_eq!(names[..6], expected);
        assert_eq!(names[6..], ["boundary 5", "random 7"]);
        assert_eq!(words(&made[0], 0), [0, 0]);
        assert_eq!((words(&made[1], 0), words(&made[1], 1)), (vec![1, 2], vec![3, 4]));
        let first: Vec<u32> = made[2..7].iter().map(|input| words(input, 0)[0]).collect();
        assert_eq!(first, [0x7fff_ffff, u32::MAX, 0x8000_0000, 0x3f80_0000, 77]);
        assert_eq!(words(&made[2], 0)[1], u32::MAX);
    }

    #[test]
    fn parameters_stay_small_in_many_inputs() {
        let mut uniform = buffer(1, 0, 0);
        uniform.constant = true;
        let program = program(vec![uniform, buffer(2, 0, 1)]);
        let made = made(&program, &launch(1, 2, 2), 6, 0);
        assert_eq!((words(&made[1], 0), words(&made[1], 1)), (vec![1, 2], vec![1, 2]));
        assert!(words(&made[2], 0)[0] > 8 && words(&made[2], 1)[0] > 8);
        assert!(words(&made[3], 0)[0] < 8 && words(&made[3], 1)[0] > 8);
    }

    #[test]
    fn the_seed_decides() {
        let program = program(vec![buffer(1, 0, 0)]);
        let launch = launch(1, 2, 2);
        assert_eq!(made(&program, &launch, 10, 5), made(&program, &launch, 10, 5));
        assert_ne!(made(&program, &launch, 10, 5), made(&program, &launch, 10, 6));
    }

    #[test]
    fn one_input_where_all_is_given() {
        let program = program(vec![buffer(1, 0, 0)]);
        let mut launch = launch(1, 2, 2);
        launch.buffers.insert(slot(0), vec![Byte::Known(9); 8]);
        let made = made(&program, &launch, 5, 0);
        assert_eq!(made.iter().map(|input| input.name.as_str()).collect::<Vec<_>>(), ["given"]);
        assert_eq!(words(&made[0], 0), [0x0909_0909; 2]);
    }

    #[test]
    fn equal_inputs_are_made_once() {
        // Nothing to fill: whatever the kind, the contents are the same.
        assert_eq!(made(&program(vec![]), &launch(1, 1, 1), 3, 0).len(), 1);
    }

    #[test]
    fn runtime_arrays_get_what_a_trial_touches() {
        let mut variable = buffer(1, 0, 0);
        variable.size = 4;
        variable.runtime_stride = Some(8);
        let program = program(vec![variable]);
        // Touches up to byte 4 + 8 * 9 + 4.
        let mut trial = |dispatch: &Dispatch| {
            let out_of_bounds = dispatch.objects[0].initial.len() < 80;
            Touched { ends: vec![80], out_of_bounds, ..Touched::default() }
        };
        let made = inputs(&program, None, &launch(1, 2, 2), 1, 0, &mut trial).unwrap_or_default();
        assert_eq!(made[0].buffers[&slot(0)].len(), 4 + 8 * 10);
        let mut never = |_: &Dispatch| Touched { ends: vec![0], out_of_bounds: true, ..Touched::default() };
        let made = inputs(&program, None, &launch(1, 2, 2), 1, 0, &mut never).unwrap_or_default();
        assert_eq!(made[0].buffers[&slot(0)].len(), 4 + 8 * 4);
    }

    #[test]
    fn aliased_slots_hold_the_same() {
        let mut larger = buffer(2, 0, 1);
        larger.size = 12;
        let program = program(vec![buffer(1, 0, 0), larger]);
        let mut launch = launch(1, 2, 2);
        launch.aliases = BTreeMap::from([(slot(0), slot(0)), (slot(1), slot(0))]);
        let made = made(&program, &launch, 2, 0);
        assert_eq!(words(&made[1], 0), [1, 2, 3]);
        assert_eq!(words(&made[1], 1), [1, 2, 3]);
    }

    #[test]
    fn what_only_after_has_is_undefined() {
        let before = program(vec![buffer(1, 0, 0)]);
        let after = program(vec![buffer(1, 0, 0), buffer(2, 0, 5)]);
        let made = inputs(&before, Some(&after), &launch(1, 1, 1), 1, 0, &mut untried).unwrap_or_default();
        assert_eq!(made[0].buffers[&slot(5)], vec![Byte::Undef; 8]);
    }
}
