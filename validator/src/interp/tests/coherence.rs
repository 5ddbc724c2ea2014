//! How accesses and barriers are read in each memory model.

use super::*;

/// What the memory model is told of a load and of a store.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    non_private: [bool; 2],
    visible: Option<Scope>,
    available: Option<Scope>,
    volatile: [bool; 2],
}

struct Case {
    model: MemoryModel,
    class: StorageClass,
    variable: Decorations,
    member: Decorations,
    operands: MemoryOperands,
    legacy_coherent: bool,
}

impl Default for Case {
    fn default() -> Self {
        Case {
            model: MemoryModel::Glsl450,
            class: StorageClass::StorageBuffer,
            variable: Decorations::default(),
            member: Decorations::default(),
            operands: MemoryOperands::default(),
            legacy_coherent: false,
        }
    }
}

fn told(case: Case) -> Told {
    let mut builder = Builder::new(5);
    builder.program.memory_model = case.model;
    builder.dispatch.legacy_coherent = case.legacy_coherent;
    let shape = builder.word_shape();
    builder.shared(case.class, shape, 4).decorations = case.variable;
    let object = builder.number(1);
    let (class, operands) = (case.class, case.operands);
    builder.body(vec![
        variable(0, 0),
        Op::Memory(MemoryOp::Chain(Chain {
            dst: 2,
            base: register(0),
            offset: 0,
            indices: vec![],
            physical: false,
            decorations: case.member,
        })),
        Op::Memory(MemoryOp::Load { dst: 4, pointer: register(2), class, shape, operands }),
        Op::Memory(MemoryOp::Store { pointer: register(2), object, class, shape, operands }),
    ]);
    let (mut invocation, stop) = builder.first_stop();
    let Stop::Read(read) = stop else { panic!("{stop:?}") };
    invocation.supply(&builder.program, &word(0));
    let stop = builder.run(&mut invocation, &mut builder.memory(false));
    let Stop::Write(write, _) = stop else { panic!("{stop:?}") };
    assert_eq!((read.available, write.visible), (None, None));
    Told {
        non_private: [read.non_private, write.non_private],
        visible: read.visible,
        available: write.available,
        volatile: [read.volatile, write.volatile],
    }
}

fn coherent_at(scope: Scope, volatile: bool) -> Told {
    Told { non_private: [true; 2], visible: Some(scope), available: Some(scope), volatile: [volatile; 2] }
}

fn private() -> Told {
    Told { non_private: [false; 2], visible: None, available: None, volatile: [false; 2] }
}

const COHERENT: Decorations = Decorations {
    coherent: true,
    volatile: false,
    aliased: false,
    restrict: false,
    non_writable: false,
    non_readable: false,
};
const VOLATILE: Decorations = Decorations { volatile: true, coherent: false, ..COHERENT };

#[test]
fn legacy_accesses_are_private_without_decorations() {
    assert_eq!(told(Case::default()), private());
    assert_eq!(told(Case { model: MemoryModel::Simple, ..Case::default() }), private());
}

#[test]
fn legacy_coherence_comes_from_variable_member_or_volatility() {
    let coherent = coherent_at(Scope::QueueFamily, false);
    assert_eq!(told(Case { variable: COHERENT, ..Case::default() }), coherent);
    assert_eq!(told(Case { member: COHERENT, ..Case::default() }), coherent);
    let volatile = coherent_at(Scope::QueueFamily, true);
    assert_eq!(told(Case { member: VOLATILE, ..Case::default() }), volatile);
    let operands = MemoryOperands { volatile: true, ..MemoryOperands::default() };
    assert_eq!(told(Case { operands, ..Case::default() }), volatile);
}

#[test]
fn legacy_workgroup_memory_is_coherent_in_the_workgroup() {
    let case = Case { class: StorageClass::Workgroup, ..Case::default() };
    assert_eq!(told(case), coherent_at(Scope::Workgroup, false));
}

#[test]
fn legacy_coherent_reads_everything_as_coherent() {
    let case = Case { legacy_coherent: true, ..Case::default() };
    assert_eq!(told(case), coherent_at(Scope::QueueFamily, false));
    // But not in modules that can say it themselves.
    let case = Case { legacy_coherent: true, model: MemoryModel::Vulkan, ..Case::default() };
    assert_eq!(told(case), private());
}

#[test]
fn vulkan_accesses_are_what_their_operands_say() {
    let vulkan = |class, variable, operands| {
        told(Case { model: MemoryModel::Vulkan, class, variable, operands, ..Case::default() })
    };
    let buffer = StorageClass::StorageBuffer;
    assert_eq!(vulkan(buffer, COHERENT, MemoryOperands::default()), private());
    assert_eq!(vulkan(StorageClass::Workgroup, COHERENT, MemoryOperands::default()), private());
    let operands = MemoryOperands {
        non_private: true,
        make_available: Some(Scope::Device),
        make_visible: Some(Scope::Workgroup),
        volatile: true,
        ..MemoryOperands::default()
    };
    let expected = Told {
        non_private: [true; 2],
        visible: Some(Scope::Workgroup),
        available: Some(Scope::Device),
        volatile: [true; 2],
    };
    assert_eq!(vulkan(buffer, Decorations::default(), operands), expected);
}

#[test]
fn a_parameter_decorates_its_pointer_which_comes_from_its_variable() {
    let mut builder = Builder::new(2);
    builder.program.memory_model = MemoryModel::Glsl450;
    let shape = builder.word_shape();
    builder.shared(StorageClass::StorageBuffer, shape, 4).decorations.aliased = true;
    let mut callee = function(3);
    callee.parameters.push(Parameter { register: 0, count: 2, declaration: Some(9), decorations: COHERENT });
    builder.program.functions.push(callee);
    let class = StorageClass::StorageBuffer;
    builder.block(1, &[], vec![load(2, 0, class, shape), Op::Control(ControlOp::Return)]);
    builder.body(vec![
        variable(0, 0),
        Op::Control(ControlOp::Call { function: FunctionId(1), dst: 0, arguments: vec![register(0)] }),
    ]);
    let (_, stop) = builder.first_stop();
    let Stop::Read(access) = stop else { panic!("{stop:?}") };
    assert_eq!((access.declaration, access.non_private, access.aliased), (0, true, true));
}

#[test]
fn barriers_hand_on_scopes_and_semantics() {
    for (model, expected) in [
        (MemoryModel::Vulkan, Scope::Device),
        (MemoryModel::Glsl450, Scope::QueueFamily),
        (MemoryModel::Simple, Scope::QueueFamily),
    ] {
        let mut builder = Builder::new(0);
        builder.program.memory_model = model;
        let semantics = release(ClassSet::UNIFORM);
        builder.body(vec![
            Op::Barrier(BarrierOp::Memory { scope: Scope::Device, semantics }),
            Op::Barrier(BarrierOp::Control { execution: Scope::Workgroup, memory: Scope::Device, semantics }),
        ]);
        let (mut invocation, stop) = builder.first_stop();
        let Stop::Fence(fence) = stop else { panic!("{stop:?}") };
        assert_eq!((fence.scope, fence.semantics, fence.line), (expected, semantics, 10));
        assert_eq!(invocation.position()[0].index, 1);
        let stop = builder.run(&mut invocation, &mut builder.memory(false));
        let Stop::Barrier { execution, fence, line, .. } = stop else { panic!("{stop:?}") };
        assert_eq!((execution, fence.scope, line), (Scope::Workgroup, expected, 11));
        assert!(matches!(builder.run(&mut invocation, &mut builder.memory(false)), Stop::Finished));
    }
}
