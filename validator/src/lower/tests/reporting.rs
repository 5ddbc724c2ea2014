use super::*;

fn unsupported(source: &str) -> Vec<(String, u32)> {
    match lower(&read_leniently(source), &LowerOptions::default()) {
        Err(LowerError::Unsupported(list)) => list.into_iter().map(|one| (one.what, one.line)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_unsupported_is_named_at_once() {
    let source = text(
        "%event = OpTypeEvent\n%ext = OpConstantNull %event",
        "%a = OpCopyObject %event %ext
         %b = OpExtInst %float %amd TimeAMD
         %c = OpDPdx %float %f1
         %d = OpCopyObject %event %a
         OpReturn",
    )
    .replace("OpExtension", "%amd = OpExtInstImport \"SPV_AMD_gcn_shader\"\nOpExtension");
    assert_eq!(
        unsupported(&source),
        [
            ("OpTypeEvent".to_owned(), line_of(&source, "OpTypeEvent")),
            ("OpExtInst SPV_AMD_gcn_shader TimeAMD".to_owned(), line_of(&source, "TimeAMD")),
            ("OpDPdx".to_owned(), line_of(&source, "OpDPdx")),
        ]
    );
}

#[test]
fn what_is_not_reached_is_not_reported() {
    let source = text("%event = OpTypeEvent", "OpReturn");
    assert!(lower(&read_leniently(&source), &LowerOptions::default()).is_ok());
}

#[test]
fn entry_points_are_chosen_by_name() {
    let source = text("", "OpReturn").replace(
        "OpExecutionMode %main",
        "OpEntryPoint GLCompute %main \"other\" %buffer %local_id\nOpExecutionMode %main",
    );
    let module = read(&source);
    let choose = |entry: Option<&str>| {
        lower(&module, &LowerOptions { entry: entry.map(str::to_owned), ..LowerOptions::default() })
    };
    assert_eq!(choose(Some("other")).unwrap().entry.name, "other");
    assert_eq!(
        choose(None).unwrap_err(),
        LowerError::SeveralEntryPoints(vec!["main".to_owned(), "other".to_owned()])
    );
    assert_eq!(
        choose(Some("x")).unwrap_err().to_string(),
        "there is no entry point `x`; there are: main, other"
    );
    assert_eq!(entry_points(&module).len(), 2);
}

#[test]
fn a_module_without_entry_point_is_told() {
    let source = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n";
    assert_eq!(lower(&read(source), &LowerOptions::default()).unwrap_err(), LowerError::NoEntryPoint);
}

#[test]
fn recursion_is_invalid() {
    let declarations = "%callee = OpFunction %void None %function
        %c = OpLabel
        %r = OpFunctionCall %void %callee
        OpReturn
        OpFunctionEnd";
    let source = text(declarations, "%x = OpFunctionCall %void %callee\nOpReturn");
    let Err(LowerError::Invalid { line, message }) =
        lower(&read_leniently(&source), &LowerOptions::default())
    else {
        panic!()
    };
    assert_eq!(line, line_of(&source, "%callee = OpFunction"));
    assert!(message.contains("recursively"), "{message}");
}

#[test]
fn a_loop_with_two_entries_is_unsupported() {
    let source =
        text("", "OpBranchConditional %true %a %b\n%a = OpLabel\nOpBranch %b\n%b = OpLabel\nOpBranch %a");
    assert_eq!(
        unsupported(&source),
        [("a loop with several entries".to_owned(), line_of(&source, "%a = OpLabel"))]
    );
}

#[test]
fn non_semantic_instructions_are_ignored() {
    let source = text("", "%n = OpExtInst %void %set 1 %u1\nOpLine %file 1 1\nOpNop\nOpReturn").replace(
        "OpMemoryModel",
        "OpExtension \"SPV_KHR_non_semantic_info\"\n%set = OpExtInstImport \"NonSemantic.Test\"\nOpMemoryModel",
    ).replace("OpName %buffer", "%file = OpString \"f\"\nOpName %buffer");
    let program = lower(&read(&source), &LowerOptions::default()).unwrap();
    assert_eq!(operations(&program).len(), 1);
}

#[test]
fn modules_that_contradict_their_types_are_invalid() {
    for body in [
        "%x = OpIAdd %uint %u1 %f1\nOpReturn",
        "%x = OpCompositeExtract %uint %u1 3\nOpReturn",
        "%x = OpLoad %uint %u1\nOpReturn",
        "OpBranch %entry",
        "%x = OpFunctionCall %void %main %u1\nOpReturn",
        "OpStore %buffer %u1\nOpReturn",
        "%p = OpAccessChain %pointer_uint %buffer %u5\nOpReturn",
        "OpMemoryBarrier %f1 %u0\nOpReturn",
        "%x = OpVectorShuffle %uint2 %u1 %u1 0 0\nOpReturn",
    ] {
        let result = lower(&read_leniently(&text("", body)), &LowerOptions::default());
        let failed = matches!(result, Err(LowerError::Invalid { .. } | LowerError::Unsupported(_)));
        assert!(failed, "{body}: {result:?}");
    }
}

#[test]
fn a_function_with_an_unsupported_parameter_is_still_searched() {
    let declarations = "%event = OpTypeEvent
        %callee_type = OpTypeFunction %void %event
        %callee = OpFunction %void None %callee_type
        %p = OpFunctionParameter %event
        %c = OpLabel
        %q = OpDPdx %float %f1
        OpReturn
        OpFunctionEnd";
    let source = text(declarations, "%h = OpUndef %event\n%r = OpFunctionCall %void %callee %h\nOpReturn");
    assert_eq!(
        unsupported(&source),
        [
            ("OpTypeEvent".to_owned(), line_of(&source, "OpTypeEvent")),
            ("OpDPdx".to_owned(), line_of(&source, "OpDPdx")),
        ]
    );
}

#[test]
fn sequential_consistency_is_an_error_in_the_vulkan_model() {
    let source = text("%seq_cst = OpConstant %uint 0x50", "OpMemoryBarrier %u2 %seq_cst\nOpReturn");
    let lowered = lower(&read_leniently(&source), &LowerOptions::default());
    assert!(matches!(lowered, Err(LowerError::Invalid { .. })), "{lowered:?}");
    let source = source.replace("Logical Vulkan", "Logical GLSL450");
    assert!(lower(&read_leniently(&source), &LowerOptions::default()).is_ok());
}
