//! Iteration numbers, barrier names, iterations that are told, loops that never end.

use super::*;

fn header_loop(live: &[u32]) -> Loop {
    let turns = Turns { live: live.to_vec(), dead: Vec::new() };
    Loop {
        header: 1,
        live: live.to_vec(),
        dead: Vec::new(),
        turns,
        countdowns: Vec::new(),
        communicates: false,
        exit: Exit::default(),
    }
}

/// Block 0 enters the loop of block 1, whose body ends in `again`; block 2 returns.
/// Register 0 counts from 0 and is a φ; register 1 is the next count.
fn counting_loop(bound: u64, mut body: Vec<Op>) -> Builder {
    let mut builder = Builder::new(16);
    let (zero, one, bound) = (builder.number(0), builder.number(1), builder.number(bound));
    builder.program.functions[0].loops.push(header_loop(&[0]));
    let enter = Edge { moves: vec![(0, zero, 1)], enters: vec![LoopId(0)], ..jump(1) };
    builder.block(0, &[], vec![branch(enter)]);
    let again = Edge { moves: vec![(0, register(1), 1)], repeats: Some(LoopId(0)), ..jump(1) };
    body.extend([
        binary(BinaryOp::IAdd, 1, register(0), one),
        binary(BinaryOp::ULessThan, 2, register(1), bound),
        Op::Control(ControlOp::BranchConditional { condition: register(2), yes: again, no: jump(2) }),
    ]);
    builder.block(0, &[0], body);
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    builder
}

fn barrier() -> Op {
    Op::Barrier(BarrierOp::Control {
        execution: Scope::Workgroup,
        memory: Scope::Workgroup,
        semantics: Semantics::default(),
    })
}

#[test]
fn an_ordinary_loop_ends() {
    let builder = counting_loop(5000, vec![]);
    assert_eq!(builder.finish()[1], Scalar::new(5000));
}

#[test]
fn barrier_names_hold_iteration_numbers_and_iterations_are_told() {
    let builder = counting_loop(3, vec![barrier()]);
    let mut invocation = builder.start();
    let mut memory = builder.memory(false);
    for iteration in 0..3 {
        let stop = builder.run(&mut invocation, &mut memory);
        let Stop::Barrier { name, inst, line, .. } = stop else { panic!("{stop:?}") };
        assert_eq!(name.path, [(inst, vec![iteration])]);
        assert_eq!((inst.index, line), (1, 11));
        if iteration < 2 {
            let stop = builder.run(&mut invocation, &mut memory);
            let told = Stop::Iteration { function_depth: 0, loop_id: LoopId(0), chosen: false, events: true };
            assert_eq!(format!("{stop:?}"), format!("{told:?}"));
            // At the header, with the φ moved.
            assert_eq!(invocation.position()[0].index, 1);
            assert_eq!(invocation.register(0), Scalar::new(u64::from(iteration) + 1));
        }
    }
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
}

#[test]
fn entering_a_loop_again_starts_at_iteration_zero() {
    // The inner loop of block 2 runs twice in each of two iterations of the outer one of block 1.
    let mut builder = Builder::new(8);
    let (zero, one, two) = (builder.number(0), builder.number(1), builder.number(2));
    builder.program.functions[0].loops = vec![header_loop(&[0]), Loop { header: 2, ..header_loop(&[0, 2]) }];
    let enter = Edge { moves: vec![(0, zero, 1)], enters: vec![LoopId(0)], ..jump(1) };
    builder.block(0, &[], vec![branch(enter)]);
    let enter_inner = Edge { moves: vec![(2, zero, 1)], enters: vec![LoopId(1)], ..jump(2) };
    builder.block(0, &[0], vec![branch(enter_inner)]);
    let again = Edge { moves: vec![(2, register(3), 1)], repeats: Some(LoopId(1)), ..jump(2) };
    builder.block(
        0,
        &[0, 1],
        vec![
            barrier(),
            binary(BinaryOp::IAdd, 3, register(2), one),
            binary(BinaryOp::ULessThan, 4, register(3), two),
            Op::Control(ControlOp::BranchConditional { condition: register(4), yes: again, no: jump(3) }),
        ],
    );
    let again = Edge { moves: vec![(0, register(1), 1)], repeats: Some(LoopId(0)), ..jump(1) };
    builder.block(
        0,
        &[0],
        vec![
            binary(BinaryOp::IAdd, 1, register(0), one),
            binary(BinaryOp::ULessThan, 4, register(1), two),
            Op::Control(ControlOp::BranchConditional { condition: register(4), yes: again, no: jump(4) }),
        ],
    );
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    let mut invocation = builder.start();
    let mut memory = builder.memory(false);
    let mut names = Vec::new();
    loop {
        match builder.run(&mut invocation, &mut memory) {
            Stop::Barrier { name, .. } => names.push(name.path[0].1.clone()),
            Stop::Iteration { .. } => {}
            Stop::Finished => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(names, [[0, 0], [0, 1], [1, 0], [1, 1]]);
}

#[test]
fn names_hold_call_sites_with_their_iterations() {
    let call = Op::Control(ControlOp::Call { function: FunctionId(1), dst: 0, arguments: vec![] });
    let mut builder = counting_loop(2, vec![call]);
    builder.program.functions.push(function(0));
    builder.block(1, &[], vec![barrier(), Op::Control(ControlOp::Return)]);
    let mut invocation = builder.start();
    let mut memory = builder.memory(false);
    let at = |function, index| InstId { function: FunctionId(function), index };
    for iteration in 0..2 {
        let stop = builder.run(&mut invocation, &mut memory);
        let Stop::Barrier { name, .. } = stop else { panic!("{stop:?}") };
        assert_eq!(name.path, [(at(0, 1), vec![iteration]), (at(1, 0), vec![])]);
        builder.run(&mut invocation, &mut memory);
    }
}

/// A loop that runs `body` for ever.
fn endless(live: &[u32], moves: Vec<(u32, Operand, u32)>, mut body: Vec<Op>) -> Builder {
    let mut builder = Builder::new(8);
    let zero = builder.number(0);
    builder.program.functions[0].loops.push(header_loop(live));
    let enter = Edge { moves: vec![(0, zero, 1), (1, zero, 1)], enters: vec![LoopId(0)], ..jump(1) };
    builder.block(0, &[], vec![branch(enter)]);
    body.push(branch(Edge { moves, repeats: Some(LoopId(0)), ..jump(1) }));
    builder.block(0, &[0], body);
    builder
}

#[test]
fn a_loop_without_progress_is_found() {
    let builder = endless(&[], vec![], vec![Op::Nop]);
    let (invocation, stop) = builder.first_stop();
    assert!(
        matches!(stop, Stop::Forever { function_depth: 0, loop_id: LoopId(0), line: 12, has_effects: false }),
        "{stop:?}"
    );
    assert!(invocation.executed() < 500);
}

#[test]
fn a_cycle_of_several_states_is_found() {
    let not = Op::Unary { op: UnaryOp::Not, width: 32, count: 1, dst: 2, a: register(0) };
    let builder = endless(&[0], vec![(0, register(2), 1)], vec![not]);
    let (_, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Forever { .. }), "{stop:?}");
}

#[test]
fn dead_registers_do_not_hide_a_cycle() {
    let mut builder = endless(&[], vec![(1, register(2), 1)], vec![]);
    let one = builder.number(1);
    builder.program.functions[0].code[1] = Inst::plain(binary(BinaryOp::IAdd, 2, register(1), one), 11);
    let back = builder.program.functions[0].blocks[1].start;
    assert_eq!(back, 1);
    let again = Edge { moves: vec![(1, register(2), 1)], repeats: Some(LoopId(0)), ..jump(1) };
    builder.program.functions[0].code.push(Inst::plain(branch(again), 12));
    let (_, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Forever { .. }), "{stop:?}");
    // Behind the loop alone, nobody will ever read it.
    builder.program.functions[0].loops[0].live = vec![1];
    let (_, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Forever { .. }), "{stop:?}");
    builder.program.functions[0].loops[0].turns.live = vec![1];
    let (_, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::OutOfFuel), "{stop:?}");
}

#[test]
fn progress_in_own_memory_counts() {
    // A Private counter is incremented; no register is live at the header.
    let mut builder = endless(
        &[],
        vec![],
        vec![
            variable(2, 0),
            load(4, 2, StorageClass::Private, ShapeId(0)),
            binary(BinaryOp::IAdd, 5, register(4), Operand::constant(1)),
            store(2, register(5), StorageClass::Private, ShapeId(0)),
        ],
    );
    let (zero, _one) = (Operand::constant(0), builder.number(1));
    let shape = builder.word_shape();
    builder.own(StorageClass::Private, shape).initializer = Some(zero);
    let (_, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::OutOfFuel), "{stop:?}");
}

#[test]
fn what_is_only_read_behind_a_loop_does_not_hide_that_it_never_ends() {
    for read_inside in [false, true] {
        // A Function counter is incremented.
        let body = vec![
            load(4, 6, StorageClass::Function, ShapeId(0)),
            binary(BinaryOp::IAdd, 5, register(4), Operand::constant(1)),
            store(6, register(5), StorageClass::Function, ShapeId(0)),
        ];
        let mut builder = endless(&[], vec![], body);
        let (zero, _one) = (Operand::constant(0), builder.number(1));
        let shape = builder.word_shape();
        let main = &mut builder.program.functions[0];
        let initializer = Some(zero);
        main.locals.push(Local {
            register: 6,
            size: 4,
            shape,
            initializer,
            decorations: Decorations::default(),
            line: 1,
        });
        main.loops[0].turns.dead = if read_inside { vec![] } else { vec![0] };
        let (_, stop) = builder.first_stop();
        assert_eq!(matches!(stop, Stop::Forever { .. }), !read_inside, "{stop:?}");
        assert_eq!(matches!(stop, Stop::OutOfFuel), read_inside, "{stop:?}");
    }
}

#[test]
fn settled_changes_count_as_progress_and_other_settled_accesses_are_effects() {
    let looping = |written: Option<u32>| {
        let not = Op::Unary { op: UnaryOp::Not, width: 32, count: 1, dst: 5, a: register(4) };
        let mut ops = vec![variable(2, 0), load(4, 2, StorageClass::StorageBuffer, ShapeId(0)), not];
        ops.extend(written.map(|value| store(2, register(value), StorageClass::StorageBuffer, ShapeId(0))));
        let mut builder = endless(&[], vec![], ops);
        let shape = builder.word_shape();
        builder.shared(StorageClass::StorageBuffer, shape, 4);
        builder.dispatch.objects[0].initial = word(7);
        let mut invocation = builder.start();
        builder.run(&mut invocation, &mut builder.memory(true))
    };
    assert!(matches!(looping(None), Stop::Forever { has_effects: false, .. }));
    assert!(matches!(looping(Some(4)), Stop::Forever { has_effects: true, .. }));
    // After very many of them the explorer is asked.
    assert!(matches!(looping(Some(5)), Stop::Iteration { chosen: false, events: false, .. }));
}

/// A loop that reads a word until it is not 0.
fn spin_loop() -> Builder {
    let mut builder = Builder::new(8);
    let zero = builder.number(0);
    let shape = builder.word_shape();
    builder.shared(StorageClass::StorageBuffer, shape, 4);
    builder.program.functions[0].loops.push(header_loop(&[]));
    let enter = Edge { enters: vec![LoopId(0)], ..jump(1) };
    builder.block(0, &[], vec![variable(0, 0), branch(enter)]);
    let again = Edge { repeats: Some(LoopId(0)), ..jump(1) };
    builder.block(
        0,
        &[0],
        vec![
            load(2, 0, StorageClass::StorageBuffer, shape),
            binary(BinaryOp::IEqual, 3, register(2), zero),
            Op::Control(ControlOp::BranchConditional { condition: register(3), yes: again, no: jump(2) }),
        ],
    );
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    builder
}

#[test]
fn a_spin_iteration_is_told_and_comes_back_to_the_same_state() {
    let builder = spin_loop();
    let mut invocation = builder.start();
    let mut memory = builder.memory(false);
    let mut arrivals = Vec::new();
    for _ in 0..2 {
        assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Read(_)));
        invocation.supply(&builder.program, &word(0));
        assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Iteration { events: true, .. }));
        arrivals.push(invocation.clone());
    }
    assert!(arrivals[0].same_state(&arrivals[1], &builder.program));
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Read(_)));
    invocation.supply(&builder.program, &word(1));
    assert!(!arrivals[0].same_state(&invocation, &builder.program));
    assert!(matches!(builder.run(&mut invocation, &mut memory), Stop::Finished));
}

/// What a loop that spins has read is not part of its state where nobody reads it again.
#[test]
fn dead_locals_are_forgotten_where_a_loop_communicates() {
    for (dead, communicates) in [(true, true), (false, true), (true, false)] {
        let mut builder = spin_loop();
        let (shape, seven) = (builder.word_shape(), builder.number(7));
        let main = &mut builder.program.functions[0];
        let local = Local {
            register: 4,
            size: 4,
            shape,
            initializer: Some(seven),
            decorations: Decorations::default(),
            line: 1,
        };
        main.locals.push(local);
        main.loops[0].dead = if dead { vec![0] } else { Vec::new() };
        main.loops[0].communicates = communicates;
        let kept = Inst { op: store(4, register(2), StorageClass::Function, shape), ..main.code[2].clone() };
        main.code.insert(3, kept);
        main.blocks[2].start += 1;
        let mut invocation = builder.start();
        let mut memory = builder.memory(false);
        let mut states = Vec::new();
        for value in [0, 0] {
            let mut stop = builder.run(&mut invocation, &mut memory);
            if matches!(stop, Stop::LoopEntry { .. }) {
                stop = builder.run(&mut invocation, &mut memory);
            }
            states.push(invocation.clone());
            assert!(matches!(stop, Stop::Read(_)), "{stop:?}");
            invocation.supply(&builder.program, &word(value));
            let stop = builder.run(&mut invocation, &mut memory);
            assert!(matches!(stop, Stop::Iteration { events: true, .. }), "{stop:?}");
        }
        assert_eq!(states[0].own == states[1].own, dead && communicates);
    }
}

#[test]
fn states_differ_in_live_registers_or_own_memory_only() {
    let builder = counting_loop(9, vec![barrier()]);
    let mut memory = builder.memory(false);
    let mut invocation = builder.start();
    builder.run(&mut invocation, &mut memory);
    builder.run(&mut invocation, &mut memory);
    let earlier = invocation.clone();
    builder.run(&mut invocation, &mut memory);
    builder.run(&mut invocation, &mut memory);
    // The count is live.
    assert!(!earlier.same_state(&invocation, &builder.program));
    let mut other = earlier.clone();
    other.set(5, Scalar::new(77));
    assert!(earlier.same_state(&other, &builder.program));
    other.own.create(4);
    assert!(!earlier.same_state(&other, &builder.program));
}

#[test]
fn a_choice_in_an_iteration_is_told() {
    let mut builder = Builder::new(2);
    let condition = builder.constant(Scalar::undefined(1));
    builder.program.functions[0].loops.push(header_loop(&[]));
    builder.block(0, &[], vec![branch(Edge { enters: vec![LoopId(0)], ..jump(1) })]);
    let again = Edge { repeats: Some(LoopId(0)), ..jump(1) };
    let ways = ControlOp::BranchConditional { condition, yes: again, no: jump(2) };
    builder.block(0, &[0], vec![Op::Control(ways)]);
    builder.block(0, &[], vec![Op::Control(ControlOp::Return)]);
    let (mut invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::Choose { ways: 2, line: 11 }));
    invocation.choose(1);
    let stop = builder.run(&mut invocation, &mut builder.memory(false));
    assert!(matches!(stop, Stop::Iteration { chosen: true, events: false, .. }), "{stop:?}");
    invocation = {
        let mut next = invocation;
        assert!(matches!(builder.run(&mut next, &mut builder.memory(false)), Stop::Choose { .. }));
        next
    };
    invocation.choose(0);
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
}

#[test]
fn the_entry_of_a_loop_that_communicates_is_told() {
    let mut builder = spin_loop();
    mark_communicating_loops(&mut builder.program.functions);
    let (mut invocation, stop) = builder.first_stop();
    assert!(matches!(stop, Stop::LoopEntry { function_depth: 0, loop_id: LoopId(0) }), "{stop:?}");
    assert_eq!(invocation.position()[0].index, 2);
    assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Read(_)));
}
