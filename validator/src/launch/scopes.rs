//! Which scopes a module uses in ways that a launch could distinguish.
//!
//! This is a static survey, for the defaults of a launch and for the words
//! `scopes not distinguished` in a verdict. It may err: it looks at every instruction, reachable
//! or not. A scope counts as no wider than it can matter:
//!
//! - accesses to Workgroup variables never reach beyond the workgroup, whatever scope they name
//!   (compilers write Device there);
//! - without an atomic on memory that workgroups share, nothing synchronises workgroups, so a
//!   fence or an access of a wider scope has no more effect than one of Workgroup scope.

use std::collections::BTreeSet;

use super::Launch;
use crate::event::{ClassSet, Scope, Semantics, StorageClass};
use crate::ir::{BarrierOp, Decorations, Effect, MemoryModel, MemoryOp, MemoryOperands, Op, Program};

/// What the survey of one module found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeUse {
    /// Scopes that atomics, barriers and availability and visibility operations name.
    pub scopes: BTreeSet<Scope>,
    /// Whether invocations of different workgroups may communicate: the module has atomics, or
    /// non-private accesses, on memory that workgroups share, at a scope wider than Workgroup.
    pub beyond_workgroup: bool,
    /// Whether the length of a runtime array is asked for.
    pub array_length: bool,
}

/// One mention of a scope.
struct Mention {
    scope: Scope,
    /// Whether it reaches memory that workgroups share.
    shared: bool,
    kind: Kind,
}

#[derive(PartialEq)]
enum Kind {
    Atomic,
    Access,
    Fence,
    Execution,
}

/// Surveys a program.
pub fn scope_use(program: &Program) -> ScopeUse {
    let mut survey = Survey { program, mentions: Vec::new(), array_length: false };
    for function in &program.functions {
        for inst in &function.code {
            survey.instruction(&inst.op);
        }
        for parameter in &function.parameters {
            survey.decorations(parameter.decorations);
        }
    }
    for variable in &program.variables {
        if between_workgroups(variable.class) {
            survey.decorations(variable.decorations);
        }
    }
    survey.finish()
}

/// Whether atomics, barriers, or availability and visibility operations of the program name Subgroup scope.
pub fn mentions_subgroups(program: &Program) -> bool {
    scope_use(program).scopes.contains(&Scope::Subgroup)
}

struct Survey<'p> {
    program: &'p Program,
    mentions: Vec<Mention>,
    array_length: bool,
}

impl Survey<'_> {
    fn instruction(&mut self, op: &Op) {
        match op.effect() {
            Effect::Atomic(atomic) => {
                self.mention(atomic.scope, between_workgroups(atomic.class), Kind::Atomic);
            }
            Effect::Barrier(BarrierOp::Memory { scope, semantics }) => self.fence(*scope, *semantics),
            Effect::Barrier(BarrierOp::Control { execution, memory, semantics }) => {
                self.mention(*execution, true, Kind::Execution);
                self.fence(*memory, *semantics);
            }
            Effect::Subgroup(op) => self.mention(op.scope(), true, Kind::Execution),
            Effect::Cooperative(op) => {
                self.mention(op.scope(), true, Kind::Execution);
                if let Some(access) = op.access() {
                    self.access(access.class, &access.operands);
                }
            }
            Effect::Memory(memory) => self.memory(memory),
            Effect::Image(image) => self.access(StorageClass::Image, &image.operands.memory),
            Effect::Control(_)
            | Effect::Barrier(BarrierOp::Numbered(_) | BarrierOp::Device(_))
            | Effect::None => {}
        }
    }

    fn memory(&mut self, op: &MemoryOp) {
        match op {
            MemoryOp::Load { class, operands, .. } | MemoryOp::Store { class, operands, .. } => {
                self.access(*class, operands);
            }
            MemoryOp::Copy { target_class, target_operands, source_class, source_operands, .. } => {
                self.access(*target_class, target_operands);
                self.access(*source_class, source_operands);
            }
            MemoryOp::Chain(chain) => self.decorations(chain.decorations),
            MemoryOp::ArrayLength { .. } => self.array_length = true,
            MemoryOp::Variable { .. } | MemoryOp::Uniform { .. } | MemoryOp::Difference { .. } => {}
        }
    }

    fn access(&mut self, class: StorageClass, operands: &MemoryOperands) {
        for scope in [operands.make_available, operands.make_visible].into_iter().flatten() {
            self.mention(scope, between_workgroups(class), Kind::Access);
        }
    }

    /// A Coherent buffer is available and visible at QueueFamily scope, in modules of the older
    /// memory models.
    fn decorations(&mut self, decorations: Decorations) {
        if decorations.coherent && self.legacy() {
            self.mention(Scope::QueueFamily, true, Kind::Access);
        }
    }

    fn fence(&mut self, scope: Scope, semantics: Semantics) {
        if !semantics.classes.is_empty() {
            let workgroup_only = ClassSet::WORKGROUP.contains(semantics.classes);
            self.mention(scope, !workgroup_only, Kind::Fence);
        }
    }

    fn mention(&mut self, scope: Scope, shared: bool, kind: Kind) {
        // Device reads as QueueFamily in the older memory models.
        let scope = if self.legacy() && scope == Scope::Device { Scope::QueueFamily } else { scope };
        self.mentions.push(Mention { scope, shared, kind });
    }

    fn legacy(&self) -> bool {
        matches!(self.program.memory_model, MemoryModel::Glsl450 | MemoryModel::Simple)
    }

    fn finish(self) -> ScopeUse {
        let wide = |mention: &Mention| mention.shared && mention.scope > Scope::Workgroup;
        let atomics = self.mentions.iter().any(|m| m.kind == Kind::Atomic && wide(m));
        let accesses = self.mentions.iter().any(|m| m.kind == Kind::Access && wide(m));
        let scopes = self
            .mentions
            .iter()
            .map(|m| match m.kind {
                Kind::Execution => m.scope,
                Kind::Atomic | Kind::Access | Kind::Fence if m.shared && atomics => m.scope,
                Kind::Access if m.shared => m.scope,
                Kind::Atomic | Kind::Access | Kind::Fence => m.scope.min(Scope::Workgroup),
            })
            .collect();
        ScopeUse { scopes, beyond_workgroup: atomics || accesses, array_length: self.array_length }
    }
}

/// Whether workgroups share the memory of this class.
fn between_workgroups(class: StorageClass) -> bool {
    match class {
        StorageClass::Uniform
        | StorageClass::UniformConstant
        | StorageClass::CrossWorkgroup
        | StorageClass::AtomicCounter
        | StorageClass::Image
        | StorageClass::StorageBuffer
        | StorageClass::PhysicalStorageBuffer => true,
        StorageClass::Input
        | StorageClass::Output
        | StorageClass::Workgroup
        | StorageClass::Private
        | StorageClass::Function
        | StorageClass::PushConstant => false,
    }
}

/// Pairs of neighbouring scopes among those used whose instances are the same invocations in this
/// launch: no execution can tell them apart.
pub fn undistinguished(scopes: &BTreeSet<Scope>, launch: &Launch) -> Vec<(Scope, Scope)> {
    let local = launch.local_invocations();
    let instance_size = |scope: Scope| match scope {
        Scope::Invocation => 1,
        Scope::Subgroup => local.min(u64::from(launch.subgroup_size)),
        Scope::Workgroup => local,
        Scope::QueueFamily | Scope::Device | Scope::CrossDevice => launch.invocations(),
    };
    scopes
        .iter()
        .zip(scopes.iter().skip(1))
        .filter(|(narrow, wide)| instance_size(**narrow) == instance_size(**wide))
        .map(|(narrow, wide)| (*narrow, *wide))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Order;
    use crate::ir::{AtomicKind, AtomicOp, Operand};
    use crate::launch::build::tests::{buffer, code, launch, program};

    fn atomic(class: StorageClass, scope: Scope) -> Op {
        Op::Atomic(AtomicOp {
            kind: AtomicKind::Load,
            dst: 0,
            pointer: Operand::register(0),
            class,
            width: 32,
            scope,
            semantics: Semantics::default(),
            unequal: Semantics::default(),
            result_used: true,
        })
    }

    fn fence(scope: Scope, classes: ClassSet) -> Op {
        let semantics = Semantics { order: Order::AcquireRelease, classes, ..Semantics::default() };
        Op::Barrier(BarrierOp::Memory { scope, semantics })
    }

    fn used(model: MemoryModel, ops: Vec<Op>) -> ScopeUse {
        let mut program = program(vec![buffer(1, 0, 0)]);
        program.memory_model = model;
        program.functions.push(code(ops));
        scope_use(&program)
    }

    #[test]
    fn a_device_atomic_on_a_buffer_reaches_beyond_the_workgroup() {
        let found = used(MemoryModel::Vulkan, vec![atomic(StorageClass::StorageBuffer, Scope::Device)]);
        assert!(found.beyond_workgroup);
        assert_eq!(found.scopes, BTreeSet::from([Scope::Device]));
        let found = used(MemoryModel::Glsl450, vec![atomic(StorageClass::StorageBuffer, Scope::Device)]);
        assert_eq!(found.scopes, BTreeSet::from([Scope::QueueFamily]));
    }

    #[test]
    fn workgroup_memory_stays_in_the_workgroup() {
        let ops = vec![
            atomic(StorageClass::Workgroup, Scope::Device),
            fence(Scope::Device, ClassSet::WORKGROUP),
            fence(Scope::Device, ClassSet::UNIFORM.union(ClassSet::WORKGROUP)),
        ];
        let found = used(MemoryModel::Vulkan, ops);
        assert!(!found.beyond_workgroup);
        assert_eq!(found.scopes, BTreeSet::from([Scope::Workgroup]));
    }

    #[test]
    fn fences_count_in_full_beside_atomics() {
        let ops = vec![
            atomic(StorageClass::StorageBuffer, Scope::QueueFamily),
            fence(Scope::Device, ClassSet::UNIFORM),
            fence(Scope::Subgroup, ClassSet::UNIFORM),
        ];
        let found = used(MemoryModel::Vulkan, ops);
        assert_eq!(found.scopes, BTreeSet::from([Scope::Subgroup, Scope::QueueFamily, Scope::Device]));
    }

    #[test]
    fn coherent_buffers_reach_beyond_the_workgroup_in_older_models() {
        let mut program = program(vec![buffer(1, 0, 0)]);
        program.variables[0].decorations.coherent = true;
        program.memory_model = MemoryModel::Glsl450;
        assert!(scope_use(&program).beyond_workgroup);
        program.memory_model = MemoryModel::Vulkan;
        assert!(!scope_use(&program).beyond_workgroup);
    }

    #[test]
    fn scopes_with_equal_instances_are_not_told_apart() {
        let scopes = BTreeSet::from([Scope::Subgroup, Scope::Workgroup, Scope::Device]);
        let pairs =
            |workgroups, local, subgroup| undistinguished(&scopes, &launch(workgroups, local, subgroup));
        assert_eq!(pairs(2, 4, 2), vec![]);
        assert_eq!(pairs(1, 4, 2), vec![(Scope::Workgroup, Scope::Device)]);
        assert_eq!(pairs(2, 4, 4), vec![(Scope::Subgroup, Scope::Workgroup)]);
        assert_eq!(pairs(2, 1, 1), vec![(Scope::Subgroup, Scope::Workgroup)]);
    }
}
