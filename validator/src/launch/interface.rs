//! Inputs of vertex and fragment entry points: values by location or built-in, with the keys `in:LOCATION` and
//! `in:NAME`.

use std::collections::BTreeMap;

use super::uses::Uses;
use super::values::{Use, Words};
use super::{quad, Launch, LaunchError};
use crate::event::StorageClass;
use crate::ir::{InterfacePart, Program};
use crate::value::Byte;

/// Values of all inputs of a program, by key.
pub fn inputs(
    program: &Program,
    launch: &Launch,
    words: &mut Words<'_>,
    uses: &Uses,
) -> Result<BTreeMap<String, Vec<Byte>>, LaunchError> {
    let mut values = BTreeMap::new();
    let inputs = program.variables.iter().filter(|variable| variable.class == StorageClass::Input);
    for (number, part) in (0_u64..).zip(inputs.flat_map(|variable| &variable.interface)) {
        let key = format!("in:{}", part.name);
        let value = match launch.named.get(&key) {
            Some(given) => given.clone(),
            None if launch.quad => {
                let first = automatic(part, number, words, uses);
                quad::over(part, number, &first, words, uses)
            }
            None => automatic(part, number, words, uses),
        };
        values.entry(key).or_insert(value);
    }
    if launch.quad {
        // Whether a module asks for it or not: this says which fragments there are.
        let helpers = match launch.named.get(quad::HELPER) {
            Some(given) => given.clone(),
            None => quad::automatic_helpers(launch, words),
        };
        values.insert(quad::HELPER.to_owned(), helpers);
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
fn automatic(part: &InterfacePart, number: u64, words: &mut Words<'_>, uses: &Uses) -> Vec<Byte> {
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
        name => words.typed(salt, part.size, Use::Data, uses.interface(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Variable;
    use crate::launch::build::tests::{buffer, launch, program};
    use crate::launch::build_dispatch;
    use crate::launch::inputs::{inputs as all_inputs, Touched};
    use crate::launch::recipe::Recipe;
    use crate::launch::values::Kind;

    fn passed(class: StorageClass, size: u32, interface: Vec<InterfacePart>) -> Variable {
        Variable { class, binding: None, size, interface, ..buffer(1, 0, 0) }
    }

    fn part(name: &str, offset: u32, size: u32) -> InterfacePart {
        InterfacePart { name: name.to_owned(), offset, size, varies: None }
    }

    #[test]
    fn variables_are_put_together_from_their_parts() {
        let parts = vec![part("0", 0, 4), part("1", 8, 4)];
        let program = program(vec![passed(StorageClass::Input, 12, parts)]);
        let mut launch = launch(1, 1, 1);
        launch.named.insert("in:1".into(), vec![Byte::Known(7); 4]);
        let mut untried = |_: &crate::dispatch::Dispatch, _: &[u32]| Some(Touched::default());
        let made = all_inputs(&program, None, &launch, 1, 0, &mut untried).unwrap();
        let dispatch = build_dispatch(&program, &launch, &made[0]).unwrap();
        let (zero, undefined, seven) = ([Byte::Known(0); 4], [Byte::Undef; 4], [Byte::Known(7); 4]);
        assert_eq!(dispatch.inputs[&0], [[zero, undefined, seven].concat()]);
        launch.named.insert("in:2".into(), Vec::new());
        let error = all_inputs(&program, None, &launch, 1, 0, &mut untried).unwrap_err().to_string();
        assert_eq!(error, "--buffer: the module has no in:2; it has in:0, in:1");
    }

    #[test]
    fn parts_of_outputs_are_observed_by_themselves() {
        let whole = passed(StorageClass::Output, 4, vec![part("3", 0, 4)]);
        let block = passed(StorageClass::Output, 20, vec![part("Position", 0, 16), part("PointSize", 16, 4)]);
        let program = program(vec![whole, block]);
        let launch = launch(1, 1, 1);
        let mut untried = |_: &crate::dispatch::Dispatch, _: &[u32]| Some(Touched::default());
        let made = all_inputs(&program, None, &launch, 1, 0, &mut untried).unwrap();
        let dispatch = build_dispatch(&program, &launch, &made[0]).unwrap();
        let told: Vec<_> = dispatch
            .objects
            .iter()
            .map(|one| (one.key.as_str(), one.initial.len(), one.observed, one.memory, one.view))
            .collect();
        assert_eq!(
            told,
            [
                ("out:3", 4, true, 0, None),
                ("out:%1", 20, false, 1, None),
                ("out:Position", 16, true, 1, Some(0)),
                ("out:PointSize", 4, true, 1, Some(16)),
            ]
        );
        assert_eq!(dispatch.object_of, [[Some(0)], [Some(1)]]);
    }

    #[test]
    fn built_ins_get_values_that_a_pipeline_gives() {
        let zeros = Recipe::of(Kind::Zeros, 0);
        let mut words = Words::new(&zeros, 0, &[], [1; 3], false);
        let uses = Uses::default();
        let mut value = |name, size| automatic(&part(name, 0, size), 0, &mut words, &uses);
        let floats = |values: [f32; 4]| values.map(|v| v.to_le_bytes().map(Byte::Known)).concat();
        assert_eq!(value("FragCoord", 16), floats([0.5, 0.5, 0.5, 1.0]));
        assert_eq!(value("PointCoord", 8), floats([0.5; 4])[..8]);
        assert_eq!(value("HelperInvocation", 4), [Byte::Known(0); 4]);
        assert_eq!(value("SampleMask", 4), 1_u32.to_le_bytes().map(Byte::Known));
        assert_eq!(value("5", 6).len(), 6);
    }
}
