//! What the instructions give.

use std::collections::BTreeMap;

use spirv_tv::check::{outcomes, Watch};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;

use crate::shaders::{branch, shader, whole};
use crate::texts::checker;

/// Values of `%a`.
const VALUES: &str = "in:1=words:1.0,3.0,6.0,10.0";

/// The words of each observed object in the only outcome; `None` for one with an undefined byte.
fn result(text: &str, args: &[&str]) -> BTreeMap<String, Vec<Option<u32>>> {
    let checker = checker(args);
    let module =
        Module::from_text(text, "test", &checker.read).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = outcomes(&module, &checker.options, &Watch::default());
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.unsupported, [], "{text}");
    let explored = &report.runs[0].explored;
    let behaviours = &explored.behaviours;
    assert!(behaviours.complete, "{:?} {:?}", behaviours.undecided, behaviours.bounded);
    assert_eq!(behaviours.undefined, []);
    let [(outcome, _)] = &behaviours.outcomes[..] else { panic!("{:?}", behaviours.outcomes) };
    let word = |bytes: &[Byte]| {
        let known = |byte: &Byte| match byte {
            Byte::Known(byte) => Some(*byte),
            Byte::Undef => None,
        };
        let bytes: Option<Vec<u8>> = bytes.iter().map(known).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    };
    let observed = explored.dispatch.objects.iter().filter(|object| object.observed);
    let words = outcome.memory.iter().map(|bytes| bytes.chunks(4).map(word).collect());
    observed.map(|object| object.key.clone()).zip(words).collect()
}

/// The outputs of the four fragments, as floats.
fn outputs(text: &str, args: &[&str]) -> [Option<f32>; 4] {
    let found = result(text, args);
    [0, 1, 2, 3].map(|fragment| found[&format!("out:0@{fragment}")][0].map(f32::from_bits))
}

fn of_values(body: &str) -> [Option<f32>; 4] {
    outputs(&shader(body), &["--buffer", VALUES])
}

#[test]
fn derivatives_are_differences_within_the_quad() {
    for (instruction, expected) in [
        ("DPdxFine", [2.0, 2.0, 4.0, 4.0]),
        ("DPdx", [2.0, 2.0, 4.0, 4.0]),
        ("DPdxCoarse", [2.0; 4]),
        ("DPdyFine", [5.0, 7.0, 5.0, 7.0]),
        ("DPdy", [5.0, 7.0, 5.0, 7.0]),
        ("DPdyCoarse", [5.0; 4]),
        ("FwidthFine", [7.0, 9.0, 9.0, 11.0]),
        ("Fwidth", [7.0, 9.0, 9.0, 11.0]),
        ("FwidthCoarse", [7.0; 4]),
    ] {
        let found = of_values(&format!("%r = Op{instruction} %float %x"));
        assert_eq!(found, expected.map(Some), "{instruction}");
    }
    // Magnitudes are added.
    let found = of_values("%n = OpFNegate %float %x\n%r = OpFwidthFine %float %n");
    assert_eq!(found, [7.0, 9.0, 9.0, 11.0].map(Some));
}

#[test]
fn vectors_are_derived_component_by_component() {
    let body = "%d = OpDPdxFine %vec2 %at\n%r = OpCompositeExtract %float %d 1";
    let found = outputs(&shader(body), &["--buffer", "in:0=words:0.0,1.0,0.0,3.0,0.0,6.0,0.0,10.0"]);
    assert_eq!(found, [2.0, 2.0, 4.0, 4.0].map(Some));
}

#[test]
fn the_fragments_stand_at_a_block_of_pixels() {
    for (component, expected) in [(0, [0.5, 1.5, 0.5, 1.5]), (1, [0.5, 0.5, 1.5, 1.5]), (3, [1.0; 4])] {
        let body = format!(
            "%c = OpLoad %vec4 %coord\n%r = OpCompositeExtract %float %c {component}\n%d = OpDPdx %float %r"
        );
        assert_eq!(of_values(&body), expected.map(Some), "{component}");
    }
}

#[test]
fn what_only_a_part_of_the_quad_executes_is_undefined() {
    let text = whole(
        &branch("%d = OpDPdxFine %float %x\nOpStore %out %d\nOpBranch %merge"),
        "%whole = OpDPdxFine %float %x\nOpReturn",
    );
    let of = |values: &str| outputs(&text, &["--buffer", &format!("in:1=words:{values}")]);
    // All four, then one.
    assert_eq!(of("0.0,0.25,0.0,0.25"), [Some(0.25); 4]);
    assert_eq!(of("0.0,1.0,2.0,3.0"), [None; 4]);
    // The branch is left together: behind it they are a quad again.
    let text = shader(&format!("{}\n%r = OpDPdxFine %float %x", branch("OpBranch %merge")));
    assert_eq!(outputs(&text, &["--buffer", "in:1=words:0.0,1.0,2.0,3.0"]), [Some(1.0); 4]);
}

#[test]
fn fragments_that_end_leave_no_quad_and_demoted_ones_do() {
    let values = ["--buffer", "in:1=words:0.0,1.0,2.0,4.0"];
    let discarded = |text: &str| {
        let found = result(text, &values);
        [0, 1, 2, 3].map(|fragment| found[&format!("out:discard@{fragment}")][0])
    };
    for end in ["OpKill", "OpTerminateInvocation"] {
        let text = shader(&format!("{}\n%r = OpDPdxFine %float %x", branch(end)));
        assert_eq!(outputs(&text, &values), [None; 4], "{end}");
        assert_eq!(discarded(&text), [1, 0, 0, 0].map(Some), "{end}");
    }
    let demoted = branch("OpDemoteToHelperInvocation\nOpBranch %merge");
    let text = shader(&format!("{demoted}\n%r = OpDPdxFine %float %x"));
    assert_eq!(outputs(&text, &values), [None, Some(1.0), Some(2.0), Some(2.0)]);
    assert_eq!(discarded(&text), [1, 0, 0, 0].map(Some));
}

#[test]
fn helper_invocations_take_part_and_leave_nothing() {
    let body = "%word = OpAccessChain %p_word %buffer %u0 %u0
%counted = OpAtomicIAdd %uint %word %device %u0 %u1
%r = OpDPdxFine %float %x";
    let args =
        ["--buffer", VALUES, "--buffer", "0.1=zeros:1", "--buffer", "in:HelperInvocation=words:0,1,0,1"];
    let found = result(&shader(body), &args);
    assert_eq!(found["0.1"], [Some(2)]);
    let outputs = [0, 1, 2, 3].map(|fragment| found[&format!("out:0@{fragment}")][0].map(f32::from_bits));
    assert_eq!(outputs, [Some(2.0), None, Some(4.0), None]);
    // The built-in says who is one.
    let body = "%is = OpLoad %bool %helper\n%own = OpSelect %float %is %f1 %f0\n%r = OpDPdxFine %float %own";
    let args = ["--buffer", "in:HelperInvocation=words:0,1,0,0"];
    assert_eq!(self::outputs(&shader(body), &args), [Some(1.0), None, Some(0.0), Some(0.0)]);
}

/// Texels of three levels of a 4x4 image hold 1, 2 and 3 in their first component.
const LEVELS: [f32; 3] = [1.0, 2.0, 3.0];

fn image() -> String {
    let texel = |level: f32| format!("{level:?},0.0,0.0,1.0");
    let texels = [16, 4, 1].into_iter().zip(LEVELS).flat_map(|(count, level)| vec![texel(level); count]);
    format!("0.0=rgba32f:4x4,levels=3:words:{}", texels.collect::<Vec<_>>().join(","))
}

/// Coordinates that change by so much from pixel to pixel: horizontally in the first component, vertically in the second.
fn coordinates(step: f32) -> String {
    let all = [(0.0, 0.0), (step, 0.0), (0.0, step), (step, step)];
    let words = all.map(|(u, v)| format!("{:?},{:?}", 0.125 + u, 0.125 + v));
    format!("in:0=words:{}", words.join(","))
}

#[test]
fn derivatives_of_the_coordinates_say_the_level_of_detail() {
    let image = image();
    let sample = |operands: &str| {
        let body = format!(
            "%s = OpImageSampleImplicitLod %vec4 %i %at{operands}\n%r = OpCompositeExtract %float %s 0"
        );
        shader(&body)
    };
    let of = |text: &str, step: f32| outputs(text, &["--image", &image, "--buffer", &coordinates(step)]);
    // A step of a texel of level 0, of level 1, of level 2.
    for (step, level) in [(0.125, 1.0), (0.25, 1.0), (0.5, 2.0), (1.0, 3.0)] {
        assert_eq!(of(&sample(""), step), [Some(level); 4], "{step}");
    }
    assert_eq!(of(&sample(" Bias %f1"), 0.25), [Some(2.0); 4]);
    assert_eq!(of(&sample(" Bias %f2"), 0.25), [Some(3.0); 4]);
    // Only a part of the quad looks there: with one level alone it does not matter at which.
    let body = branch("%s = OpImageSampleImplicitLod %vec4 %i %at\n%t = OpCompositeExtract %float %s 0\nOpStore %out %t\nOpBranch %merge");
    let text = whole(&body, "OpReturn");
    let args = |image: &str| {
        let found = outputs(
            &text,
            &["--image", image, "--buffer", &coordinates(0.25), "--buffer", "in:1=words:0.0,1.0,1.0,1.0"],
        );
        found[0]
    };
    assert_eq!(args(&image), None);
    assert_eq!(args("0.0=rgba32f:1x1:words:5.0,0.0,0.0,1.0"), Some(5.0));
}

#[test]
fn the_level_of_detail_can_be_asked_for() {
    let query = |component: u32| {
        shader(&format!("%q = OpImageQueryLod %vec2 %i %at\n%r = OpCompositeExtract %float %q {component}"))
    };
    let image = image();
    for (step, level, detail) in [(0.125, 0.0, -1.0), (0.5, 1.0, 1.0), (1.0, 2.0, 2.0), (4.0, 2.0, 4.0)] {
        let args = ["--image", &image, "--buffer", &coordinates(step)];
        assert_eq!(outputs(&query(0), &args), [Some(level); 4], "{step}");
        assert_eq!(outputs(&query(1), &args), [Some(detail); 4], "{step}");
    }
}

/// One row of a quad has what the other one has not.
#[test]
fn derivatives_that_are_rounded_or_may_be_coarse_are_inexact() {
    let inexact = |instruction: &str, values: &str| {
        let buffer = format!("in:1=words:{values}");
        let checker = checker(&["--buffer", &buffer]);
        let text = shader(&format!("%r = Op{instruction} %float %x"));
        let module =
            Module::from_text(&text, "test", &checker.read).unwrap_or_else(|error| panic!("{error}"));
        let report = outcomes(&module, &checker.options, &Watch::default());
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        !report.runs[0].explored.behaviours.inexact.is_empty()
    };
    let (plane, bent, rounded) = ("0.0,1.0,2.0,3.0", "0.0,1.0,2.0,4.0", "1.0,0.0000001,1.0,0.0000001");
    for (instruction, expected) in [
        ("DPdxFine", [false, false, true]),
        ("DPdx", [false, true, true]),
        ("DPdxCoarse", [false, true, true]),
        ("FwidthFine", [false, false, true]),
        ("Fwidth", [false, true, true]),
    ] {
        assert_eq!(
            [plane, bent, rounded].map(|values| inexact(instruction, values)),
            expected,
            "{instruction}"
        );
    }
}
