//! Leaving loops that never end, in modules of text.

use super::*;
use crate::lower::{lower, LowerOptions};
use crate::module::{Module, ReadOptions};

const HEAD: &str = r#"
OpCapability Shader
OpCapability VulkanMemoryModel
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %buffer %private %other
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpDecorate %array ArrayStride 4
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%pair = OpTypeVector %uint 2
%function = OpTypeFunction %void
%true = OpConstantTrue %bool
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u3 = OpConstant %uint 3
%u4 = OpConstant %uint 4
%u5 = OpConstant %uint 5
%u6 = OpConstant %uint 6
%u7 = OpConstant %uint 7
%u8 = OpConstant %uint 8
%u72 = OpConstant %uint 72
%array = OpTypeArray %uint %u8
%Block = OpTypeStruct %array
%local = OpTypePointer Function %uint
%local_pair = OpTypePointer Function %pair
%own = OpTypePointer Private %uint
%taking_local = OpTypeFunction %void %local
%pointer_block = OpTypePointer StorageBuffer %Block
%pointer = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pointer_block StorageBuffer
%private = OpVariable %own Private %u6
%other = OpVariable %own Private %u7
"#;

/// Stores a value to the word of this number, which nothing else names.
fn put(word: u32, value: &str) -> String {
    format!("%p{word} = OpAccessChain %pointer %buffer %u0 %u{word}\nOpStore %p{word} {value}\n")
}

/// A valid module whose entry point has this body, behind these functions.
pub(super) fn module(functions: &str, body: &str) -> Builder {
    let module = read(functions, body);
    assert!(module.objection.is_none(), "{:?}", module.objection);
    build(&module)
}

fn read(functions: &str, body: &str) -> Module {
    let text = format!(
        "{HEAD}{functions}\n%main = OpFunction %void None %function\n%entry = OpLabel\n{body}\nOpFunctionEnd\n"
    );
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    Module::from_text(&text, "test.spvasm", &options).unwrap()
}

fn build(module: &Module) -> Builder {
    let mut builder = Builder::new(0);
    builder.program = lower(module, &LowerOptions::default()).unwrap();
    let shared = |variable: &Variable| variable.class == StorageClass::StorageBuffer;
    builder.dispatch.object_of =
        builder.program.variables.iter().map(|variable| vec![shared(variable).then_some(0)]).collect();
    builder.object(32);
    builder.dispatch.objects[0].initial = vec![Byte::Known(0); 32];
    builder
}

/// A word of memory; none where a byte is undefined.
pub(super) fn word_at(memory: &TestMemory, number: usize) -> Option<u32> {
    let bytes = memory.objects[0][4 * number..4 * number + 4].iter();
    let known = bytes.map(|byte| match byte {
        Byte::Known(byte) => Some(*byte),
        Byte::Undef => None,
    });
    let bytes = known.collect::<Option<Vec<u8>>>()?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// Runs to the loop that never ends; returns where it is.
fn endless(builder: &Builder, invocation: &mut Invocation, memory: &mut TestMemory) -> (u32, LoopId) {
    loop {
        match builder.run(invocation, memory) {
            Stop::LoopEntry { .. } => {}
            Stop::Forever { function_depth, loop_id, has_effects, .. } => {
                assert!(!has_effects);
                return (function_depth, loop_id);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Leaves every loop that never ends; returns what memory holds in the end, and whether the last of them ended the
/// invocation.
fn leave_all(builder: &Builder) -> (Vec<Option<u32>>, bool) {
    let mut invocation = builder.start();
    let mut memory = builder.memory(true);
    let mut ended = false;
    loop {
        match builder.run(&mut invocation, &mut memory) {
            Stop::Forever { function_depth, loop_id, .. } => {
                let left = invocation.leave_loop(&builder.program, function_depth, loop_id);
                ended = left == Some(LeftLoop::Ended);
            }
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
            Stop::Finished => break,
            other => panic!("{other:?}"),
        }
    }
    ((0..8).map(|number| word_at(&memory, number)).collect(), ended)
}

#[test]
fn values_of_the_loop_are_undefined_behind_it() {
    let body = format!(
        "%before = OpIAdd %uint %u2 %u3
         OpBranch %header
         %header = OpLabel
         %i = OpPhi %uint %u4 %entry %next %continue
         OpLoopMerge %merge %continue None
         OpBranchConditional %true %body %merge
         %body = OpLabel
         %both = OpCompositeConstruct %pair %u1 %u2
         OpBranch %continue
         %continue = OpLabel
         %next = OpBitwiseXor %uint %i %u1
         OpBranch %header
         %merge = OpLabel
         {}{}{}
         OpReturn",
        put(0, "%before"),
        put(1, "%i"),
        put(2, "%u3")
    );
    let builder = module("", &body);
    let (words, ended) = leave_all(&builder);
    assert!(!ended);
    assert_eq!(words[..4], [Some(5), None, Some(3), Some(0)]);
    let exit = &builder.program.functions[0].loops[0].exit;
    // The φ, the vector and the sum.
    assert_eq!(exit.undefined.iter().map(|(_, width)| *width).collect::<Vec<_>>(), [32; 4]);
    assert!(exit.stored.is_empty() && !exit.may_have_effects);
}

#[test]
fn a_phi_of_the_merge_block_keeps_only_what_every_way_brings_from_before_the_loop() {
    let body = format!(
        "%before = OpIAdd %uint %u2 %u3
         OpBranch %header
         %header = OpLabel
         %i = OpPhi %uint %u4 %entry %next %continue
         %c = OpIEqual %bool %i %u8
         OpLoopMerge %merge %continue None
         OpBranchConditional %c %merge %body
         %body = OpLabel
         OpBranchConditional %c %merge %continue
         %continue = OpLabel
         %next = OpBitwiseXor %uint %i %u1
         OpBranch %header
         %merge = OpLabel
         %same = OpPhi %uint %before %header %before %body
         %constant = OpPhi %uint %u1 %header %u1 %body
         %differs = OpPhi %uint %before %header %u1 %body
         %made = OpPhi %uint %i %header %i %body
         {}{}{}{}
         OpReturn",
        put(0, "%same"),
        put(1, "%constant"),
        put(2, "%differs"),
        put(3, "%made")
    );
    assert_eq!(leave_all(&module("", &body)).0[..4], [Some(5), Some(1), None, None]);
}

#[test]
fn variables_that_the_loop_stores_to_are_undefined_behind_it() {
    let body = format!(
        "%whole = OpVariable %local Function %u1
         %part = OpVariable %local_pair Function
         %kept = OpVariable %local Function %u2
         %never = OpVariable %local Function %u3
         %x_of_part = OpAccessChain %local %part %u0
         %y_of_part = OpAccessChain %local %part %u1
         OpStore %x_of_part %u1
         OpStore %y_of_part %u1
         OpBranch %header
         %header = OpLabel
         %k = OpLoad %uint %kept
         %c = OpIEqual %bool %k %u8
         OpLoopMerge %merge %continue None
         OpBranchConditional %c %merge %body
         %body = OpLabel
         OpStore %whole %u1
         OpStore %x_of_part %u1
         OpStore %private %u6
         OpSelectionMerge %joined None
         OpBranchConditional %c %then %joined
         %then = OpLabel
         OpStore %never %u4
         OpBranch %joined
         %joined = OpLabel
         OpBranch %continue
         %continue = OpLabel
         OpBranch %header
         %merge = OpLabel
         %w = OpLoad %uint %whole
         %y = OpLoad %uint %y_of_part
         %kk = OpLoad %uint %kept
         %n = OpLoad %uint %never
         %pr = OpLoad %uint %private
         %o = OpLoad %uint %other
         {}{}{}{}{}{}
         OpReturn",
        put(0, "%w"),
        put(1, "%y"),
        put(2, "%kk"),
        put(3, "%n"),
        put(4, "%pr"),
        put(5, "%o")
    );
    let (words, _) = leave_all(&module("", &body));
    assert_eq!(words[..6], [None, None, Some(2), None, None, Some(7)]);
}

/// `store(p)` stores to what `p` leads to by way of another function, and to a Private variable.
const STORING: &str = "%inner = OpFunction %void None %taking_local
     %q = OpFunctionParameter %local
     %in_inner = OpLabel
     OpStore %q %u1
     OpReturn
     OpFunctionEnd
     %store = OpFunction %void None %taking_local
     %p = OpFunctionParameter %local
     %in_store = OpLabel
     %scratch = OpVariable %local Function
     OpStore %scratch %u1
     OpStore %private %u6
     %ignored = OpFunctionCall %void %inner %p
     OpReturn
     OpFunctionEnd";

#[test]
fn variables_that_called_functions_store_to_are_undefined_behind_the_loop() {
    let body = format!(
        "%passed = OpVariable %local Function %u1
         %elsewhere = OpVariable %local Function %u2
         %first = OpFunctionCall %void %store %elsewhere
         OpBranch %header
         %header = OpLabel
         OpLoopMerge %merge %continue None
         OpBranchConditional %true %continue %merge
         %continue = OpLabel
         %call = OpFunctionCall %void %store %passed
         OpBranch %header
         %merge = OpLabel
         %v = OpLoad %uint %passed
         %e = OpLoad %uint %elsewhere
         %pr = OpLoad %uint %private
         %o = OpLoad %uint %other
         {}{}{}{}
         OpReturn",
        put(0, "%v"),
        put(1, "%e"),
        put(2, "%pr"),
        put(3, "%o")
    );
    let builder = module(STORING, &body);
    assert_eq!(leave_all(&builder).0[..4], [None, Some(1), None, Some(7)]);
    assert!(!builder.program.functions[0].loops[0].exit.may_have_effects);
}

#[test]
fn a_loop_of_a_function_stores_through_its_parameter() {
    let functions = "%poll = OpFunction %void None %taking_local
         %p = OpFunctionParameter %local
         %in_poll = OpLabel
         OpBranch %header
         %header = OpLabel
         OpLoopMerge %merge %continue None
         OpBranchConditional %true %continue %merge
         %continue = OpLabel
         OpStore %p %u1
         OpBranch %header
         %merge = OpLabel
         OpReturn
         OpFunctionEnd";
    let body = format!(
        "%passed = OpVariable %local Function %u1
         %kept = OpVariable %local Function %u2
         %call = OpFunctionCall %void %poll %passed
         %v = OpLoad %uint %passed
         %k = OpLoad %uint %kept
         {}{}
         OpReturn",
        put(0, "%v"),
        put(1, "%k")
    );
    assert_eq!(leave_all(&module(functions, &body)).0[..2], [None, Some(2)]);
}

/// A loop around an endless one, both with a merge block that goes on or, of the inner one, does not.
fn nested(inner_merge: &str) -> Builder {
    let body = format!(
        "OpBranch %outer
         %outer = OpLabel
         %i = OpPhi %uint %u0 %entry %next %outer_continue
         %c = OpULessThan %bool %i %u2
         OpLoopMerge %outer_merge %outer_continue None
         OpBranchConditional %c %before %outer_merge
         %before = OpLabel
         OpBranch %inner
         %inner = OpLabel
         OpLoopMerge %inner_merge %inner None
         OpBranch %inner
         %inner_merge = OpLabel
         {inner_merge}
         %outer_continue = OpLabel
         %next = OpIAdd %uint %i %u1
         OpBranch %outer
         %outer_merge = OpLabel
         {}
         OpReturn",
        put(0, "%u5")
    );
    module("", &body)
}

#[test]
fn a_merge_block_that_no_branch_leads_to_is_gone_on_at() {
    let builder = nested("OpBranch %outer_continue");
    let mut invocation = builder.start();
    let mut memory = builder.memory(true);
    for _ in 0..2 {
        let (depth, id) = endless(&builder, &mut invocation, &mut memory);
        let around: Vec<_> = invocation
            .active_loops(&builder.program)
            .iter()
            .map(|one| (one.function_depth, one.loop_id))
            .collect();
        assert_eq!(around, [(depth, id), (0, LoopId(0))]);
        assert_eq!(id, LoopId(1));
        assert_eq!(invocation.leave_loop(&builder.program, depth, id), Some(LeftLoop::WentOn));
        // A matter of choice for the loop around.
        let stop = builder.run(&mut invocation, &mut memory);
        let Stop::Iteration { function_depth: 0, loop_id: LoopId(0), chosen: true, .. } = stop else {
            panic!("{stop:?}")
        };
    }
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
    assert_eq!(word_at(&memory, 0), Some(5));
}

#[test]
fn where_there_is_no_merge_block_to_go_on_at_the_invocation_ends() {
    for (merge, behind) in [
        ("OpLoopMerge %merge %header None", "%merge = OpLabel\nOpUnreachable"),
        // As no shader has it.
        ("", ""),
    ] {
        let body = format!(
            "{}OpBranch %header\n%header = OpLabel\n{merge}\nOpBranch %header\n{behind}",
            put(0, "%u5")
        );
        let builder = build(&read("", &body));
        let (words, ended) = leave_all(&builder);
        assert!(ended);
        assert_eq!(words[0], Some(5));
        // The merge block is no code.
        assert_eq!(builder.program.functions[0].blocks.len(), 2);
    }
}

#[test]
fn an_outer_loop_may_be_left_from_an_inner_one() {
    let builder = nested("OpUnreachable\n%gone = OpLabel\nOpBranch %outer_continue");
    // Without a way back the outer one is no loop.
    let mut invocation = builder.start();
    endless(&builder, &mut invocation, &mut builder.memory(true));
    assert_eq!(invocation.active_loops(&builder.program).len(), 1);

    let builder = nested("OpBranch %outer_continue");
    let mut memory = builder.memory(true);
    let mut invocation = builder.start();
    endless(&builder, &mut invocation, &mut memory);
    assert_eq!(invocation.leave_loop(&builder.program, 0, LoopId(0)), Some(LeftLoop::WentOn));
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
    assert_eq!(word_at(&memory, 0), Some(5));
    // It is in no loop any more.
    assert_eq!(invocation.leave_loop(&builder.program, 0, LoopId(0)), None);
}

#[test]
fn a_callers_loop_may_be_left_from_a_called_function() {
    let functions = "%poll = OpFunction %void None %taking_local
         %p = OpFunctionParameter %local
         %in_poll = OpLabel
         %scratch = OpVariable %local Function
         OpBranch %header
         %header = OpLabel
         OpLoopMerge %merge %header None
         OpBranch %header
         %merge = OpLabel
         OpUnreachable
         OpFunctionEnd";
    let body = format!(
        "%passed = OpVariable %local Function %u1
         OpBranch %header_of_main
         %header_of_main = OpLabel
         {}
         %call = OpFunctionCall %void %poll %passed
         OpLoopMerge %merge_of_main %header_of_main None
         OpBranchConditional %true %header_of_main %merge_of_main
         %merge_of_main = OpLabel
         %v = OpLoad %uint %passed
         {}
         OpReturn",
        put(1, "%u1"),
        put(0, "%v")
    );
    let builder = module(functions, &body);
    let mut memory = builder.memory(true);
    let mut invocation = builder.start();
    assert_eq!(endless(&builder, &mut invocation, &mut memory), (1, LoopId(0)));
    let around = invocation.active_loops(&builder.program);
    let described = |one: &ActiveLoop| (one.function_depth, one.loop_id, one.has_effects);
    assert_eq!(
        around.iter().map(described).collect::<Vec<_>>(),
        [(1, LoopId(0), false), (0, LoopId(0), true)]
    );
    assert_eq!(invocation.clone().leave_loop(&builder.program, 1, LoopId(0)), Some(LeftLoop::Ended));
    assert_eq!(invocation.leave_loop(&builder.program, 0, LoopId(0)), Some(LeftLoop::WentOn));
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
    assert_eq!(word_at(&memory, 0), Some(1));
    assert!(builder.program.functions[0].loops[0].exit.may_have_effects);
}

#[test]
fn effects_are_what_others_or_the_outside_can_tell() {
    let has_effects = |instruction: &str| {
        let body = format!(
            "%whole = OpVariable %local Function %u1
             OpBranch %header
             %header = OpLabel
             %place = OpAccessChain %pointer %buffer %u0 %u0
             {instruction}
             OpLoopMerge %merge %header None
             OpBranchConditional %true %header %merge
             %merge = OpLabel
             OpReturn"
        );
        let builder = module("", &body);
        let (mut invocation, mut memory) = (builder.start(), builder.memory(true));
        let dynamic = loop {
            match builder.run(&mut invocation, &mut memory) {
                Stop::Forever { has_effects, .. } => break has_effects,
                Stop::LoopEntry { .. } => {}
                // It has events, which this memory does not settle.
                _ => break invocation.active_loops(&builder.program)[0].has_effects,
            }
        };
        assert_eq!(builder.program.functions[0].loops[0].exit.may_have_effects, dynamic, "{instruction}");
        dynamic
    };
    assert!(!has_effects(""));
    assert!(!has_effects("%r = OpLoad %uint %place"));
    assert!(!has_effects("%r = OpLoad %uint %place MakePointerVisible|NonPrivatePointer %u5"));
    assert!(!has_effects("OpStore %private %u1"));
    assert!(!has_effects("OpCopyMemory %whole %private"));
    assert!(has_effects("%r = OpLoad %uint %place Volatile"));
    assert!(has_effects("OpStore %place %u0"));
    assert!(has_effects("OpCopyMemory %place %private"));
    assert!(has_effects("OpCopyMemory %whole %place Volatile"));
    assert!(has_effects("%r = OpAtomicLoad %uint %place %u5 %u0"));
    assert!(has_effects("OpMemoryBarrier %u5 %u72"));
    assert!(has_effects("OpControlBarrier %u2 %u5 %u72"));
}

#[test]
fn behind_a_loop_that_was_left_invocations_are_together_again() {
    let functions = "%poll = OpFunction %void None %function
         %in_poll = OpLabel
         OpBranch %header
         %header = OpLabel
         %place = OpAccessChain %pointer %buffer %u0 %u7
         %r = OpLoad %uint %place
         %c = OpIEqual %bool %r %u0
         OpLoopMerge %merge %continue None
         OpBranchConditional %c %continue %merge
         %continue = OpLabel
         OpBranch %header
         %merge = OpLabel
         OpReturn
         OpFunctionEnd";
    let body = "OpBranch %header_of_main
         %header_of_main = OpLabel
         %call = OpFunctionCall %void %poll
         OpLoopMerge %merge_of_main %continue_of_main None
         OpBranchConditional %true %merge_of_main %continue_of_main
         %continue_of_main = OpLabel
         OpBranch %header_of_main
         %merge_of_main = OpLabel
         OpReturn";
    let mut builder = module(functions, body);
    builder.program.modes.tangles = true;
    builder.program.modes.maximally_reconverges = true;
    let mut memory = builder.memory(true);
    let ended = |memory: &mut TestMemory, left: Option<u32>| {
        let mut invocation = builder.start();
        if let Some(depth) = left {
            endless(&builder, &mut invocation, memory);
            let left = invocation.leave_loop(&builder.program, depth, LoopId(0));
            assert_eq!(left, Some(LeftLoop::WentOn));
        }
        while let stop @ (Stop::LoopEntry { .. } | Stop::Iteration { .. } | Stop::Finished) =
            builder.run(&mut invocation, memory)
        {
            if let Stop::Finished = stop {
                return invocation.convergence().map(Convergence::now);
            }
        }
        None
    };
    let (own, callers) = (ended(&mut memory, Some(1)), ended(&mut memory, Some(0)));
    memory.objects[0][28] = Byte::Known(1);
    let broke = ended(&mut memory, None);
    assert!(broke.is_some());
    assert_eq!([own, callers], [broke; 2]);
}

/// A loop without a way out that counts in a register and in a variable, and does this in each turn.
fn counting(each_turn: &str) -> Builder {
    let body = format!(
        "%counter = OpVariable %local Function %u0
         %place = OpAccessChain %pointer %buffer %u0 %u7
         OpBranch %header
         %header = OpLabel
         %i = OpPhi %uint %u0 %entry %next %continue
         OpLoopMerge %merge %continue None
         OpBranch %body
         %body = OpLabel
         %c = OpLoad %uint %counter
         %more = OpIAdd %uint %c %u1
         OpStore %counter %more
         {each_turn}
         OpBranch %continue
         %continue = OpLabel
         %next = OpIAdd %uint %i %u1
         OpBranch %header
         %merge = OpLabel
         OpReturn"
    );
    module("", &body)
}

fn first_stop_settled(builder: &Builder) -> (Invocation, Stop) {
    let (mut invocation, mut memory) = (builder.start(), builder.memory(true));
    loop {
        match builder.run(&mut invocation, &mut memory) {
            Stop::LoopEntry { .. } => {}
            stop => return (invocation, stop),
        }
    }
}

#[test]
fn counters_that_only_count_do_not_hide_that_a_loop_is_endless() {
    // A read may communicate, so that the loop is run until a state comes again.
    let (_, stop) = first_stop_settled(&counting("%r = OpLoad %uint %place"));
    assert!(matches!(stop, Stop::Forever { has_effects: false, .. }), "{stop:?}");
    // The division by zero will come.
    let dividing = |count: &str| {
        let text = format!(
            "%r = OpLoad %uint %place\n%left = OpISub %uint %u72 {count}\n%q = OpUDiv %uint %u1 %left"
        );
        first_stop_settled(&counting(&text)).1
    };
    for count in ["%i", "%c"] {
        assert_eq!(fault_of(&dividing(count)).map(|(kind, _)| kind), Some(UndefinedKind::DivisionByZero));
    }
    // What a branch depends on is no mere counter.
    let (_, stop) = first_stop_settled(&counting(
        "%r = OpLoad %uint %place
         %d = OpIEqual %bool %i %r
         OpSelectionMerge %join None
         OpBranchConditional %d %then %join
         %then = OpLabel
         OpBranch %join
         %join = OpLabel",
    ));
    assert!(matches!(stop, Stop::OutOfFuel), "{stop:?}");
}

#[test]
fn a_loop_that_nothing_leads_out_of_is_endless_at_once() {
    let branching = "%d = OpULessThan %bool %i %more
         OpSelectionMerge %join None
         OpBranchConditional %d %then %join
         %then = OpLabel
         OpStore %private %i
         OpBranch %join
         %join = OpLabel";
    let (invocation, stop) = first_stop_settled(&counting(branching));
    assert!(matches!(stop, Stop::Forever { has_effects: false, .. }), "{stop:?}");
    assert!(invocation.executed() < 50);
    let sealed = |each_turn: &str| counting(each_turn).program.functions[0].loops[0].exit.sealed;
    assert!(sealed("") && sealed(branching));
    assert!(!sealed("%r = OpLoad %uint %place"));
    assert!(!sealed("%q = OpUDiv %uint %u1 %i"));
    assert!(!sealed("OpStore %place %i"));
    assert!(!sealed("%d = OpIEqual %bool %i %u8\nOpBranchConditional %d %merge %on\n%on = OpLabel"));
    assert!(!sealed(
        "%d = OpIEqual %bool %i %u8
         OpSelectionMerge %on None
         OpBranchConditional %d %out %on
         %out = OpLabel
         OpReturn
         %on = OpLabel"
    ));
}

#[test]
fn the_ends_of_inner_loops_are_not_hidden_by_an_outer_one() {
    let sealed = |merge: &str| {
        let body = format!(
            "OpBranch %outer
             %outer = OpLabel
             OpLoopMerge %outer_merge %outer_continue None
             OpBranch %inner
             %inner = OpLabel
             %c = OpIEqual %bool %u0 %u1
             OpLoopMerge %inner_merge %inner_continue None
             OpBranchConditional %c %outer_continue %inner_continue
             %inner_continue = OpLabel
             OpBranch %inner
             %inner_merge = OpLabel
             {merge}
             %outer_continue = OpLabel
             OpBranch %outer
             %outer_merge = OpLabel
             OpReturn"
        );
        let builder = build(&read("", &body));
        let loops = &builder.program.functions[0].loops;
        assert!(loops.len() == 2 && !loops[1].exit.sealed);
        loops[0].exit.sealed
    };
    assert!(sealed("OpBranch %outer_continue"));
    assert!(!sealed("OpUnreachable"));
}

/// All ends of an invocation, over all choices: which are endless.
fn ends_of_choices(builder: &Builder) -> Vec<bool> {
    let mut open = vec![builder.start()];
    let mut ends = Vec::new();
    while let Some(mut invocation) = open.pop() {
        assert!(ends.len() + open.len() < 100);
        match builder.run(&mut invocation, &mut builder.memory(true)) {
            Stop::Choose { ways, .. } => {
                for way in 0..ways {
                    let mut copy = invocation.clone();
                    copy.choose(way);
                    open.push(copy);
                }
            }
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => open.push(invocation),
            Stop::Finished => ends.push(false),
            Stop::Forever { has_effects: false, .. } => ends.push(true),
            other => panic!("{other:?}"),
        }
    }
    ends.sort_unstable();
    ends.dedup();
    ends
}

#[test]
fn an_undefined_condition_may_go_on_for_ever_and_may_not() {
    let looping = |phi: &str, each_turn: &str| {
        let body = format!(
            "%undef = OpUndef %uint
             %place = OpAccessChain %pointer %buffer %u0 %u7
             OpBranch %header
             %header = OpLabel
             {phi}
             {each_turn}
             %c = OpIEqual %bool %x %u0
             OpLoopMerge %merge %continue None
             OpBranch %continue
             %continue = OpLabel
             %flipped = OpBitwiseXor %uint %x %u1
             OpBranchConditional %c %header %merge
             %merge = OpLabel
             OpReturn"
        );
        ends_of_choices(&module("", &body))
    };
    let both = [false, true];
    assert_eq!(looping("%x = OpCopyObject %uint %undef", ""), both);
    // With a read, the way into the loop is told, too.
    assert_eq!(looping("%x = OpCopyObject %uint %undef", "%r = OpLoad %uint %place"), both);
    assert_eq!(looping("%x = OpPhi %uint %u0 %entry %undef %continue", ""), both);
    // A state that takes two turns to come again.
    let flag = "%f = OpPhi %uint %u0 %entry %g %continue\n%x = OpCopyObject %uint %undef";
    let flipped = "%g = OpBitwiseXor %uint %f %u1\n%by = OpIAdd %uint %f %u1\n%q = OpUDiv %uint %u1 %by";
    assert_eq!(looping(flag, flipped), both);
}

#[test]
fn what_only_the_exit_leads_to_is_not_forgotten_in_the_loop() {
    let body = format!(
        "%kept = OpVariable %local Function %u2
         %lost = OpVariable %local Function %u2
         %before = OpIAdd %uint %u2 %u3
         %place = OpAccessChain %pointer %buffer %u0 %u7
         OpBranch %header
         %header = OpLabel
         %r = OpLoad %uint %place
         OpStore %lost %r
         OpLoopMerge %merge %continue None
         OpBranch %continue
         %continue = OpLabel
         OpBranch %header
         %merge = OpLabel
         %k = OpLoad %uint %kept
         %l = OpLoad %uint %lost
         {}{}{}
         OpReturn",
        put(0, "%k"),
        put(1, "%before"),
        put(2, "%l")
    );
    let builder = module("", &body);
    assert_eq!(leave_all(&builder).0[..3], [Some(2), Some(5), None]);
    let function = &builder.program.functions[0];
    // What the loop stores to is undefined behind it.
    assert_eq!(function.loops[0].dead, [1]);
}
