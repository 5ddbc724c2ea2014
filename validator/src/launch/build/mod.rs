//! Lays out a dispatch: objects of memory, and invocations with their groups.

#[cfg(test)]
pub mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::acceleration::{AccelerationPlace, DESCRIPTOR_HANDLES};
use super::physical::PhysicalSource;
use super::{images, quad, slot, Input, Launch, LaunchError, Observe, OutOfBounds, Slot};
use crate::acceleration::AccelerationStructure;
use crate::dispatch::{Dispatch, Object, OutsideReads, PhysicalRange, Place, Robustness};
use crate::event::StorageClass;
use crate::ir::{Calls, CooperativeOp, Op, Program, Variable};
use crate::value::{mask, Byte};

/// Address of the first of the buffers that only decode functions get pointers to; the next ones follow in steps
/// of 2^32.
const DECODED: u64 = 1 << 62;

/// Size of a bound buffer, as the variables of one slot together need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Bytes without a trailing runtime array.
    pub size: u32,
    /// Stride of a trailing runtime array.
    pub stride: Option<u32>,
    /// No variable of the slot may be written.
    pub constant: bool,
}

impl Bound {
    /// Bytes with this many elements in the runtime array.
    pub fn with_elements(self, count: u32) -> u32 {
        self.size.saturating_add(self.stride.unwrap_or(0).saturating_mul(count))
    }
}

/// The buffers of a program. Variables with one set and binding are one buffer.
pub fn bounds(program: &Program) -> BTreeMap<Slot, Bound> {
    let mut bounds: BTreeMap<Slot, Bound> = BTreeMap::new();
    for variable in program.variables.iter().filter(|variable| variable.resource.is_none()) {
        for slot in Slot::of(variable) {
            let bound = bounds.entry(slot).or_insert(Bound { constant: true, ..Bound::default() });
            bound.constant &= variable.constant;
            bound.size = bound.size.max(variable.size);
            bound.stride = bound.stride.max(variable.runtime_stride);
        }
    }
    bounds
}

/// Lays out a program's dispatch. Bound buffers come first, sorted by slot, then images and samplers, then push
/// constants, then the Workgroup variables of each workgroup.
pub fn build_dispatch(program: &Program, launch: &Launch, input: &Input) -> Result<Dispatch, LaunchError> {
    let mut builder = Builder {
        program,
        launch,
        objects: Vec::new(),
        physical: Vec::new(),
        object_of: vec![vec![None; count(launch.workgroups)]; program.variables.len()],
    };
    builder.buffers(input);
    builder.images(input)?;
    let acceleration_structures = builder.acceleration_structures(input);
    builder.push_constants(input);
    builder.physical(input);
    builder.decoded();
    builder.outputs(&quad::helpers(launch, input));
    builder.workgroup_variables();
    builder.others()?;
    Ok(Dispatch {
        entries: Vec::new(),
        system_synchronizes_with: Vec::new(),
        inputs: inputs(program, launch, input),
        helpers: quad::helpers(launch, input),
        objects: builder.objects,
        physical: builder.physical,
        object_of: builder.object_of,
        places: places(launch),
        workgroups: launch.workgroups,
        local_size: launch.local_size,
        subgroup_size: launch.subgroup_size,
        legacy_coherent: launch.legacy_coherent,
        robustness: robustness(program, launch),
        open: BTreeSet::new(),
        displaced: launch.displaced,
        acceleration_structures,
        coverage: Default::default(),
    })
}

/// What accesses outside of what before accesses do.
fn robustness(program: &Program, launch: &Launch) -> Option<Robustness> {
    let [out_of_bounds, _] = launch.out_of_bounds;
    let second = match out_of_bounds {
        OutOfBounds::Undefined => return None,
        OutOfBounds::Robust => false,
        OutOfBounds::Robust2 => true,
    };
    Some(Robustness {
        second,
        buffers: bounds(program).len() as u32,
        exhaustive: true,
        reads: OutsideReads::Zero,
        unwritten: BTreeSet::new(),
        strays: BTreeMap::new(),
    })
}

fn count(size: [u32; 3]) -> usize {
    size.iter().map(|&n| n as usize).product()
}

struct Builder<'a> {
    program: &'a Program,
    launch: &'a Launch,
    objects: Vec<Object>,
    physical: Vec<PhysicalRange>,
    object_of: Vec<Vec<Option<u32>>>,
}

impl Builder<'_> {
    /// Adds an object with a reference and, unless it shares one, a memory of its own.
    fn add(&mut self, key: String, initial: Vec<Byte>, observed: bool, constant: bool) -> u32 {
        let number = self.objects.len() as u32;
        self.objects.push(Object {
            key,
            initial,
            observed,
            reference: number,
            memory: number,
            constant,
            image: None,
            sampler: None,
            view: None,
        });
        number
    }

    fn buffers(&mut self, input: &Input) {
        let mut by_slot: BTreeMap<Slot, u32> = BTreeMap::new();
        for (slot, bound) in bounds(self.program) {
            let constant = bound.constant;
            let initial = match input.buffers.get(&slot) {
                Some(bytes) => bytes.clone(),
                None => vec![Byte::Undef; bound.with_elements(1) as usize],
            };
            let object = self.add(slot.to_string(), initial, !constant, constant);
            if let Some(&first) = by_slot.iter().find_map(|(other, object)| {
                (self.launch.memory_of(*other) == self.launch.memory_of(slot)).then_some(object)
            }) {
                let memory = self.objects.get(first as usize).map_or(object, |object| object.memory);
                if let Some(object) = self.objects.get_mut(object as usize) {
                    object.memory = memory;
                }
            }
            by_slot.insert(slot, object);
        }
        let buffers = |variable: &Variable| variable.resource.is_none();
        let variables = self.program.variables.iter().zip(&mut self.object_of);
        for (variable, objects) in variables.filter(|(variable, _)| buffers(variable)) {
            // Elements of an array of descriptors follow one another: the first stands for them.
            let first = Slot::of(variable).first().and_then(|slot| by_slot.get(slot)).copied();
            if first.is_some() {
                objects.iter_mut().for_each(|object| *object = first);
            }
        }
    }

    /// Images and samplers: one object a slot, which is both for a combined image sampler.
    fn images(&mut self, input: &Input) -> Result<(), LaunchError> {
        let mut by_slot: BTreeMap<Slot, u32> = BTreeMap::new();
        let images = images::images(self.program);
        let samplers = images::samplers(self.program);
        let slots: BTreeSet<Slot> = images.keys().chain(samplers.keys()).copied().collect();
        for slot in slots {
            let (key, contents, observed) = match images.get(&slot) {
                Some(bound) => {
                    let contents = bound.contents(slot, input.images.get(&slot))?;
                    (format!("image:{slot}"), Some(contents), bound.is_storage())
                }
                None => (format!("sampler:{slot}"), None, false),
            };
            let (image, bytes) = contents.map(|contents| (contents.layout, contents.bytes)).unzip();
            let number = self.add(key, bytes.unwrap_or_default(), observed, !observed);
            if let Some(object) = self.objects.get_mut(number as usize) {
                object.image = image;
                let has_sampler = samplers.contains_key(&slot);
                object.sampler =
                    has_sampler.then(|| self.launch.samplers.get(&slot).copied().unwrap_or_default());
            }
            by_slot.insert(slot, number);
        }
        for (variable, objects) in self.program.variables.iter().zip(&mut self.object_of) {
            if variable.resource.is_some() {
                let first = Slot::of(variable).first().and_then(|slot| by_slot.get(slot)).copied();
                objects.iter_mut().for_each(|object| *object = first);
            }
        }
        Ok(())
    }

    /// Each descriptor of an acceleration structure is an object that holds its handle.
    fn acceleration_structures(&mut self, input: &Input) -> Vec<(u64, AccelerationStructure)> {
        let given = &input.acceleration_structures;
        let at_address = |(place, structure): (&AccelerationPlace, &AccelerationStructure)| match place {
            AccelerationPlace::Address(address) => Some((*address, structure.clone())),
            AccelerationPlace::Slot(_) => None,
        };
        let mut structures: Vec<(u64, AccelerationStructure)> = given.iter().filter_map(at_address).collect();
        let program = self.program;
        let slots: BTreeSet<Slot> =
            program.variables.iter().flat_map(slot::acceleration_structures).collect();
        let mut by_slot: BTreeMap<Slot, u32> = BTreeMap::new();
        for (number, slot) in (0..).zip(slots) {
            let handle: u64 = DESCRIPTOR_HANDLES + number;
            let initial = handle.to_le_bytes().map(Byte::Known).to_vec();
            by_slot.insert(slot, self.add(slot.to_string(), initial, false, true));
            structures.extend(given.get(&AccelerationPlace::Slot(slot)).map(|it| (handle, it.clone())));
        }
        for (variable, objects) in program.variables.iter().zip(&mut self.object_of) {
            let slots = slot::acceleration_structures(variable);
            if let Some(first) = slots.first().and_then(|slot| by_slot.get(slot)) {
                objects.iter_mut().for_each(|object| *object = Some(*first));
            }
        }
        structures
    }

    /// All push constant variables are one block of memory.
    fn push_constants(&mut self, input: &Input) {
        let is_push = |variable: &Variable| variable.class == StorageClass::PushConstant;
        if !self.program.variables.iter().any(is_push) {
            return;
        }
        let object = self.add("push".to_owned(), input.push.clone(), false, true);
        for (variable, objects) in self.program.variables.iter().zip(&mut self.object_of) {
            if is_push(variable) {
                objects.iter_mut().for_each(|slot| *slot = Some(object));
            }
        }
    }

    /// What physical pointers lead to. A buffer that is bound, too, is the same memory through another
    /// reference.
    fn physical(&mut self, input: &Input) {
        for buffer in &input.physical {
            let object = match &buffer.source {
                PhysicalSource::Own { key, bytes } => self.add(key.clone(), bytes.clone(), true, false),
                PhysicalSource::Slot(slot) => {
                    let key = slot.to_string();
                    let initial = input.buffers.get(slot).cloned().unwrap_or_default();
                    let bound = self.objects.iter().position(|object| object.key == key);
                    let bound = bound.unwrap_or_else(|| self.add(key, initial.clone(), true, false) as usize);
                    let object = self.add(format!("ptr:{slot}"), initial, false, false);
                    let shared = self.objects.get(bound).map(|bound| (bound.memory, bound.constant));
                    if let (Some(own), Some((memory, constant))) =
                        (self.objects.get_mut(object as usize), shared)
                    {
                        own.memory = memory;
                        own.constant = constant;
                    }
                    object
                }
            };
            let size = self.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32);
            self.physical.push(PhysicalRange { address: buffer.address, size, object });
        }
        self.physical.sort_by_key(|range| range.address);
    }

    /// Buffers that decode functions get pointers to have addresses, too.
    fn decoded(&mut self) {
        let code = self.program.functions.iter().flat_map(|function| &function.code);
        let decodes = |op: &Op| match op {
            Op::Cooperative(CooperativeOp::Each(each)) => match &each.calls {
                Calls::Decode { access, .. } => access.class == StorageClass::StorageBuffer,
                Calls::PerElement(_) => false,
            },
            _ => false,
        };
        if !code.into_iter().any(|inst| decodes(&inst.op)) {
            return;
        }
        let variables = self.program.variables.iter().zip(&self.object_of);
        let bound: BTreeSet<u32> = variables
            .filter(|(variable, _)| variable.class == StorageClass::StorageBuffer)
            .filter_map(|(variable, objects)| Some((Slot::of(variable).len() as u32, (*objects.first()?)?)))
            .flat_map(|(descriptors, first)| first..first + descriptors)
            .filter(|object| self.physical.iter().all(|range| range.object != *object))
            .collect();
        let ranges: Vec<PhysicalRange> = bound
            .into_iter()
            .filter_map(|object| {
                let size = self.objects.get(object as usize)?.initial.len() as u32;
                Some(PhysicalRange { address: DECODED + (u64::from(object) << 32), size, object })
            })
            .collect();
        self.physical.extend(ranges);
        self.physical.sort_by_key(|range| range.address);
    }

    /// Output variables of a vertex or fragment entry point. One of several parts is observed part by
    /// part, so that it does not matter how a module groups them.
    /// Each fragment of a quad has its own; nothing is seen of those of helper invocations.
    fn outputs(&mut self, helpers: &BTreeSet<u32>) {
        let program = self.program;
        for (index, variable) in program.variables.iter().enumerate() {
            if variable.class != StorageClass::Output || variable.interface.is_empty() {
                continue;
            }
            let objects: Vec<Option<u32>> = match self.launch.quad {
                false => vec![Some(self.output(variable, "", false)); count(self.launch.workgroups)],
                true => (0..quad::FRAGMENTS)
                    .map(|number| {
                        let suffix = format!("@{number}");
                        Some(self.output(variable, &suffix, helpers.contains(&number)))
                    })
                    .collect(),
            };
            if let Some(slots) = self.object_of.get_mut(index) {
                *slots = objects;
            }
        }
    }

    fn output(&mut self, variable: &Variable, suffix: &str, lost: bool) -> u32 {
        let initial = match lost {
            true => vec![Byte::Undef; variable.size as usize],
            false => initial_bytes(self.program, variable, variable.size),
        };
        match &variable.interface[..] {
            [part] if part.size == variable.size => {
                self.add(format!("out:{}{suffix}", part.name), initial, true, false)
            }
            parts => {
                let key = format!("out:{}{suffix}", name(variable));
                let whole = self.add(key, initial.clone(), false, false);
                for part in parts {
                    let range = part.offset as usize..(part.offset + part.size) as usize;
                    let bytes = initial.get(range).map_or(Vec::new(), <[Byte]>::to_vec);
                    let view = self.add(format!("out:{}{suffix}", part.name), bytes, true, false);
                    if let Some(view) = self.objects.get_mut(view as usize) {
                        view.memory = whole;
                        view.reference = whole;
                        view.view = Some(part.offset);
                    }
                }
                whole
            }
        }
    }

    fn workgroup_variables(&mut self) {
        let program = self.program;
        let workgroups = count(self.launch.workgroups);
        let is_workgroup = |variable: &&Variable| variable.class == StorageClass::Workgroup;
        let blocks: Vec<&Variable> =
            program.variables.iter().filter(is_workgroup).filter(|v| v.block).collect();
        let block_size = blocks.iter().map(|variable| variable.size).max().unwrap_or(0);
        for workgroup in 0..workgroups {
            let key = |name: String| if workgroups > 1 { format!("{name}@{workgroup}") } else { name };
            let shared_block = blocks.first().map(|first| {
                let observed = blocks.iter().any(|variable| self.is_observed(variable));
                let initial = initial_bytes(program, first, block_size);
                self.add(key(name(first)), initial, observed, false)
            });
            for (index, variable) in program.variables.iter().enumerate() {
                if !is_workgroup(&variable) {
                    continue;
                }
                let object = match shared_block {
                    Some(block) if variable.block => block,
                    _ => {
                        let initial = initial_bytes(program, variable, variable.size);
                        self.add(key(name(variable)), initial, self.is_observed(variable), false)
                    }
                };
                if let Some(slot) = self.object_of.get_mut(index).and_then(|row| row.get_mut(workgroup)) {
                    *slot = Some(object);
                }
            }
        }
    }

    fn is_observed(&self, variable: &Variable) -> bool {
        match &self.launch.observe {
            Observe::External => false,
            Observe::Variables(ids) => ids.contains(&variable.id),
            Observe::All => true,
        }
    }

    /// Refuses variables of classes that have no object yet and that invocations could share.
    fn others(&self) -> Result<(), LaunchError> {
        for (variable, objects) in self.program.variables.iter().zip(&self.object_of) {
            let unbound = objects.iter().any(Option::is_none);
            let has_object = match variable.class {
                StorageClass::Input | StorageClass::Private | StorageClass::Function => true,
                StorageClass::Uniform
                | StorageClass::StorageBuffer
                | StorageClass::UniformConstant
                | StorageClass::PushConstant
                | StorageClass::Workgroup
                | StorageClass::Output => !unbound,
                StorageClass::CrossWorkgroup
                | StorageClass::AtomicCounter
                | StorageClass::Image
                | StorageClass::PhysicalStorageBuffer => false,
            };
            if !has_object {
                let what = match (variable.class, variable.binding) {
                    (StorageClass::Uniform | StorageClass::StorageBuffer, None) => {
                        format!("{} without a descriptor set and binding", name(variable))
                    }
                    (class, _) => format!("{} in storage class {class:?}", name(variable)),
                };
                return Err(LaunchError::Unsupported { line: variable.line, what });
            }
        }
        Ok(())
    }
}

/// The values of Input variables that are put together from parts.
fn inputs(program: &Program, launch: &Launch, input: &Input) -> BTreeMap<u32, Vec<Vec<Byte>>> {
    let fragments = if launch.quad { quad::FRAGMENTS } else { 1 };
    let variables = (0..).zip(&program.variables);
    let passed = variables.filter(|(_, one)| one.class == StorageClass::Input && !one.interface.is_empty());
    passed
        .map(|(number, variable)| {
            let value = |fragment: u32| {
                let mut bytes = vec![Byte::Undef; variable.size as usize];
                for part in &variable.interface {
                    let given =
                        input.interface.get(&format!("in:{}", part.name)).map_or(&[][..], Vec::as_slice);
                    let own = quad::of_fragment(given, part.size, fragment);
                    let places = bytes.iter_mut().skip(part.offset as usize).take(part.size as usize);
                    places.zip(own).for_each(|(place, byte)| *place = *byte);
                }
                bytes
            };
            (number, (0..fragments).map(value).collect())
        })
        .collect()
}

/// `%name`, or `%id` where it has none.
fn name(variable: &Variable) -> String {
    match variable.name.as_deref() {
        Some(name) if !name.is_empty() => format!("%{name}"),
        _ => format!("%{}", variable.id),
    }
}

/// What a variable holds at first: its initializer, else undefined bytes.
fn initial_bytes(program: &Program, variable: &Variable, size: u32) -> Vec<Byte> {
    let mut bytes = vec![Byte::Undef; size as usize];
    let (Some(initializer), Some(shape)) =
        (variable.initializer, program.shapes.get(variable.shape.0 as usize))
    else {
        return bytes;
    };
    for (component, leaf) in shape.leaves.iter().enumerate() {
        let Some(scalar) = program.constants.get(initializer.index() as usize + component) else { continue };
        for byte in 0..leaf.kind.bytes() {
            let shift = byte * 8;
            let undefined = (scalar.undef >> shift) & mask(8) != 0;
            if let Some(place) = bytes.get_mut((leaf.offset + byte) as usize) {
                *place = if undefined {
                    Byte::Undef
                } else {
                    Byte::Known(((scalar.bits >> shift) & mask(8)) as u8)
                };
            }
        }
    }
    bytes
}

/// Where the invocations stand: x runs fastest, and a subgroup is a run of local indices.
fn places(launch: &Launch) -> Vec<Place> {
    let [local_x, local_y, _] = launch.local_size;
    let [groups_x, groups_y, _] = launch.workgroups;
    let local = count(launch.local_size) as u32;
    let subgroup_size = launch.subgroup_size.max(1);
    let subgroups = local.div_ceil(subgroup_size);
    let coordinates = |index: u32, x: u32, y: u32| [index % x, index / x % y, index / x / y];
    (0..count(launch.workgroups) as u32)
        .flat_map(|workgroup| (0..local).map(move |local_index| (workgroup, local_index)))
        .map(|(workgroup, local_index)| Place {
            workgroup,
            subgroup: workgroup * subgroups + local_index / subgroup_size,
            queue_family: 0,
            workgroup_id: coordinates(workgroup, groups_x, groups_y),
            local_id: coordinates(local_index, local_x, local_y),
            local_index,
            subgroup_id: local_index / subgroup_size,
            subgroup_lane: local_index % subgroup_size,
        })
        .collect()
}
