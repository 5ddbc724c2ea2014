//! What vertex and fragment entry points take in: values by location or built-in, under the keys
//! `in:LOCATION` and `in:NAME`.

use std::collections::BTreeMap;

use super::values::{Use, Words};
use super::{Launch, LaunchError};
use crate::event::StorageClass;
use crate::ir::{InterfacePart, Program};
use crate::value::Byte;

/// Values of all inputs of a program, by key.
pub fn inputs(
    program: &Program,
    launch: &Launch,
    words: &mut Words<'_>,
) -> Result<BTreeMap<String, Vec<Byte>>, LaunchError> {
    let mut values = BTreeMap::new();
    let inputs = program.variables.iter().filter(|variable| variable.class == StorageClass::Input);
    for (number, part) in (0_u64..).zip(inputs.flat_map(|variable| &variable.interface)) {
        let key = format!("in:{}", part.name);
        let value = match launch.named.get(&key) {
            Some(given) => given.clone(),
            None => automatic(part, number, words),
        };
        values.entry(key).or_insert(value);
    }
    let unused = launch.named.keys().find(|key| key.starts_with("in:") && !values.contains_key(*key));
    let Some(key) = unused else { return Ok(values) };
    let known = match values.len() {
        0 => "no inputs".to_owned(),
        _ => values.keys().cloned().collect::<Vec<_>>().join(", "),
    };
    Err(LaunchError::UnknownTarget { option: "--buffer", what: key.clone(), known })
}

/// A value that the pipeline could give: coordinates of a pixel's centre, small indices, one sample.
fn automatic(part: &InterfacePart, number: u64, words: &mut Words<'_>) -> Vec<Byte> {
    let salt = number | 1 << 49;
    let floats = |values: &[f32]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).map(Byte::Known);
        bytes.take(part.size as usize).collect()
    };
    let word = |value: u32| value.to_le_bytes().map(Byte::Known).to_vec();
    let mut small = || match words.take(salt, 4, Use::Parameters).first() {
        Some(Byte::Known(low)) => u32::from(low & 3),
        Some(Byte::Undef) | None => 0,
    };
    match part.name.as_str() {
        "FragCoord" => floats(&[small() as f32 + 0.5, 0.5, 0.5, 1.0]),
        "PointCoord" | "SamplePosition" => floats(&[0.5; 2]),
        "BaryCoordKHR" | "BaryCoordNoPerspKHR" => floats(&[0.5, 0.25, 0.25]),
        "FrontFacing" => word(small() & 1),
        "VertexIndex" | "InstanceIndex" | "BaseVertex" | "BaseInstance" | "DrawIndex" | "PrimitiveId" => {
            word(small())
        }
        "SampleMask" => word(1),
        // One view, one device, one layer, the first sample; a fragment of its own, no helper.
        "ViewIndex" | "DeviceIndex" | "SampleId" | "Layer" | "ViewportIndex" | "HelperInvocation"
        | "ShadingRateKHR" => word(0),
        _ => words.take(salt, part.size, Use::Data),
    }
}
