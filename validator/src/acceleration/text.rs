//! Acceleration structures as text.
//!
//! ```text
//! empty
//! [in-order] INSTANCE [; INSTANCE …]
//! INSTANCE: [mask:N] [custom:N] [record:N] [move:X,Y,Z] [scale:X,Y,Z] [transform:12 NUMBERS, row by row]
//!           [cull-disable] [flip-facing] [force-opaque | force-no-opaque] GEOMETRY [+ GEOMETRY …]
//! GEOMETRY: [opaque] [duplicates] triangles:X,Y,Z,… (9 a triangle) | boxes:X,Y,Z,X,Y,Z,… (6 a box)
//! ```

use super::{AccelerationStructure, Geometry, Instance, Opacity, Primitive, Transform};

/// A ray query remembers this many primitives.
const MAX_PRIMITIVES: usize = 64;

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

/// A whole number, decimal or with `0x` in front.
pub fn integer(text: &str) -> Result<u64, String> {
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
}
