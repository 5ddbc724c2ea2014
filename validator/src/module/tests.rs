use super::*;

const MINIMAL: &str = "; a comment
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1

%void = OpTypeVoid
%7 = OpTypeFunction %void
%main = OpFunction %void None
        %7
%entry = OpLabel
OpReturn
OpFunctionEnd
";

fn read(text: &str) -> Result<Module, ReadError> {
    Module::from_bytes(text.as_bytes(), "test.spvasm", &ReadOptions::default())
}

#[test]
fn text_keeps_ids_names_and_lines() {
    let module = read(MINIMAL).unwrap();
    assert_eq!(module.id_named("%7"), Some(7));
    let main = module.id_named("main").unwrap();
    let function = module.instructions().find(|one| one.result == Some(main)).unwrap();
    assert_eq!((function.name().as_str(), function.line), ("OpFunction", 9));
    let lines: Vec<Line> = module.instructions().map(|one| one.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 7, 8, 9, 11, 12, 13]);
    assert!(module.from_text);
}

#[test]
fn a_binary_of_either_endianness_has_the_lines_of_its_disassembly() {
    let words = read(MINIMAL).unwrap().words;
    let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    for bytes in [little, big] {
        let module = Module::from_bytes(&bytes, "test.spv", &ReadOptions::default()).unwrap();
        assert_eq!(module.words, words);
        assert!(!module.from_text);
        for instruction in module.instructions() {
            let line = module.text.lines().nth(instruction.line as usize - 1).unwrap();
            assert!(line.contains(&instruction.name()), "{line} has no {}", instruction.name());
        }
    }
}

#[test]
fn strings_are_decoded() {
    let module = read(MINIMAL).unwrap();
    let entry = module.instructions().nth(2).unwrap();
    assert_eq!(entry.string(2), Some(("main".to_owned(), 4)));
    assert_eq!(entry.string(9), None);
}

#[test]
fn text_that_does_not_assemble_is_told_with_line_and_column() {
    let error = read("OpCapability Shader\nOpCapability Shaper\n").unwrap_err();
    assert_eq!(error.to_string(), "test.spvasm:2:14: Invalid capability 'Shaper'.");
}

#[test]
fn the_validator_is_repeated_with_the_line_unless_lenient() {
    let text = MINIMAL.replace("OpReturn", "%x = OpIAdd %void %7 %7\nOpReturn");
    let error = read(&text).unwrap_err();
    let ReadError::Invalid { objection, .. } = &error else { panic!("{error}") };
    assert_eq!(objection.line, 12);
    assert!(error.to_string().starts_with("test.spvasm:12: spirv-val: "), "{error}");
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let module = Module::from_text(&text, "test.spvasm", &options).unwrap();
    assert_eq!(module.objection.as_ref(), Some(objection));
}

#[test]
fn what_is_no_module_is_told_apart() {
    let fails =
        |bytes: &[u8]| Module::from_bytes(bytes, "x", &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(fails(b""), "x: not a SPIR-V module: it is empty");
    assert!(fails(&[0xff, 0xfe, 0, 1]).contains("not UTF-8 text"));
    let words = read(MINIMAL).unwrap().words;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(fails(&bytes[..bytes.len() - 2]).contains("may be truncated"));
    assert!(fails(&bytes[..12]).contains("header of 5 words is cut off after 3"));
    assert!(fails(&bytes[..bytes.len() - 16]).contains("spirv-val"));
    let mut zero = bytes.clone();
    zero[22] = 0;
    assert!(fails(&zero).contains("instruction 1 at word 5 has no words"));
    let missing = Module::load("/does/not/exist.spv", &ReadOptions::default()).unwrap_err();
    assert!(missing.to_string().starts_with("/does/not/exist.spv: "), "{missing}");
}

#[test]
fn raw_words_cost_the_lines_but_not_the_module() {
    let text = MINIMAL.replace("OpReturn\n", "!0x000100fd\n");
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let module = Module::from_text(&text, "x", &options).unwrap();
    assert!(module.instructions().all(|one| one.line == 0) || module.line(0) == 2);
}

#[test]
fn a_text_without_a_version_is_read_for_the_newest_that_it_is_valid_in() {
    let text = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%block = OpTypeStruct %uint
%pointer_block = OpTypePointer Uniform %block
%pointer = OpTypePointer Uniform %uint
%buffer = OpVariable %pointer_block Uniform
%main = OpFunction %void None %function
%entry = OpLabel
%member = OpAccessChain %pointer %buffer %zero
OpStore %member %zero
OpReturn
OpFunctionEnd
";
    let version =
        |text: &str| Module::from_text(text, "test", &ReadOptions::default()).map(|module| module.words[1]);
    assert_eq!(version(text).ok(), Some(0x0001_0300));
    let modern = text
        .replace("BufferBlock", "Block")
        .replace("Uniform ", "StorageBuffer ")
        .replace("_block Uniform", "_block StorageBuffer");
    let modern = modern.replace("\"main\"", "\"main\" %buffer");
    assert_eq!(version(&modern).ok(), Some(0x0001_0600));
    // What the text says holds.
    assert!(version(&format!("; Version: 1.6\n{text}")).is_err());
}

#[test]
fn an_opcode_that_nobody_knows_is_named_with_its_instruction() {
    // OpFDot2MixAcc32VALVE (SPV_VALVE_mixed_float_dot_product), behind OpLabel.
    let mut words = read(MINIMAL).unwrap().words;
    let end = words.len() - 2;
    words.splice(end..end, [6 << 16 | 6916, 1, 20, 2, 2, 3]);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for lenient in [false, true] {
        let options = ReadOptions { lenient, ..ReadOptions::default() };
        let error = Module::from_bytes(&bytes, "test.spv", &options).err().map(|error| error.to_string());
        let error = error.expect("the module is refused");
        assert!(error.contains("6916 (first: instruction 9)"), "{error}");
    }
}

#[test]
fn what_is_known_to_be_valid_has_the_same_lines_and_is_disassembled_when_asked() {
    let text = |name: &str| MINIMAL.replace("%void = ", &format!("OpName %main \"{name}\"\n%void = "));
    for (name, is_pending) in [("a", true), ("two\nlines", false)] {
        let words = read(&text(name)).unwrap().words;
        let eager = Module::from_words(words.clone(), "x", &ReadOptions::default()).unwrap();
        let valid = ReadOptions { is_valid: true, ..ReadOptions::default() };
        let lazy = Module::from_words(words, "x", &valid).unwrap();
        assert_eq!(lazy.text.is_pending(), is_pending);
        let lines = |module: &Module| -> Vec<Line> { module.instructions().map(|one| one.line).collect() };
        assert_eq!(lines(&lazy), lines(&eager));
        assert_eq!(lazy.text.as_str(), eager.text.as_str());
        assert_eq!(lazy.id_named("void"), eager.id_named("void"));
    }
}
