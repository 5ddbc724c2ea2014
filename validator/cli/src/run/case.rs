//! A dispatch as the case that an executor runs.

use std::time::Duration;

use rspirv::spirv::Capability;
use spirv_tv::dispatch::{Dispatch, Object};
use spirv_tv::event::StorageClass;
use spirv_tv::ir::image::Resource as Bound;
use spirv_tv::ir::{Program, SpecConstant, Variable};
use spirv_tv::launch::{mentions_subgroups, LaunchOptions, OutOfBounds, Slot};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;
use spirv_tv_executor::case::{self, Address, Case, Kind, Resource, Robustness, SpecialisationValue};

use super::images;

/// What undefined bytes hold on the device at first.
const FILLER: u8 = 0xa5;

/// The execution model GLCompute.
const COMPUTE: u32 = 5;

/// What a case needs beyond the module and the dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The launch, as the dispatch was made for it.
    pub launch: &'a LaunchOptions,
    /// What accesses outside of buffers do.
    pub out_of_bounds: OutOfBounds,
    /// How often it is run.
    pub times: u32,
    /// How long that may take.
    pub time: Duration,
}

/// The case that is this dispatch. Its resources have the names of the objects in reports.
///
/// # Errors
/// What executors are not given, in words.
pub fn case_of(
    module: &Module,
    program: &Program,
    dispatch: &Dispatch,
    wanted: Wanted<'_>,
) -> Result<Case, String> {
    if program.entry.execution_model != COMPUTE {
        return Err(format!("executors run compute entry points, which {} is not", program.entry.name));
    }
    let (mut resources, mut memories) = descriptors(program, dispatch)?;
    for range in &dispatch.physical {
        let Some(object) = dispatch.objects.get(range.object as usize) else { continue };
        if !memories.iter().any(|(memory, _)| *memory == object.memory) {
            memories.push((object.memory, resources.len()));
            let (name, bytes) = (object.key.clone(), initial(object));
            resources.push(Resource { name, slot: None, kind: Kind::Buffer, bytes });
        }
    }
    let push = dispatch.objects.iter().find(|object| object.key == "push").map(initial).unwrap_or_default();
    let mut addresses = addresses(dispatch, None, &push, &memories);
    for (index, resource) in resources.iter().enumerate() {
        addresses.extend(self::addresses(dispatch, Some(index), &resource.bytes, &memories));
    }
    let size = wanted.launch.local_size;
    Ok(Case {
        words: match size {
            Some(size) => module.words_with_local_size(Some(&program.entry.name), size.0),
            None => module.words.clone(),
        },
        entry: program.entry.name.clone(),
        workgroups: dispatch.workgroups,
        local_size: dispatch.local_size,
        subgroup_size: uses_subgroups(module, program).then_some(dispatch.subgroup_size),
        specialisation: program.spec_constants.iter().filter_map(specialisation).collect(),
        push,
        resources,
        addresses,
        unwanted: Vec::new(),
        robustness: match wanted.out_of_bounds {
            OutOfBounds::Undefined => Robustness::None,
            OutOfBounds::Robust => Robustness::Robust,
            OutOfBounds::Robust2 => Robustness::Robust2,
        },
        times: wanted.times,
        time: wanted.time,
    })
}

/// Numbers of resources by the memory that they are, from the first.
type Memories = Vec<(u32, usize)>;

/// What the descriptors of the program lead to.
fn descriptors(program: &Program, dispatch: &Dispatch) -> Result<(Vec<Resource>, Memories), String> {
    let mut resources: Vec<Resource> = Vec::new();
    let mut memories = Memories::new();
    for variable in &program.variables {
        for slot in Slot::of(variable) {
            let name = match variable.resource {
                Some(Bound::Image(_) | Bound::SampledImage(_)) => format!("image:{slot}"),
                Some(Bound::Sampler) => format!("sampler:{slot}"),
                Some(Bound::AccelerationStructure) => {
                    return Err(format!("{slot} is an acceleration structure, which executors are not given"))
                }
                None => slot.to_string(),
            };
            // Several variables may stand for one descriptor.
            if resources.iter().any(|known| known.name == name) {
                continue;
            }
            let object = dispatch.objects.iter().find(|object| object.key == name);
            let object = object.ok_or_else(|| format!("nothing is bound to {name}"))?;
            let first = memories.iter().find(|(memory, _)| *memory == object.memory).map(|(_, index)| *index);
            if let Some(known) = first.and_then(|first| resources.get_mut(first)) {
                // The memory is as long as the longest of those that share it.
                if object.initial.len() > known.bytes.len() {
                    known.bytes = initial(object);
                }
            }
            let kind = match first {
                Some(resource) => Kind::SameAs { resource },
                None => kind(variable, object)?,
            };
            let bytes = match kind {
                Kind::SameAs { .. } | Kind::Sampler { .. } => Vec::new(),
                _ => initial(object),
            };
            memories.push((object.memory, resources.len()));
            let element = slot.element.unwrap_or(0);
            let slot = Some(case::Slot { set: slot.set, binding: slot.binding, element });
            resources.push(Resource { name, slot, kind, bytes });
        }
    }
    Ok((resources, memories))
}

fn kind(variable: &Variable, object: &Object) -> Result<Kind, String> {
    if let Some(bound) = variable.resource {
        return images::kind(bound, object);
    }
    match variable.class {
        StorageClass::Uniform if variable.constant => Ok(Kind::UniformBuffer),
        StorageClass::Uniform | StorageClass::StorageBuffer => Ok(Kind::StorageBuffer),
        class => Err(format!("{} is in storage class {class:?}, which executors are not given", object.key)),
    }
}

fn initial(object: &Object) -> Vec<u8> {
    let byte = |byte: &Byte| match byte {
        Byte::Known(value) => *value,
        Byte::Undef => FILLER,
    };
    object.initial.iter().map(byte).collect()
}

/// The addresses in memory that the host fills, and which resource they lead to.
fn addresses(dispatch: &Dispatch, within: Option<usize>, bytes: &[u8], memories: &Memories) -> Vec<Address> {
    let place = |(number, bytes): (usize, &[u8])| {
        let value = u64::from_le_bytes(bytes.try_into().ok()?);
        let (object, byte) = dispatch.object_at(value)?;
        let memory = dispatch.objects.get(object as usize)?.memory;
        let (_, target) = memories.iter().find(|(known, _)| *known == memory)?;
        Some(Address { within, offset: number * 8, target: *target, byte: u64::from(byte) })
    };
    bytes.chunks(8).enumerate().filter_map(place).collect()
}

/// The bytes that Vulkan takes for a specialisation constant.
fn specialisation(constant: &SpecConstant) -> Option<SpecialisationValue> {
    let bytes = match constant.width {
        1 => 4,
        width => (width / 8) as usize,
    };
    let bytes = constant.value.to_le_bytes().get(..bytes)?.to_vec();
    Some(SpecialisationValue { id: constant.spec_id?, bytes })
}

/// Whether something may depend on which invocations are in a subgroup.
fn uses_subgroups(module: &Module, program: &Program) -> bool {
    let declares = |number: u32| {
        let name = Capability::from_u32(number).map(|capability| format!("{capability:?}"));
        name.is_some_and(|name| ["Group", "CooperativeMatrix"].iter().any(|part| name.contains(part)))
    };
    let capabilities = module.instructions().filter(|one| one.op() == Some(rspirv::spirv::Op::Capability));
    mentions_subgroups(program) || capabilities.filter_map(|one| one.word(0)).any(declares)
}
