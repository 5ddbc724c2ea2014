use std::time::Duration;

use spirv_tv_executor::case::{Slot, SpecialisationValue};

use super::*;

const MODULE: &str = "OpCapability Shader
OpCapability Int64
OpCapability VulkanMemoryModel
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%signature = OpTypeFunction %void
%main = OpFunction %void None %signature
%entry = OpLabel
OpReturn
OpFunctionEnd
";

fn resource(binding: u32, kind: Kind, bytes: &[u8]) -> Resource {
    let slot = Some(Slot { set: 0, binding, element: 0 });
    Resource { name: format!("0.{binding}"), slot, kind, bytes: bytes.to_vec() }
}

/// A case made by the only constructor that all fields go through.
fn case(resources: Vec<Resource>) -> Case {
    let words = spirv_tv_toolchain::assemble(MODULE, None).unwrap();
    Case {
        words,
        entry: "main".to_owned(),
        workgroups: [2, 1, 1],
        local_size: [1, 1, 1],
        subgroup_size: None,
        specialisation: Vec::new(),
        push: Vec::new(),
        resources,
        unwanted: Vec::new(),
        addresses: Vec::new(),
        robustness: Robustness::None,
        times: 1,
        time: Duration::from_secs(2),
    }
}

fn known(bytes: &[u8]) -> Option<Vec<Byte>> {
    Some(bytes.iter().copied().map(Byte::Known).collect())
}

fn two_buffers() -> Case {
    case(vec![resource(0, Kind::StorageBuffer, &[0; 12]), resource(1, Kind::UniformBuffer, &[1, 0, 0, 0])])
}

/// Holds a script against the grammar that docs/amber_script.md of google/amber describes, command by command.
fn assert_is_amber(script: &str) {
    let mut lines = script.lines();
    assert_eq!(lines.next(), Some("#!amber"));
    let mut inside: Option<&str> = None;
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (inside, &words[..]) {
            (Some("shader" | "buffer" | "pipeline"), ["END"]) => inside = None,
            (Some("subgroup"), ["END"]) => inside = Some("pipeline"),
            (Some("subgroup"), ["REQUIRED_SIZE", size]) => assert!(is_number(size)),
            (Some("pipeline"), ["SUBGROUP", _]) => inside = Some("subgroup"),
            // Comments of AmberScript are none here, and END ends it in any place.
            (Some("shader"), _) => {
                assert!(line.contains("Op") && !line.contains('#') && !line.contains("END"), "{line}")
            }
            (Some("buffer"), words) => assert!(words.iter().all(|word| is_number(word)), "{line}"),
            (_, []) => {}
            (_, [first, ..]) if first.starts_with('#') => {}
            (None, ["DEVICE_FEATURE" | "DEVICE_EXTENSION", name]) => assert!(name.is_ascii()),
            (None, ["SET", "ENGINE_DATA", "fence_timeout_ms", time]) => assert!(is_number(time)),
            (None, ["SHADER", "compute", _, "SPIRV-ASM", "TARGET_ENV", env]) if env.starts_with("spv1.") => {
                inside = Some("shader")
            }
            (None, ["BUFFER", _, "DATA_TYPE", "uint32" | "uint8", "DATA"]) => inside = Some("buffer"),
            (None, ["PIPELINE", "compute", _]) => inside = Some("pipeline"),
            (None, ["RUN", _, x, y, z]) => assert!([x, y, z].into_iter().all(|word| is_number(word))),
            (None, ["EXPECT", _, "IDX", at, "EQ", values @ ..]) => {
                assert!(
                    is_number(at) && !values.is_empty() && values.iter().all(|word| is_number(word)),
                    "{line}"
                );
            }
            (Some("pipeline"), ["ATTACH", _, "ENTRY_POINT", _, specialised @ ..]) => {
                let is_so = |part: &[&str]| matches!(part, ["SPECIALIZE", id, "AS", "uint32", value] if is_number(id) && is_number(value));
                assert!(specialised.chunks(5).all(is_so), "{line}");
            }
            (Some("pipeline"), ["BIND", "BUFFER", _, "AS", "push_constant"]) => {}
            (
                Some("pipeline"),
                ["BIND", "BUFFER", _, "AS", "uniform" | "storage", "DESCRIPTOR_SET", set, "BINDING", binding],
            ) => {
                assert!(is_number(set) && is_number(binding));
            }
            _ => panic!("no command of AmberScript: {line}"),
        }
    }
    assert_eq!(inside, None, "an END is missing");
}

/// Holds a script against the commands that the README of vkrunner describes.
fn assert_is_vkrunner(script: &str) {
    let mut section = String::new();
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    let is_type = |word: &str| ["uint", "uint8_t"].contains(&word);
    for line in script.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
            assert!(["require", "compute shader spirv", "test"].contains(&section.as_str()), "{line}");
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match (section.as_str(), &words[..]) {
            ("require", [name]) => assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')),
            ("compute shader spirv", _) => assert!(line.contains("Op"), "{line}"),
            ("test", ["compute", "entrypoint", _]) => {}
            ("test", ["compute", x, y, z]) => assert!([x, y, z].into_iter().all(|word| is_number(word))),
            ("test", ["ssbo", binding, size]) => assert!(is_number(binding) && is_number(size)),
            (
                "test",
                ["ssbo", binding, "subdata", ty, values @ ..] | ["uniform", "ubo", binding, ty, values @ ..],
            ) => {
                assert!(
                    is_number(binding)
                        && is_type(ty)
                        && values.len() > 1
                        && values.iter().all(|word| is_number(word))
                );
            }
            ("test", ["uniform", ty, values @ ..]) => {
                assert!(is_type(ty) && values.iter().all(|word| is_number(word)))
            }
            ("test", ["probe", "ssbo", ty, binding, at, "==", values @ ..]) => {
                assert!(is_type(ty) && is_number(binding) && is_number(at) && !values.is_empty());
            }
            _ => panic!("no command of vkrunner: {line}"),
        }
    }
}

#[test]
fn names_that_would_end_the_shader_are_left_out() {
    let outcomes = vec![vec![known(&[0; 12]), None]];
    let mut named = two_buffers();
    let text = MODULE.replace("%void =", "OpName %main \"BLENDED\"\n%void =");
    named.words = spirv_tv_toolchain::assemble(&text, None).unwrap();
    named.subgroup_size = Some(8);
    let amber = script(ScriptFormat::Amber, &named, &outcomes, None).unwrap();
    assert_is_amber(&amber);
    assert!(amber.contains("OpFunctionEnd") && amber.contains("REQUIRED_SIZE 8"), "{amber}");
    let text = MODULE.replace("\"main\"", "\"END\"");
    named.words = spirv_tv_toolchain::assemble(&text, None).unwrap();
    assert!(script(ScriptFormat::Amber, &named, &outcomes, None).is_err());
}

#[test]
fn one_outcome_is_expected_word_by_word() {
    let outcome = vec![known(&[1, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0]), None];
    let case = two_buffers();
    let amber = script(ScriptFormat::Amber, &case, &vec![outcome.clone()], None).unwrap();
    assert_is_amber(&amber);
    assert!(
        amber.contains("\nEXPECT buffer_0 IDX 0 EQ 1 2 256\n") && amber.contains("\nRUN pipeline 2 1 1\n"),
        "{amber}"
    );
    assert!(
        amber.contains("DEVICE_FEATURE shaderInt64\nDEVICE_EXTENSION VK_KHR_vulkan_memory_model\n"),
        "{amber}"
    );
    assert!(amber.contains("AS uniform DESCRIPTOR_SET 0 BINDING 1"), "{amber}");
    let vkrunner = script(ScriptFormat::Vkrunner, &case, &vec![outcome], None).unwrap();
    assert_is_vkrunner(&vkrunner);
    assert!(
        vkrunner.contains("\nprobe ssbo uint 0 0 == 1 2 256\n")
            && vkrunner.contains("\nuniform ubo 1 uint 0 1\n")
    );
}

#[test]
fn of_several_outcomes_what_they_have_in_common_is_expected() {
    let outcomes = vec![
        vec![known(&[1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0]), None],
        vec![known(&[1, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0]), None],
    ];
    let case = two_buffers();
    for format in [ScriptFormat::Amber, ScriptFormat::Vkrunner] {
        let text = script(format, &case, &outcomes, None).unwrap();
        assert!(
            text.contains("# the module allows 2 outcomes") && text.contains("# not expected: 1 word of 0.0"),
            "{text}"
        );
    }
    let amber = script(ScriptFormat::Amber, &case, &outcomes, None).unwrap();
    assert!(amber.contains("IDX 0 EQ 1\nEXPECT buffer_0 IDX 8 EQ 7\n"), "{amber}");
    // The wrong word is one that a script says nothing of.
    let hidden = [known(&[1, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0]), None];
    assert!(script(ScriptFormat::Amber, &case, &outcomes, Some(&hidden))
        .unwrap_err()
        .contains("one of several"));
    let told = [known(&[1, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0]), None];
    assert!(script(ScriptFormat::Amber, &case, &outcomes, Some(&told)).is_ok());
}

#[test]
fn undefined_bytes_are_not_expected() {
    let mut bytes = known(&[1; 12]).unwrap();
    bytes[5] = Byte::Undef;
    let text =
        script(ScriptFormat::Amber, &two_buffers(), &vec![vec![Some(bytes.clone()), None]], None).unwrap();
    assert!(text.contains("IDX 0 EQ 16843009\nEXPECT buffer_0 IDX 8 EQ 16843009\n"), "{text}");
    let nothing = vec![vec![Some(vec![Byte::Undef; 12]), None]];
    assert!(script(ScriptFormat::Amber, &two_buffers(), &nothing, None).is_err());
}

#[test]
fn buffers_of_odd_sizes_push_constants_and_specialisation_constants_are_told() {
    let mut case = case(vec![resource(0, Kind::StorageBuffer, &[9, 8, 7])]);
    case.push = vec![5, 0, 0, 0];
    let outcomes = vec![vec![known(&[9, 8, 6])]];
    let vkrunner = script(ScriptFormat::Vkrunner, &case, &outcomes, None).unwrap();
    assert_is_vkrunner(&vkrunner);
    assert!(
        vkrunner.contains("\nuniform uint 0 5\n") && vkrunner.contains("probe ssbo uint8_t 0 0 == 9 8 6"),
        "{vkrunner}"
    );
    case.specialisation = vec![SpecialisationValue { id: 3, bytes: vec![7, 0, 0, 0] }];
    let amber = script(ScriptFormat::Amber, &case, &outcomes, None).unwrap();
    assert_is_amber(&amber);
    assert!(
        amber.contains(" SPECIALIZE 3 AS uint32 7\n")
            && amber.contains("AS push_constant")
            && amber.contains("DATA_TYPE uint8")
    );
    assert!(script(ScriptFormat::Vkrunner, &case, &outcomes, None).unwrap_err().contains("SpecId 3"));
    case.specialisation = vec![SpecialisationValue { id: 3, bytes: vec![0; 8] }];
    assert!(script(ScriptFormat::Amber, &case, &outcomes, None).unwrap_err().contains("SpecId 3"));
}

#[test]
fn one_memory_at_two_bindings_is_one_buffer_and_other_things_are_refused_by_name() {
    let same =
        case(vec![resource(0, Kind::StorageBuffer, &[0; 4]), resource(1, Kind::SameAs { resource: 0 }, &[])]);
    let outcomes = vec![vec![known(&[1, 0, 0, 0]), None]];
    let amber = script(ScriptFormat::Amber, &same, &outcomes, None).unwrap();
    assert_is_amber(&amber);
    assert!(amber.contains("BIND BUFFER buffer_0 AS storage DESCRIPTOR_SET 0 BINDING 1"), "{amber}");
    assert!(script(ScriptFormat::Vkrunner, &same, &outcomes, None).unwrap_err().contains("0.1"));
    let texels = case(vec![resource(0, Kind::StorageTexelBuffer { format: "r32ui".to_owned() }, &[0; 4])]);
    assert!(script(ScriptFormat::Amber, &texels, &outcomes, None).unwrap_err().contains("texel buffer"));
    let mut spaced = two_buffers();
    spaced.entry = "ma in".to_owned();
    assert!(script(ScriptFormat::Amber, &spaced, &outcomes, None).unwrap_err().contains("no name"));
}
