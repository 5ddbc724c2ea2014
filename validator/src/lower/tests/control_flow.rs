use super::*;
use crate::ir::{ControlOp, LoopId};

#[test]
fn phi_results_are_moved_on_the_edges() {
    let program = program(
        "",
        "%load = OpAccessChain %pointer_uint %buffer %u0
         %x = OpLoad %uint %load
         %c = OpIEqual %bool %x %u1
         OpSelectionMerge %join None
         OpBranchConditional %c %left %right
         %left = OpLabel
         OpBranch %join
         %right = OpLabel
         OpBranch %join
         %join = OpLabel
         %result = OpPhi %uint %u2 %left %x %right
         OpStore %load %result
         OpReturn",
    );
    let main = main_of(&program);
    assert_eq!(main.blocks.len(), 4);
    let edges: Vec<_> = main.code.iter().flat_map(|inst| inst.op.edges()).collect();
    assert_eq!(edges.iter().map(|edge| edge.target).collect::<Vec<_>>(), [1, 2, 3, 3]);
    assert_eq!(edges[0].moves, []);
    let [(to, value, 1)] = edges[2].moves[..] else { panic!("{:?}", edges[2]) };
    assert!(value.is_constant());
    let [(also_to, value, 1)] = edges[3].moves[..] else { panic!("{:?}", edges[3]) };
    assert!(!value.is_constant());
    assert_eq!(to, also_to);
    for (number, block) in main.blocks.iter().enumerate().skip(1) {
        let before = &main.code[block.start as usize - 1].op;
        assert!(matches!(before, Op::Control(_)), "block {number} starts after {before:?}");
    }
}

const LOOP: &str = "%place = OpAccessChain %pointer_uint %buffer %u0
    %x = OpLoad %uint %place
    %unused = OpIAdd %uint %x %u1
    OpBranch %header
    %header = OpLabel
    %i = OpPhi %uint %u0 %entry %next %continue
    OpLoopMerge %merge %continue None
    OpBranch %test
    %test = OpLabel
    %c = OpULessThan %bool %i %x
    OpSelectionMerge %body None
    OpBranchConditional %c %body %leave
    %body = OpLabel
    OpBranch %continue
    %continue = OpLabel
    %next = OpIAdd %uint %i %u1
    OpBranch %header
    %leave = OpLabel
    OpStore %place %i
    OpBranch %merge
    %merge = OpLabel
    OpReturn";

#[test]
fn loops_are_entered_and_repeated_by_edges() {
    let program = program("", LOOP);
    let main = main_of(&program);
    assert_eq!(main.loops.len(), 1);
    assert_eq!(main.loops[0].header, 1);
    let edges: Vec<_> = main.code.iter().flat_map(|inst| inst.op.edges()).collect();
    assert_eq!((edges[0].target, &edges[0].enters[..], edges[0].repeats), (1, &[LoopId(0)][..], None));
    let back = edges.iter().find(|edge| edge.repeats.is_some()).unwrap();
    assert_eq!((back.target, back.repeats, back.enters.len()), (1, Some(LoopId(0)), 0));
    // The block that breaks is in the loop, the merge block is not.
    let depths: Vec<usize> = main.blocks.iter().map(|block| block.loops.len()).collect();
    assert_eq!(depths, [0, 1, 1, 1, 1, 1, 0]);
}

#[test]
fn live_registers_of_a_loop_are_what_is_read_later() {
    let program = program("", LOOP);
    let main = main_of(&program);
    let destination = |wanted: fn(&Op) -> bool| find(&program, wanted).op.destination().unwrap();
    let x = destination(|op| matches!(op, Op::Memory(MemoryOp::Load { .. })));
    let chain = destination(|op| matches!(op, Op::Memory(MemoryOp::Chain(_))));
    let i = main.code.iter().flat_map(|inst| inst.op.edges()).find(|edge| !edge.moves.is_empty()).unwrap();
    let mut expected = vec![x, chain, chain + 1, i.moves[0].0];
    expected.sort_unstable();
    assert_eq!(main.loops[0].live, expected);
}

#[test]
fn dead_locals_of_a_loop_are_written_before_they_are_read() {
    let program = program(
        "%local = OpTypePointer Function %uint
         %pair = OpTypeArray %uint %u2
         %local_pair = OpTypePointer Function %pair",
        "%before = OpVariable %local Function
         %inside = OpVariable %local Function
         %sometimes = OpVariable %local Function
         %unread = OpVariable %local Function
         %counter = OpVariable %local Function
         %behind = OpVariable %local Function
         %copied = OpVariable %local Function
         %target = OpVariable %local Function
         %parts = OpVariable %local_pair Function
         OpStore %before %u1
         OpBranch %header
         %header = OpLabel
         OpLoopMerge %merge %continue None
         OpBranch %test
         %test = OpLabel
         %b = OpLoad %uint %before
         %c = OpULessThan %bool %b %u1
         OpStore %inside %b
         %i = OpLoad %uint %inside
         OpStore %unread %i
         %counted = OpLoad %uint %counter
         %more = OpIAdd %uint %counted %u1
         OpStore %counter %more
         OpStore %copied %i
         OpCopyMemory %target %copied
         %part = OpAccessChain %local %parts %u0
         OpStore %part %i
         OpSelectionMerge %body None
         OpBranchConditional %c %then %body
         %then = OpLabel
         OpStore %sometimes %i
         OpBranch %body
         %body = OpLabel
         %s = OpLoad %uint %sometimes
         OpStore %behind %s
         OpBranch %continue
         %continue = OpLabel
         OpBranchConditional %c %header %merge
         %merge = OpLabel
         %l = OpLoad %uint %behind
         %place = OpAccessChain %pointer_uint %buffer %u0
         OpStore %place %l
         OpReturn",
    );
    // What a copy reads or writes, or a chain leads into, is never dead. A counter that only counts is.
    let main = main_of(&program);
    assert_eq!(main.loops[0].dead, [1, 3, 4, 5]);
    // What is read behind the loop alone does not decide about its turns, nor does what goes into that alone.
    assert_eq!(main.loops[0].turns.dead, [1, 2, 3, 4, 5]);
}

#[test]
fn a_switch_has_its_cases_in_order() {
    let program = program(
        "",
        "OpSelectionMerge %join None
         OpSwitch %u5 %join 0 %zero 7 %seven 9 %zero
         %zero = OpLabel
         OpBranch %join
         %seven = OpLabel
         OpBranch %join
         %join = OpLabel
         OpReturn",
    );
    let Op::Control(ControlOp::Switch { width: 32, default, cases, .. }) = operations(&program)[0] else {
        panic!()
    };
    assert_eq!(default.target, 3);
    assert_eq!(
        cases.iter().map(|(literal, edge)| (*literal, edge.target)).collect::<Vec<_>>(),
        [(0, 1), (7, 2), (9, 1)]
    );
    assert_eq!(program.harvested, [0, 5, 7, 9]);
}

#[test]
fn calls_pass_registers_and_unreachable_functions_are_left_out() {
    let declarations = "%callee_type = OpTypeFunction %uint %uint
        %forgotten = OpFunction %void None %function
        %f = OpLabel
        OpReturn
        OpFunctionEnd
        %callee = OpFunction %uint None %callee_type
        %p = OpFunctionParameter %uint
        %c = OpLabel
        %q = OpIAdd %uint %p %u1
        OpReturnValue %q
        OpFunctionEnd";
    let program = program(declarations, "%r = OpFunctionCall %uint %callee %u5\nOpReturn");
    assert_eq!(program.functions.len(), 2);
    let Op::Control(ControlOp::Call { function, arguments, .. }) = operations(&program)[0] else { panic!() };
    let callee = &program.functions[function.0 as usize];
    assert_eq!(arguments.len(), 1);
    assert_eq!((callee.parameters[0].count, callee.parameters[0].declaration), (1, None));
    assert!(matches!(callee.code.last().unwrap().op, Op::Control(ControlOp::ReturnValue { count: 1, .. })));
}

#[test]
fn pointer_parameters_are_declarations_after_the_variables() {
    let declarations = "%callee_type = OpTypeFunction %void %pointer_block
        %callee = OpFunction %void None %callee_type
        %p = OpFunctionParameter %pointer_block
        %c = OpLabel
        %q = OpAccessChain %pointer_uint %p %u0
        OpStore %q %u1
        OpReturn
        OpFunctionEnd";
    let source = text(declarations, "%r = OpFunctionCall %void %callee %buffer\nOpReturn")
        .replace("OpDecorate %Block Block", "OpDecorate %Block Block\nOpDecorate %p Aliased");
    let program = lower(&read_leniently(&source), &LowerOptions::default()).unwrap();
    let callee = &program.functions[1];
    assert_eq!(program.variables.len(), 1);
    assert_eq!(callee.parameters[0].declaration, Some(1));
    assert!(callee.parameters[0].decorations.aliased);
    assert_eq!(callee.parameters[0].count, 2);
}

#[test]
fn unreachable_blocks_are_not_lowered() {
    let program = program(
        "",
        "OpReturn
         %dead = OpLabel
         %image = OpIAdd %uint %u1 %u1
         OpReturn",
    );
    assert_eq!(main_of(&program).blocks.len(), 1);
}
