//! Branches, φ, switches, calls, fuel.

use super::*;

/// Sets register 0 to a number and returns.
fn result(number: Operand) -> Vec<Op> {
    vec![Op::Copy { dst: 0, a: number, count: 1 }, Op::Control(ControlOp::Return)]
}

fn conditional(condition: Scalar) -> Builder {
    let mut builder = Builder::new(1);
    let condition = builder.constant(condition);
    let (one, two) = (builder.number(1), builder.number(2));
    let ways = ControlOp::BranchConditional { condition, yes: jump(1), no: jump(2) };
    builder.block(0, &[], vec![Op::Control(ways)]);
    builder.block(0, &[], result(one));
    builder.block(0, &[], result(two));
    builder
}

#[test]
fn branches() {
    assert_eq!(conditional(Scalar::new(1)).finish(), [Scalar::new(1)]);
    assert_eq!(conditional(Scalar::new(0)).finish(), [Scalar::new(2)]);
    assert_eq!(conditional(Scalar::undefined(1)).every_way(0), [2, 1].map(Scalar::new));
}

#[test]
fn an_undefined_condition_between_equal_ways_does_not_choose() {
    let mut builder = Builder::new(1);
    let condition = builder.constant(Scalar::undefined(1));
    let one = builder.number(1);
    let ways = ControlOp::BranchConditional { condition, yes: jump(1), no: jump(1) };
    builder.block(0, &[], vec![Op::Control(ways)]);
    builder.block(0, &[], result(one));
    assert_eq!(builder.finish(), [Scalar::new(1)]);
}

/// Cases 0 and 1 go to block 2, case 6 to block 3, the rest to block 1.
fn switch(selector: Scalar) -> Builder {
    let mut builder = Builder::new(1);
    let selector = builder.constant(selector);
    let numbers = [10, 20, 30].map(|number| builder.number(number));
    builder.block(
        0,
        &[],
        vec![Op::Control(ControlOp::Switch {
            selector,
            width: 32,
            default: jump(1),
            cases: vec![(0, jump(2)), (1, jump(2)), (6, jump(3))],
        })],
    );
    for number in numbers {
        builder.block(0, &[], result(number));
    }
    builder
}

#[test]
fn switches() {
    assert_eq!(switch(Scalar::new(1)).finish(), [Scalar::new(20)]);
    assert_eq!(switch(Scalar::new(6)).finish(), [Scalar::new(30)]);
    assert_eq!(switch(Scalar::new(2)).finish(), [Scalar::new(10)]);
}

#[test]
fn an_undefined_selector_takes_each_reachable_target_once() {
    let ways = |selector| switch(selector).every_way(0);
    assert_eq!(ways(Scalar::undefined(32)), [10, 20, 30].map(Scalar::new));
    // 0 and 1 only: one target, and the default is out of reach.
    assert_eq!(ways(Scalar { bits: 0, undef: 1 }), [20].map(Scalar::new));
    // 4, 5, 6, 7
    assert_eq!(ways(Scalar { bits: 4, undef: 3 }), [10, 30].map(Scalar::new));
}

#[test]
fn phis_move_in_parallel() {
    let mut builder = Builder::new(4);
    let (one, two) = (builder.number(1), builder.number(2));
    builder.block(
        0,
        &[],
        vec![
            Op::Copy { dst: 0, a: one, count: 1 },
            Op::Copy { dst: 1, a: two, count: 1 },
            Op::Copy { dst: 2, a: one, count: 1 },
            branch(Edge { moves: vec![(0, register(1), 2), (2, register(0), 1)], ..jump(1) }),
        ],
    );
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    assert_eq!(builder.finish()[0..3], [2, 1, 1].map(Scalar::new));
}

/// A function that returns its argument plus one; it has a local.
fn add_increment(builder: &mut Builder, shape: ShapeId) {
    let one = builder.number(1);
    let mut increment = function(5);
    increment.parameters.push(Parameter {
        register: 0,
        count: 1,
        declaration: None,
        decorations: Decorations::default(),
    });
    increment.locals.push(Local {
        register: 1,
        size: 4,
        shape,
        initializer: None,
        decorations: Decorations::default(),
        line: 0,
    });
    builder.program.functions.push(increment);
    builder.block(
        1,
        &[],
        vec![
            store(1, register(0), StorageClass::Function, shape),
            load(3, 1, StorageClass::Function, shape),
            binary(BinaryOp::IAdd, 4, register(3), one),
            Op::Control(ControlOp::ReturnValue { value: register(4), count: 1 }),
        ],
    );
}

fn call(function: u32, dst: u32, arguments: Vec<Operand>) -> Op {
    Op::Control(ControlOp::Call { function: FunctionId(function), dst, arguments })
}

#[test]
fn calls_pass_arguments_and_results() {
    let mut builder = Builder::new(2);
    let shape = builder.word_shape();
    add_increment(&mut builder, shape);
    let seven = builder.number(7);
    builder.body(vec![call(1, 0, vec![seven]), call(1, 1, vec![register(0)])]);
    let (invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Finished));
    assert_eq!(invocation.registers, [8, 9].map(Scalar::new));
    // Locals are gone with their calls.
    assert_eq!(invocation.own.count(), 0);
}

#[test]
fn a_call_without_a_result_has_no_register() {
    let mut builder = Builder::new(1);
    builder.program.functions.push(function(0));
    builder.block(1, &[], vec![Op::Control(ControlOp::Return)]);
    builder.body(vec![call(1, u32::MAX, vec![])]);
    assert!(matches!(builder.first_stop().1, Stop::Finished));
}

#[test]
fn locals_are_fresh_in_each_call() {
    let mut builder = Builder::new(2);
    let shape = builder.word_shape();
    let five = builder.number(5);
    // Returns what its local holds at first, then writes it.
    let mut peek = function(3);
    peek.locals.push(Local {
        register: 0,
        size: 4,
        shape,
        initializer: None,
        decorations: Decorations::default(),
        line: 0,
    });
    builder.program.functions.push(peek);
    builder.block(
        1,
        &[],
        vec![
            load(2, 0, StorageClass::Function, shape),
            store(0, five, StorageClass::Function, shape),
            Op::Control(ControlOp::ReturnValue { value: register(2), count: 1 }),
        ],
    );
    builder.body(vec![call(1, 0, vec![]), call(1, 1, vec![])]);
    assert_eq!(builder.finish(), [Scalar::undefined(32); 2]);
}

#[test]
fn locals_start_with_their_initializer() {
    let mut builder = Builder::new(3);
    let shape = builder.word_shape();
    let five = builder.number(5);
    builder.program.functions[0].locals.push(Local {
        register: 0,
        size: 4,
        shape,
        initializer: Some(five),
        decorations: Decorations::default(),
        line: 0,
    });
    builder.body(vec![load(2, 0, StorageClass::Function, shape)]);
    assert_eq!(builder.finish()[2], Scalar::new(5));
}

#[test]
fn position_names_call_sites() {
    let mut builder = Builder::new(1);
    builder.program.functions.push(function(0));
    builder.block(1, &[], vec![Op::Nop, Op::Control(ControlOp::Unreachable)]);
    builder.body(vec![Op::Nop, call(1, 0, vec![])]);
    let (invocation, stop) = builder.first_stop();
    assert_eq!(fault_of(&stop), Some((UndefinedKind::Unreachable, 11)));
    let at = |function, index| InstId { function: FunctionId(function), index };
    assert_eq!(invocation.position()[..], [at(0, 1), at(1, 1)]);
}

#[test]
fn kill_finishes_from_inside_a_call_for_good() {
    let mut builder = Builder::new(1);
    builder.program.functions.push(function(0));
    builder.block(1, &[], vec![Op::Control(ControlOp::Kill)]);
    builder.body(vec![call(1, 0, vec![]), Op::Control(ControlOp::Unreachable)]);
    let (mut invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Finished));
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
}

#[test]
fn fuel_is_taken_by_the_instruction_and_can_be_refilled() {
    let mut builder = Builder::new(1);
    builder.body(vec![Op::Nop; 5]);
    let mut invocation = builder.start();
    let mut memory = builder.memory(false);
    let mut fuel = 4;
    let stop = invocation.run(&builder.program, &builder.dispatch, &mut memory, &mut fuel);
    assert!(matches!(stop, Stop::OutOfFuel));
    assert_eq!((fuel, invocation.executed()), (0, 4));
    let mut fuel = 10;
    let stop = invocation.run(&builder.program, &builder.dispatch, &mut memory, &mut fuel);
    assert!(matches!(stop, Stop::Finished));
    assert_eq!((fuel, invocation.executed()), (8, 6));
}
