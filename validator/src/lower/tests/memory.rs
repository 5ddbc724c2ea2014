use super::*;
use crate::event::{ClassSet, Order, Scope, StorageClass};
use crate::ir::{AtomicKind, BarrierOp, Bound, BuiltIn, Leaf, LeafKind, Shape};

fn shape_of_load(program: &Program) -> &Shape {
    let inst = find(program, |op| matches!(op, Op::Memory(MemoryOp::Load { .. })));
    match &inst.op {
        Op::Memory(MemoryOp::Load { shape, .. }) => &program.shapes[shape.0 as usize],
        other => panic!("{other:?}"),
    }
}

fn offsets(shape: &Shape) -> Vec<u32> {
    shape.leaves.iter().map(|leaf| leaf.offset).collect()
}

#[test]
fn variables_are_in_module_order_with_their_bindings() {
    let program = program(
        "%pointer_local = OpTypePointer Private %uint
         %private = OpVariable %pointer_local Private %u5",
        "OpStore %private %u1
         %id = OpLoad %uint3 %local_id
         %place = OpAccessChain %pointer_uint %buffer %u0
         OpStore %place %u1
         OpReturn",
    );
    let classes: Vec<StorageClass> = program.variables.iter().map(|variable| variable.class).collect();
    assert_eq!(classes, [StorageClass::StorageBuffer, StorageClass::Input, StorageClass::Private]);
    let buffer = &program.variables[0];
    assert_eq!((buffer.name.as_deref(), buffer.type_name.as_deref()), (Some("data"), Some("Block")));
    assert_eq!(buffer.binding, Some((0, 3)));
    assert_eq!((buffer.size, buffer.runtime_stride), (16, Some(4)));
    assert_eq!(program.variables[1].built_in, Some(BuiltIn::LocalInvocationId));
    assert!(program.variables[2].initializer.unwrap().is_constant());
    let addresses: Vec<u32> = main_of(&program)
        .code
        .iter()
        .filter_map(|inst| match inst.op {
            Op::Memory(MemoryOp::Variable { variable, .. }) => Some(variable),
            _ => None,
        })
        .collect();
    assert_eq!(addresses, [2, 1, 0]);
}

#[test]
fn chains_add_constant_offsets_and_keep_the_others() {
    let program = program(
        "",
        "%id = OpLoad %uint3 %local_id
         %x = OpCompositeExtract %uint %id 0
         %place = OpAccessChain %pointer_uint %buffer %u1 %x
         %value = OpLoad %uint %place Volatile
         OpReturn",
    );
    let inst = find(&program, |op| matches!(op, Op::Memory(MemoryOp::Chain(_))));
    let Op::Memory(MemoryOp::Chain(chain)) = &inst.op else { panic!() };
    assert_eq!(chain.offset, 16);
    assert!(chain.decorations.non_writable && !chain.decorations.coherent);
    let [index] = chain.indices[..] else { panic!() };
    assert_eq!((index.stride, index.width, index.bound), (4, 32, Bound::RuntimeArray { start: 16 }));
}

#[test]
fn array_length_knows_where_the_array_starts() {
    let program = program("", "%n = OpArrayLength %uint %buffer 1\nOpReturn");
    assert!(matches!(
        operations(&program)[0],
        Op::Memory(MemoryOp::ArrayLength { offset: 16, stride: 4, .. })
    ));
}

#[test]
fn a_constant_index_outside_of_an_array_is_left_to_the_run() {
    let program = program(
        "%array3 = OpTypeArray %uint %u5
         %pointer_array = OpTypePointer Private %array3
         %pointer_private = OpTypePointer Private %uint
         %private = OpVariable %pointer_array Private",
        "%inside = OpAccessChain %pointer_private %private %u2
         %outside = OpAccessChain %pointer_private %private %u5
         OpReturn",
    );
    let chains: Vec<_> = operations(&program)
        .into_iter()
        .filter_map(|op| match op {
            Op::Memory(MemoryOp::Chain(chain)) => Some((chain.offset, chain.indices.len())),
            _ => None,
        })
        .collect();
    assert_eq!(chains, [(8, 0), (0, 1)]);
}

const MATRICES: &str = "%mat = OpTypeMatrix %float3 2
    %UBO = OpTypeStruct %mat %mat
    %pointer_ubo = OpTypePointer Uniform %UBO
    %pointer_mat = OpTypePointer Uniform %mat
    %pointer_column = OpTypePointer Uniform %float3
    %pointer_float = OpTypePointer Uniform %float
    %ubo = OpVariable %pointer_ubo Uniform";

fn matrix_program(body: &str) -> Program {
    let decorations = "OpDecorate %UBO Block
        OpMemberDecorate %UBO 0 Offset 0
        OpMemberDecorate %UBO 0 ColMajor
        OpMemberDecorate %UBO 0 MatrixStride 16
        OpMemberDecorate %UBO 1 Offset 32
        OpMemberDecorate %UBO 1 RowMajor
        OpMemberDecorate %UBO 1 MatrixStride 16
        OpDecorate %ubo DescriptorSet 0
        OpDecorate %ubo Binding 1";
    let source = text(MATRICES, body)
        .replace("OpDecorate %Block Block", &format!("OpDecorate %Block Block\n{decorations}"))
        .replace("%buffer %local_id\n", "%buffer %local_id %ubo\n");
    lower(&read(&source), &LowerOptions::default()).unwrap()
}

#[test]
fn matrices_lie_by_columns_or_by_rows() {
    let columns = matrix_program("%p = OpAccessChain %pointer_mat %ubo %u0\n%m = OpLoad %mat %p\nOpReturn");
    assert_eq!(offsets(shape_of_load(&columns)), [0, 4, 8, 16, 20, 24]);
    let rows = matrix_program("%p = OpAccessChain %pointer_mat %ubo %u1\n%m = OpLoad %mat %p\nOpReturn");
    assert_eq!(offsets(shape_of_load(&rows)), [0, 16, 32, 4, 20, 36]);
    assert!(rows.variables[0].constant);
    assert_eq!(rows.variables[0].size, 32 + 40);
}

#[test]
fn a_column_of_a_row_major_matrix_is_strided() {
    let column =
        matrix_program("%p = OpAccessChain %pointer_column %ubo %u1 %u1\n%m = OpLoad %float3 %p\nOpReturn");
    assert_eq!(offsets(shape_of_load(&column)), [0, 16, 32]);
    let element = matrix_program(
        "%p = OpAccessChain %pointer_column %ubo %u1 %u1
         %q = OpAccessChain %pointer_float %p %u2\n%m = OpLoad %float %q\nOpReturn",
    );
    let chains: Vec<u32> = operations(&element)
        .into_iter()
        .filter_map(|op| match op {
            Op::Memory(MemoryOp::Chain(chain)) => Some(chain.offset),
            _ => None,
        })
        .collect();
    assert_eq!(chains, [32 + 4, 32]);
}

#[test]
fn a_load_of_a_struct_unites_the_decorations_of_its_members() {
    let source = text(
        "%S = OpTypeStruct %uint %bool
         %pointer_s = OpTypePointer Workgroup %S
         %shared = OpVariable %pointer_s Workgroup",
        "%value = OpLoad %S %shared\nOpReturn",
    )
    .replace("OpDecorate %Block Block", "OpDecorate %Block Block\nOpMemberDecorate %S 0 Volatile")
    .replace("%buffer %local_id\n", "%buffer %local_id %shared\n");
    let program = lower(&read_leniently(&source), &LowerOptions::default()).unwrap();
    let [Op::Memory(MemoryOp::Chain(chain)), Op::Memory(MemoryOp::Load { pointer, .. }), ..] =
        operations(&program)[..]
    else {
        panic!()
    };
    assert!(chain.decorations.volatile);
    assert_eq!(pointer.index(), chain.dst);
    assert_eq!(
        shape_of_load(&program).leaves,
        [Leaf { offset: 0, kind: LeafKind::Number(4) }, Leaf { offset: 4, kind: LeafKind::Bool }]
    );
}

#[test]
fn an_index_into_an_array_of_descriptors_selects_the_object() {
    let source = text(
        "%buffers_type = OpTypeArray %Block %u2
         %pointer_buffers = OpTypePointer StorageBuffer %buffers_type
         %buffers = OpVariable %pointer_buffers StorageBuffer",
        "%p = OpAccessChain %pointer_uint %buffers %u1 %u1 %u5\nOpStore %p %u1\nOpReturn",
    )
    .replace(
        "OpDecorate %Block Block",
        "OpDecorate %Block Block\nOpDecorate %buffers DescriptorSet 1\nOpDecorate %buffers Binding 2",
    )
    .replace("%buffer %local_id\n", "%buffer %local_id %buffers\n");
    let program = lower(&read_leniently(&source), &LowerOptions::default()).unwrap();
    assert_eq!(program.variables[0].descriptors, Some(2));
    assert_eq!(program.variables[0].runtime_stride, Some(4));
    let Op::Memory(MemoryOp::Chain(chain)) = operations(&program)[0] else { panic!() };
    let bounds: Vec<Bound> = chain.indices.iter().map(|index| index.bound).collect();
    assert_eq!(bounds, [Bound::Descriptor(2), Bound::RuntimeArray { start: 16 }]);
}

#[test]
fn atomics_and_barriers_decode_scopes_and_semantics() {
    let program = program(
        "%acq_rel = OpConstant %uint 72\n%u3 = OpConstant %uint 3",
        "%p = OpAccessChain %pointer_uint %buffer %u0
         %old = OpAtomicCompareExchange %uint %p %u1 %acq_rel %u0 %u5 %u2
         OpAtomicStore %p %u5 %u0 %old
         OpMemoryBarrier %u2 %acq_rel
         OpControlBarrier %u2 %u3 %acq_rel
         OpReturn",
    );
    let operations = operations(&program);
    let Op::Atomic(exchange) = operations[1] else { panic!() };
    assert_eq!((exchange.scope, exchange.width), (Scope::Device, 32));
    assert_eq!(exchange.semantics.order, Order::AcquireRelease);
    assert_eq!(exchange.semantics.classes, ClassSet::UNIFORM);
    assert_eq!(exchange.unequal.order, Order::Relaxed);
    let AtomicKind::CompareExchange { value, comparator } = exchange.kind else { panic!() };
    assert_eq!(program.constants[value.index() as usize].bits, 5);
    assert_eq!(program.constants[comparator.index() as usize].bits, 2);
    let Op::Atomic(store) = operations[2] else { panic!() };
    assert_eq!(store.scope, Scope::QueueFamily);
    assert!(matches!(store.kind, AtomicKind::Store { value } if value.index() == exchange.dst));
    assert!(matches!(operations[3], Op::Barrier(BarrierOp::Memory { scope: Scope::Workgroup, .. })));
    assert!(matches!(
        operations[4],
        Op::Barrier(BarrierOp::Control { execution: Scope::Workgroup, memory: Scope::Subgroup, .. })
    ));
}

#[test]
fn copies_take_memory_operands_for_each_side() {
    let program = program(
        "%pointer_local = OpTypePointer Workgroup %uint
         %local = OpVariable %pointer_local Workgroup",
        "
         %p = OpAccessChain %pointer_uint %buffer %u0
         OpCopyMemory %p %local NonPrivatePointer|MakePointerAvailable %u2 Volatile
         OpReturn",
    );
    let Op::Memory(MemoryOp::Copy { target_operands, source_operands, target_class, source_class, .. }) =
        operations(&program)[1]
    else {
        panic!()
    };
    assert_eq!((*target_class, *source_class), (StorageClass::StorageBuffer, StorageClass::Workgroup));
    assert_eq!(target_operands.make_available, Some(Scope::Workgroup));
    assert!(target_operands.non_private && !source_operands.non_private);
    assert!(source_operands.volatile && !target_operands.volatile);
}

#[test]
fn variables_of_functions_are_locals() {
    let program = program(
        "%pointer_local = OpTypePointer Function %uint2\n%initial = OpConstantComposite %uint2 %u1 %u2",
        "%local = OpVariable %pointer_local Function %initial\nOpReturn",
    );
    let [local] = main_of(&program).locals[..] else { panic!() };
    assert_eq!(local.size, 8);
    assert!(local.initializer.unwrap().is_constant());
    assert_eq!(main_of(&program).registers, 2);
}
