use super::*;
use crate::module::ReadOptions;

const TEXT: &str = r#"OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%file = OpString "a.comp"
OpSource GLSL 450 %file "// a remark of the front end
#line 1
void f() {
  g();
}
"
OpSourceContinued "void main() { f(); }
"
OpName %main "main"
OpName %f "f("
%void = OpTypeVoid
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%entry = OpLabel
OpLine %file 4 3
%call = OpFunctionCall %void %f
OpReturn
OpFunctionEnd
%f = OpFunction %void None %type
%first = OpLabel
OpLine %file 2 1
OpBranch %second
%second = OpLabel
OpBranch %third
%third = OpLabel
OpLine %file 3 1
OpNoLine
OpReturn
OpFunctionEnd
"#;

fn module(text: &str) -> Module {
    Module::from_bytes(text.as_bytes(), "test.spvasm", &ReadOptions::default()).unwrap()
}

/// The line of the n-th line with these words.
fn line(text: &str, words: &str, number: usize) -> Line {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| text.contains(words));
    lines.map(|(line, _)| line).nth(number).unwrap()
}

#[test]
fn lines_hold_to_the_end_of_a_block_and_functions_have_names() {
    let places = Places::of(&module(TEXT));
    let told = |words: &str, number: usize| places.told(line(TEXT, words, number));
    assert_eq!(told("%call =", 0).as_deref(), Some("a.comp:4: void main() { f(); }"));
    // Of a source in two parts.
    assert_eq!(places.source("a.comp", 2), Some("g();"));
    assert_eq!(line_directive("#line 7 \"b.h\""), Some((7, Some("b.h"))));
    assert_eq!(told("OpBranch %second", 0).as_deref(), Some("a.comp:2 in f: g();"));
    // Behind the end of a block, and behind OpNoLine, nothing is known but the function.
    assert_eq!(told("OpBranch %third", 0).as_deref(), Some("in f"));
    assert_eq!(told("OpReturn", 1).as_deref(), Some("in f"));
    // In front of the first OpLine.
    assert_eq!(told("%entry =", 0), None);
}

const DEBUG: &str = r#"OpCapability Shader
OpExtension "SPV_KHR_non_semantic_info"
%set = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%file = OpString "b.hlsl"
%other = OpString "c.hlsli"
%source_text = OpString "one
two
three"
%outer_name = OpString "outer"
%inner_name = OpString "inner"
%leaf_name = OpString "leaf"
%empty = OpString ""
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u7 = OpConstant %uint 7
%u9 = OpConstant %uint 9
%u100 = OpConstant %uint 100
%source = OpExtInst %void %set DebugSource %file %source_text
%header = OpExtInst %void %set DebugSource %other
%unit = OpExtInst %void %set DebugCompilationUnit %u100 %u2 %source %u2
%debug_type = OpExtInst %void %set DebugTypeFunction %u0 %void
%outer = OpExtInst %void %set DebugFunction %outer_name %debug_type %source %u1 %u1 %unit %empty %u0 %u1
%inner = OpExtInst %void %set DebugFunction %inner_name %debug_type %header %u1 %u1 %unit %empty %u0 %u1
%leaf = OpExtInst %void %set DebugFunction %leaf_name %debug_type %header %u1 %u1 %unit %empty %u0 %u1
%block = OpExtInst %void %set DebugLexicalBlock %header %u1 %u1 %leaf
%in_outer = OpExtInst %void %set DebugInlinedAt %u7 %outer
%in_inner = OpExtInst %void %set DebugInlinedAt %u9 %inner %in_outer
%main = OpFunction %void None %type
%entry = OpLabel
%s1 = OpExtInst %void %set DebugScope %block %in_inner
%l1 = OpExtInst %void %set DebugLine %source %u2 %u2 %u0 %u0
%a = OpIAdd %uint %u1 %u1
%l2 = OpExtInst %void %set DebugNoLine
%b = OpIAdd %uint %u1 %u2
%s2 = OpExtInst %void %set DebugNoScope
%c = OpIAdd %uint %u1 %u7
OpReturn
OpFunctionEnd
"#;

#[test]
fn scopes_tell_functions_and_the_calls_by_which_they_were_inlined() {
    let places = Places::of(&module(DEBUG));
    let told = |words: &str| places.told(line(DEBUG, words, 0));
    let calls = "in leaf, inlined at c.hlsli:9 in inner, inlined at b.hlsl:7 in outer";
    assert_eq!(told("%a =").unwrap(), format!("b.hlsl:2 {calls}: two"));
    assert_eq!(told("%b =").unwrap(), calls);
    assert_eq!(told("%c ="), None);
}
