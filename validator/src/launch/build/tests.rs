//! Tests of the layout of dispatches, and helpers with which other tests build theirs.

use super::*;
use crate::ir::{
    Entry, Function, FunctionId, Inst, Leaf, LeafKind, MemoryModel, Modes, Op, Operand, Shape, ShapeId,
};
use crate::value::Scalar;

/// A program with these variables and no code, local size 2.
pub fn program(variables: Vec<Variable>) -> Program {
    Program {
        memory_model: MemoryModel::Vulkan,
        entry: Entry {
            name: "main".into(),
            function: FunctionId(0),
            execution_model: 5,
            local_size: [2, 1, 1],
            local_size_specialised: false,
            local_size_spec_ids: [None; 3],
            line: 1,
        },
        variables,
        pointees: Vec::new(),
        constants: Vec::new(),
        shapes: vec![Shape { leaves: vec![Leaf { offset: 0, kind: LeafKind::Number(4) }], size: 4 }],
        functions: Vec::new(),
        modes: Modes::default(),
        spec_constants: Vec::new(),
        harvested: Vec::new(),
    }
}

/// A storage buffer of 8 bytes.
pub fn buffer(id: u32, set: u32, binding: u32) -> Variable {
    Variable {
        id,
        name: None,
        type_name: None,
        class: StorageClass::StorageBuffer,
        binding: Some((set, binding)),
        descriptors: None,
        built_in: None,
        resource: None,
        decorations: Default::default(),
        size: 8,
        runtime_stride: None,
        shape: ShapeId(0),
        initializer: None,
        block: false,
        interface: Vec::new(),
        pointers: Vec::new(),
        constant: false,
        line: 1,
    }
}

/// A function of these instructions.
pub fn code(ops: Vec<Op>) -> Function {
    Function {
        name: None,
        id: 1,
        code: ops.into_iter().map(|op| Inst::plain(op, 1)).collect(),
        blocks: Vec::new(),
        registers: 0,
        parameters: Vec::new(),
        locals: Vec::new(),
        loops: Vec::new(),
        definitions: Vec::new(),
        results: Default::default(),
        runs: Default::default(),
        fixed: Vec::new(),
        line: 1,
    }
}

/// Sizes in x, and the subgroup size.
pub fn launch(workgroups: u32, local: u32, subgroup_size: u32) -> Launch {
    Launch {
        workgroups: [workgroups, 1, 1],
        local_size: [local, 1, 1],
        subgroup_size,
        quad: false,
        helpers: true,
        buffers: BTreeMap::new(),
        acceleration_structures: BTreeMap::new(),
        push: None,
        named: BTreeMap::new(),
        push_pointers: Vec::new(),
        images: BTreeMap::new(),
        samplers: BTreeMap::new(),
        aliases: BTreeMap::new(),
        observe: Observe::External,
        legacy_coherent: false,
        out_of_bounds: [OutOfBounds::Undefined; 2],
        displaced: false,
        wide: None,
        is_only_looked_at: false,
        undistinguished: Vec::new(),
        notes: Vec::new(),
    }
}

/// The slot 0.`binding`.
pub fn slot(binding: u32) -> Slot {
    Slot { set: 0, binding, element: None }
}

fn input() -> Input {
    Input {
        name: "zeros".into(),
        buffers: BTreeMap::new(),
        images: BTreeMap::new(),
        acceleration_structures: BTreeMap::new(),
        push: vec![Byte::Known(0); 4],
        physical: Vec::new(),
        interface: BTreeMap::new(),
    }
}

fn workgroup(id: u32, name: &str) -> Variable {
    Variable {
        class: StorageClass::Workgroup,
        binding: None,
        name: Some(name.into()),
        size: 4,
        ..buffer(id, 0, 0)
    }
}

fn keys(dispatch: &Dispatch) -> Vec<&str> {
    dispatch.objects.iter().map(|object| object.key.as_str()).collect()
}

#[test]
fn one_set_and_binding_is_one_object() {
    let dispatch = build_dispatch(
        &program(vec![buffer(1, 0, 1), buffer(2, 0, 0), buffer(3, 0, 1)]),
        &launch(2, 2, 2),
        &input(),
    );
    let dispatch = dispatch.unwrap();
    assert_eq!(keys(&dispatch), ["0.0", "0.1"]);
    assert_eq!(dispatch.object_of, [vec![Some(1); 2], vec![Some(0); 2], vec![Some(1); 2]]);
    assert!(dispatch.objects.iter().all(|object| object.observed && !object.constant));
}

#[test]
fn aliases_share_memory_and_keep_their_references() {
    let mut launch = launch(1, 2, 2);
    launch.aliases = BTreeMap::from([(slot(0), slot(0)), (slot(2), slot(0))]);
    let program = program(vec![buffer(1, 0, 0), buffer(2, 0, 1), buffer(3, 0, 2)]);
    let dispatch = build_dispatch(&program, &launch, &input()).unwrap();
    let of = |f: fn(&Object) -> u32| dispatch.objects.iter().map(f).collect::<Vec<_>>();
    assert_eq!(of(|object| object.memory), [0, 1, 0]);
    assert_eq!(of(|object| object.reference), [0, 1, 2]);
    // The memory is as long as the longest of them.
    let mut dispatch = dispatch;
    dispatch.objects[2].initial = vec![Byte::Known(7); 12];
    let memory: Vec<usize> = dispatch.initial_memory().iter().map(Vec::len).collect();
    assert_eq!(memory, [12, 8]);
}

#[test]
fn elements_of_descriptor_arrays_are_objects() {
    let mut array = buffer(1, 0, 0);
    array.descriptors = Some(3);
    let dispatch =
        build_dispatch(&program(vec![array, buffer(2, 0, 1)]), &launch(1, 1, 1), &input()).unwrap();
    assert_eq!(keys(&dispatch), ["0.0.0", "0.0.1", "0.0.2", "0.1"]);
    assert_eq!(dispatch.object_of, [vec![Some(0)], vec![Some(3)]]);
}

#[test]
fn workgroup_variables_are_per_workgroup_and_blocks_share() {
    let mut block_a = workgroup(2, "a");
    block_a.block = true;
    let mut block_b = workgroup(3, "b");
    block_b.block = true;
    block_b.size = 12;
    let program = program(vec![workgroup(1, "tile"), block_a, block_b]);
    let dispatch = build_dispatch(&program, &launch(2, 1, 1), &input()).unwrap();
    assert_eq!(keys(&dispatch), ["%a@0", "%tile@0", "%a@1", "%tile@1"]);
    assert_eq!(dispatch.object_of, [vec![Some(1), Some(3)], vec![Some(0), Some(2)], vec![Some(0), Some(2)]]);
    assert_eq!(dispatch.objects[0].initial, vec![Byte::Undef; 12]);
    assert!(dispatch.objects.iter().all(|object| !object.observed));
    let mut launch = launch(1, 1, 1);
    launch.observe = Observe::Variables(vec![1]);
    let dispatch = build_dispatch(&program, &launch, &input()).unwrap();
    let observed: Vec<bool> = dispatch.objects.iter().map(|object| object.observed).collect();
    assert_eq!((keys(&dispatch), observed), (vec!["%a", "%tile"], vec![false, true]));
}

#[test]
fn initializers_fill_workgroup_variables() {
    let mut variable = workgroup(1, "tile");
    variable.initializer = Some(Operand::constant(0));
    variable.size = 8;
    let mut program = program(vec![variable]);
    program.constants = vec![Scalar { bits: 0x0403_0001, undef: 0xff00 }];
    let dispatch = build_dispatch(&program, &launch(1, 1, 1), &input()).unwrap();
    let mut expected = vec![Byte::Known(1), Byte::Undef, Byte::Known(3), Byte::Known(4)];
    expected.extend([Byte::Undef; 4]);
    assert_eq!(dispatch.objects[0].initial, expected);
}

#[test]
fn places_run_x_first() {
    let mut launch = launch(1, 1, 4);
    launch.workgroups = [2, 2, 1];
    launch.local_size = [3, 2, 1];
    let dispatch = build_dispatch(&program(vec![]), &launch, &input()).unwrap();
    assert_eq!(dispatch.places.len(), 24);
    let place = dispatch.places[6 + 5];
    assert_eq!(place.workgroup_id, [1, 0, 0]);
    assert_eq!(place.local_id, [2, 1, 0]);
    assert_eq!((place.subgroup, place.subgroup_id, place.subgroup_lane), (3, 1, 1));
    assert_eq!(dispatch.places[12].workgroup_id, [0, 1, 0]);
}

#[test]
fn push_constants_are_constant_and_not_observed() {
    let mut push = buffer(1, 0, 0);
    push.class = StorageClass::PushConstant;
    push.binding = None;
    push.constant = true;
    let dispatch = build_dispatch(&program(vec![push]), &launch(1, 1, 1), &input()).unwrap();
    let object = &dispatch.objects[0];
    assert_eq!((object.key.as_str(), object.constant, object.observed), ("push", true, false));
    assert_eq!(object.initial.len(), 4);
}

#[test]
fn unbound_buffers_and_unknown_classes_are_refused() {
    let mut unbound = buffer(1, 0, 0);
    unbound.binding = None;
    assert!(build_dispatch(&program(vec![unbound]), &launch(1, 1, 1), &input()).is_err());
    let mut output = buffer(1, 0, 0);
    output.class = StorageClass::Output;
    output.binding = None;
    let error = build_dispatch(&program(vec![output]), &launch(1, 1, 1), &input());
    assert!(error.is_err_and(|error| error.to_string().contains("Output")));
}
