//! Acceleration structures as the user writes them, and automatic ones.
//!
//! ```text
//! empty
//! [in-order] INSTANCE [; INSTANCE …]
//! INSTANCE: [mask:N] [custom:N] [record:N] [move:X,Y,Z] [scale:X,Y,Z] [transform:12 NUMBERS, row by row]
//!           [cull-disable] [flip-facing] [force-opaque | force-no-opaque] GEOMETRY [+ GEOMETRY …]
//! GEOMETRY: [opaque] [duplicates] triangles:X,Y,Z,… (9 a triangle) | boxes:X,Y,Z,X,Y,Z,… (6 a box)
//! ```

use std::fmt;
use std::str::FromStr;

use super::values::{Kind, Random};
use super::{Slot, Target};
use crate::acceleration::{AccelerationStructure, Geometry, Instance, Opacity, Primitive, Transform};

/// A ray query remembers this many primitives.
const MAX_PRIMITIVES: usize = 64;

/// Most invocations that automatic structures leave the order of candidates open for: every one of
/// them multiplies the number of executions.
const MAX_UNORDERED_INVOCATIONS: u64 = 4;

/// `TARGET=SPEC` of `--acceleration-structure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccelerationSetting {
    pub target: AccelerationTarget,
    pub structure: AccelerationStructure,
}

/// Where an acceleration structure is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccelerationTarget {
    Descriptor(Target),
    /// `address:N`: at a device address, for OpConvertUToAccelerationStructureKHR.
    Address(u64),
}

impl FromStr for AccelerationSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (target, spec) = super::options::halves(text, "TARGET=SPEC")?;
        let target = match target.strip_prefix("address:") {
            Some(address) => {
                let address = integer(address)?;
                // Larger ones are the descriptors'.
                if address == 0 || address >= DESCRIPTOR_HANDLES {
                    return Err(format!("'{target}': an address is from 1 to {:#x}", DESCRIPTOR_HANDLES - 1));
                }
                AccelerationTarget::Address(address)
            }
            None => AccelerationTarget::Descriptor(target.parse()?),
        };
        Ok(AccelerationSetting { target, structure: structure(spec)? })
    }
}

/// Where a launch has an acceleration structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccelerationPlace {
    Slot(Slot),
    Address(u64),
}

/// As it is written in `--acceleration-structure`.
impl fmt::Display for AccelerationPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccelerationPlace::Slot(slot) => slot.fmt(f),
            AccelerationPlace::Address(address) => write!(f, "address:{address:#x}"),
        }
    }
}

/// The first handle of the structures that are bound to descriptors.
pub const DESCRIPTOR_HANDLES: u64 = 0x1000_0000_0000;

/// Reads a SPEC.
pub fn structure(text: &str) -> Result<AccelerationStructure, String> {
    let spec = text.trim();
    let (in_order, rest) = match spec.strip_prefix("in-order") {
        Some(rest) => (true, rest),
        None => (false, spec),
    };
    let instances = match rest.trim() {
        "empty" => Vec::new(),
        rest => rest.split(';').map(instance).collect::<Result<Vec<_>, _>>()?,
    };
    let geometries = instances.iter().flat_map(|instance| &instance.geometries);
    let primitives: usize = geometries.map(|geometry| geometry.primitives.len()).sum();
    if primitives > MAX_PRIMITIVES {
        return Err(format!(
            "an acceleration structure has {primitives} primitives, at most {MAX_PRIMITIVES}"
        ));
    }
    Ok(AccelerationStructure { text: spec.into(), instances: instances.into(), in_order })
}

fn instance(text: &str) -> Result<Instance, String> {
    let mut instance = Instance {
        object_to_world: Transform::IDENTITY,
        world_to_object: Transform::IDENTITY,
        custom_index: 0,
        mask: 0xff,
        record_offset: 0,
        facing_cull_disable: false,
        flip_facing: false,
        opacity: None,
        geometries: Vec::new(),
    };
    for part in text.split('+') {
        let geometry = geometry(part, &mut instance)?;
        instance.geometries.push(geometry);
    }
    // Vulkan: the geometries of a bottom-level acceleration structure are of one type.
    let is_box = |primitive: &Primitive| matches!(primitive, Primitive::Box(_));
    let primitives = || instance.geometries.iter().flat_map(|geometry| &geometry.primitives);
    if primitives().any(is_box) && !primitives().all(is_box) {
        return Err("an instance has triangles or boxes, not both".to_owned());
    }
    instance.world_to_object = instance
        .object_to_world
        .inverse()
        .ok_or_else(|| "the transform of an instance must be invertible".to_owned())?;
    Ok(instance)
}

/// Reads a geometry, and settings of the instance before it.
fn geometry(text: &str, instance: &mut Instance) -> Result<Geometry, String> {
    let mut geometry = Geometry { opaque: false, duplicates: false, primitives: Vec::new() };
    for word in text.split_whitespace() {
        let (key, value) = word.split_once(':').unwrap_or((word, ""));
        match (key, value) {
            ("opaque", "") => geometry.opaque = true,
            ("duplicates", "") => geometry.duplicates = true,
            ("cull-disable", "") => instance.facing_cull_disable = true,
            ("flip-facing", "") => instance.flip_facing = true,
            ("force-opaque", "") => instance.opacity = Some(Opacity::ForceOpaque),
            ("force-no-opaque", "") => instance.opacity = Some(Opacity::ForceNoOpaque),
            ("mask", _) => instance.mask = bounded(value, 8)? as u8,
            ("custom", _) => instance.custom_index = bounded(value, 24)? as u32,
            ("record", _) => instance.record_offset = bounded(value, 24)? as u32,
            ("move", _) => {
                for (row, by) in instance.object_to_world.0.iter_mut().zip(numbers::<3>(value)?) {
                    row[3] = f64::from(by);
                }
            }
            ("scale", _) => {
                for (i, by) in numbers::<3>(value)?.into_iter().enumerate() {
                    instance.object_to_world.0[i][i] = f64::from(by);
                }
            }
            ("transform", _) => {
                let entries = numbers::<12>(value)?;
                for (entry, value) in instance.object_to_world.0.iter_mut().flatten().zip(entries) {
                    *entry = f64::from(value);
                }
            }
            ("triangles", _) => {
                let triangle = |[a, b, c, d, e, f, g, h, i]: [f32; 9]| {
                    Ok(Primitive::Triangle([[a, b, c], [d, e, f], [g, h, i]]))
                };
                geometry.primitives = primitives(value, triangle)?;
            }
            ("boxes", _) => {
                let corners = |[a, b, c, d, e, f]: [f32; 6]| match a <= d && b <= e && c <= f {
                    true => Ok(Primitive::Box([[a, b, c], [d, e, f]])),
                    false => Err(format!("'{value}': a box's first corner has its smallest coordinates")),
                };
                geometry.primitives = primitives(value, corners)?;
            }
            _ => return Err(format!("'{word}' is no part of an acceleration structure")),
        }
    }
    match geometry.primitives.is_empty() {
        true => Err(format!("'{}' has neither triangles: nor boxes:", text.trim())),
        false => Ok(geometry),
    }
}

fn primitives<const N: usize>(
    text: &str,
    make: impl Fn([f32; N]) -> Result<Primitive, String>,
) -> Result<Vec<Primitive>, String> {
    let all: Vec<f32> = text.split(',').map(number).collect::<Result<_, _>>()?;
    let wrong = || format!("{} numbers make no primitives of {N} each", all.len());
    all.chunks(N).map(|chunk| make(chunk.try_into().map_err(|_| wrong())?)).collect()
}

fn numbers<const N: usize>(text: &str) -> Result<[f32; N], String> {
    let all: Vec<f32> = text.split(',').map(number).collect::<Result<_, _>>()?;
    all.try_into().map_err(|_| format!("'{text}' is not {N} numbers"))
}

fn number(text: &str) -> Result<f32, String> {
    let value = text.trim().parse::<f32>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| format!("'{text}' is no finite number"))
}

fn integer(text: &str) -> Result<u64, String> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.map_err(|_| format!("'{text}' is no whole number"))
}

fn bounded(text: &str, bits: u32) -> Result<u64, String> {
    let value = integer(text)?;
    match value >> bits {
        0 => Ok(value),
        _ => Err(format!("'{text}' has more than {bits} bits")),
    }
}

/// The structure of an automatic input: nothing in the first; then a few primitives on the axes, both
/// opaque and not, seen from both sides; then random ones.
pub fn automatic(kind: Kind, seed: u64, salt: u64, invocations: u64) -> AccelerationStructure {
    let order = if invocations > MAX_UNORDERED_INVOCATIONS { "in-order " } else { "" };
    let spec = match kind {
        Kind::Zeros => "empty".to_owned(),
        Kind::Given | Kind::Distinct => format!("{order}{ON_THE_AXES}"),
        Kind::Boundary(turn) => {
            // The same, moved, and in other instances.
            let by = turn % 3;
            format!("{order}custom:{turn} record:{by} move:0,{by},0 {ON_THE_AXES}")
        }
        Kind::Random(number) => format!("{order}{}", random(seed ^ salt.rotate_left(23) ^ u64::from(number))),
    };
    // What is made here can be read; an empty structure stands for what could not.
    structure(&spec).unwrap_or_else(|_| AccelerationStructure {
        text: "empty".into(),
        instances: Vec::new().into(),
        in_order: false,
    })
}

/// An opaque and a non-opaque triangle, an opaque and a non-opaque box, along different directions.
const ON_THE_AXES: &str = "opaque triangles:-4,-4,3,4,-4,3,0,4,3 + triangles:-4,-4,-5,0,4,-5,4,-4,-5; \
                           custom:1 mask:0x0f record:1 boxes:4,-1,-1,6,1,1; \
                           custom:2 mask:0xf0 record:2 opaque boxes:-6,-1,-1,-4,1,1";

/// Up to four primitives with small whole coordinates.
fn random(seed: u64) -> String {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let instances: Vec<String> = (0..count)
        .map(|number| {
            let opaque = if random.below(2) == 0 { "opaque " } else { "" };
            let mut coordinate = || i64::from(random.below(13)) - 6;
            let mut point = || [coordinate(), coordinate(), coordinate()];
            let [a, b, c] = [point(), point(), point()];
            let joined = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            let what = if c[0] % 3 == 0 {
                let low: Vec<i64> = a.iter().zip(&b).map(|(a, b)| *a.min(b)).collect();
                let high: Vec<i64> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
                format!("boxes:{},{}", joined(&low), joined(&high))
            } else {
                format!("triangles:{},{},{}", joined(&a), joined(&b), joined(&c))
            };
            format!("custom:{number} {opaque}{what}")
        })
        .collect();
    instances.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_read() {
        let read = structure(
            "mask:0x0f custom:7 record:3 move:1,2,3 flip-facing opaque triangles:0,0,5,1,0,5,0,1,5 + \
             duplicates triangles:0,0,6,1,0,6,0,1,6,0,0,7,1,0,7,0,1,7; cull-disable force-opaque \
             scale:2,2,2 boxes:-1,-1,-1,1,1,1",
        );
        let Ok(read) = read else { panic!("{read:?}") };
        let [first, second] = &read.instances[..] else { panic!("{read:?}") };
        assert_eq!((first.mask, first.custom_index, first.record_offset), (0x0f, 7, 3));
        assert_eq!(first.object_to_world.0[1], [0.0, 1.0, 0.0, 2.0]);
        assert_eq!(first.world_to_object.0[2], [0.0, 0.0, 1.0, -3.0]);
        assert!(first.flip_facing && !first.facing_cull_disable && first.opacity.is_none());
        let shape = |geometry: &Geometry| (geometry.opaque, geometry.duplicates, geometry.primitives.len());
        assert_eq!(
            first.geometries.iter().map(shape).collect::<Vec<_>>(),
            [(true, false, 1), (false, true, 2)]
        );
        assert_eq!(second.geometries[0].primitives, [Primitive::Box([[-1.0; 3], [1.0; 3]])]);
        assert_eq!((second.opacity, second.facing_cull_disable), (Some(Opacity::ForceOpaque), true));
        assert_eq!(second.world_to_object.0[0], [0.5, 0.0, 0.0, 0.0]);
        assert!(!read.in_order);
    }

    #[test]
    fn order_and_emptiness() {
        let read = |text: &str| structure(text).map(|s| (s.in_order, s.instances.len()));
        assert_eq!(read("empty"), Ok((false, 0)));
        assert_eq!(read("in-order boxes:0,0,0,1,1,1"), Ok((true, 1)));
    }

    #[test]
    fn mistakes_are_refused() {
        for wrong in [
            "",
            "opaque",
            "triangles:1,2,3",
            "boxes:0,0,0,1,1,x",
            "boxes:1,0,0,0,1,1",
            "boxes:0,0,0,1,1,inf",
            "mask:256 boxes:0,0,0,1,1,1",
            "spheres:0,0,0,1",
            "scale:0,1,1 boxes:0,0,0,1,1,1",
            "boxes:0,0,0,1,1,1 + triangles:0,0,5,1,0,5,0,1,5",
            "boxes:0,0,0,1,1,1;",
        ] {
            assert!(structure(wrong).is_err(), "{wrong}");
        }
        let many = vec!["0,0,0,1,1,1"; 65].join(",");
        assert!(structure(&format!("boxes:{many}")).is_err_and(|error| error.contains("65 primitives")));
    }

    #[test]
    fn targets_are_descriptors_or_addresses() {
        let target = |text: &str| text.parse::<AccelerationSetting>().map(|setting| setting.target);
        assert_eq!(target("address:0x1000=empty"), Ok(AccelerationTarget::Address(0x1000)));
        assert_eq!(target("0.3=empty").ok(), "0.3".parse().ok().map(AccelerationTarget::Descriptor));
        assert!(target("address:0=empty").is_err());
        assert!(target("address:0x100000000000=empty").is_err());
    }

    #[test]
    fn automatic_structures_can_be_read_and_depend_on_the_seed() {
        for number in 0..200 {
            let made = automatic(Kind::Random(number), 1, 2, 1);
            assert!(!made.instances.is_empty(), "{number}");
        }
        assert_eq!(automatic(Kind::Distinct, 0, 0, 1).instances.len(), 3);
        assert_eq!(automatic(Kind::Boundary(1), 0, 0, 1).instances.len(), 3);
        assert!(automatic(Kind::Zeros, 0, 0, 64).instances.is_empty());
        assert!(automatic(Kind::Distinct, 0, 0, 64).in_order);
        assert!(!automatic(Kind::Distinct, 0, 0, 4).in_order);
        assert_ne!(automatic(Kind::Random(5), 1, 2, 1), automatic(Kind::Random(5), 3, 2, 1));
    }
}
