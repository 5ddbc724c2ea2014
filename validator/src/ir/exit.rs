//! How invocations leave loops that they would run for ever: what is undefined behind, and which loops have effects.

use std::collections::{BTreeSet, HashMap};

use super::effect::Effect;
use super::liveness;
use super::{
    Calls, ControlOp, CooperativeAccess, CooperativeOp, Edge, ElementArgument, Function, LoopId, MemoryOp,
    MemoryOperands, Op, Operand, RayKind, RayOp, Variable,
};
use crate::event::StorageClass;

/// How an invocation leaves a loop that it would run for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// To the merge block, with the φ moves that do not depend on what the loop did. None where the loop has no
    /// merge block, or one that is only an OpUnreachable: the invocation may end.
    pub edge: Option<Edge>,
    /// Registers that are undefined behind, and their widths: results of the loop's instructions, and those φ of
    /// the merge block that take some.
    pub undefined: Vec<(u32, u8)>,
    /// The Function and Private variables that the loop, or a function called from it, stores to; see
    /// [`mark_exits`].
    pub stored: Vec<Stored>,
    /// Some instruction of the loop, or of a function called from it, may have an effect: a store to other memory, a volatile
    /// or atomic access, an image write, a barrier or a group operation.
    pub may_have_effects: bool,
    /// Nothing leads out of the loop but its exit, or that of a loop within, and nothing happens in it.
    pub sealed: bool,
}

/// A variable, as a loop names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stored {
    /// At module scope: an index into [`Program::variables`](super::Program::variables).
    Variable(u32),
    /// Index into [`Function::locals`].
    Local(u32),
    /// What the pointer in this register leads to, which was made before the loop: a parameter, mostly.
    Through(u32),
    /// Any: the loop itself loads or calls for the pointer, which logical addressing does not allow.
    Anything,
}

/// Sets the parts of [`Exit`] that depend on calls, in all functions.
pub fn mark_exits(functions: &mut [Function], variables: &[Variable]) {
    let decorated = variables.iter().any(|variable| variable.decorations.volatile)
        || functions.iter().any(names_volatile_memory);
    let module = Module { variables, decorated };
    let origins: Vec<Origins> = functions.iter().map(Origins::new).collect();
    let mut known = vec![Does::default(); functions.len()];
    loop {
        let whole = |(function, origins): (&Function, &Origins)| {
            let parameter = |register| function.parameters.iter().any(|one| one.register == register);
            let code = function.code.iter().map(|inst| &inst.op);
            let mut does = module.what(code, functions, &known, origins, &|register| !parameter(register));
            // They are gone when the function returns.
            does.stored.retain(|stored| !matches!(stored, Stored::Local(_)));
            does
        };
        let next: Vec<Does> = functions.iter().zip(&origins).map(whole).collect();
        if next == known {
            break;
        }
        known = next;
    }
    let all: Vec<Vec<(Does, bool)>> = functions
        .iter()
        .zip(&origins)
        .map(|(function, origins)| {
            let of_loop = |id: usize| {
                let inside = |block: usize| {
                    function.blocks.get(block).is_some_and(|block| block.loops.contains(&LoopId(id as u32)))
                };
                let made_inside =
                    |register| origins.blocks.get(&register).is_some_and(|block| inside(*block));
                let code = instructions(function).filter(|(block, _)| inside(*block)).map(|(_, op)| op);
                let does = module.what(code, functions, &known, origins, &made_inside);
                let sealed = !does.effects && module.is_sealed(function, origins, id, &inside);
                (does, sealed)
            };
            (0..function.loops.len()).map(of_loop).collect()
        })
        .collect();
    for (function, all) in functions.iter_mut().zip(all) {
        for (lp, (does, sealed)) in function.loops.iter_mut().zip(all) {
            lp.exit.stored = does.stored.into_iter().collect();
            lp.exit.may_have_effects = does.effects;
            lp.exit.sealed = sealed;
        }
    }
}

/// The instructions with the index of their block.
fn instructions(function: &Function) -> impl Iterator<Item = (usize, &Op)> {
    function.code.iter().enumerate().map(|(index, inst)| {
        let behind = function.blocks.partition_point(|block| block.start as usize <= index);
        (behind.saturating_sub(1), &inst.op)
    })
}

/// Whether something beside variables and memory operands makes accesses volatile.
fn names_volatile_memory(function: &Function) -> bool {
    let chain = |op: &Op| matches!(op, Op::Memory(MemoryOp::Chain(chain)) if chain.decorations.volatile);
    function.code.iter().any(|inst| chain(&inst.op))
        || function.parameters.iter().any(|parameter| parameter.decorations.volatile)
        || function.locals.iter().any(|local| local.decorations.volatile)
}

/// What some instructions do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Does {
    stored: BTreeSet<Stored>,
    effects: bool,
}

/// Where pointers of a function come from.
struct Origins {
    origins: HashMap<u32, Origin>,
    /// The block that makes each register.
    blocks: HashMap<u32, usize>,
}

/// What makes a pointer.
enum Origin {
    Variable(u32),
    Local(u32),
    /// A chain from the pointer in this operand, or its copy.
    From(Operand),
    /// One of these: of a φ or an OpSelect.
    OneOf(Vec<Operand>),
}

impl Origins {
    fn new(function: &Function) -> Self {
        let mut origins = HashMap::new();
        let mut blocks = HashMap::new();
        for (number, local) in (0..).zip(&function.locals) {
            origins.insert(local.register, Origin::Local(number));
        }
        for (block, op) in instructions(function) {
            if let Some(register) = op.destination() {
                blocks.insert(register, block);
            }
            match op {
                Op::Memory(MemoryOp::Variable { dst, variable }) => {
                    origins.insert(*dst, Origin::Variable(*variable));
                }
                Op::Memory(MemoryOp::Chain(chain)) => {
                    origins.insert(chain.dst, Origin::From(chain.base));
                }
                Op::Copy { dst, a, .. } => {
                    origins.insert(*dst, Origin::From(*a));
                }
                Op::Select { dst, a, b, .. } => {
                    origins.insert(*dst, Origin::OneOf(vec![*a, *b]));
                }
                op => {
                    for edge in op.edges() {
                        for &(register, operand, _) in &edge.moves {
                            blocks.insert(register, edge.target as usize);
                            let origin = origins.entry(register).or_insert_with(|| Origin::OneOf(Vec::new()));
                            if let Origin::OneOf(all) = origin {
                                all.push(operand);
                            }
                        }
                    }
                }
            }
        }
        Origins { origins, blocks }
    }
}

/// What holds for the whole module.
struct Module<'m> {
    variables: &'m [Variable],
    /// Some memory is decorated Volatile: then any access may be volatile.
    decorated: bool,
}

impl Module<'_> {
    /// What instructions of a function do, where `inside` are the registers made by them.
    fn what<'c>(
        &self,
        code: impl Iterator<Item = &'c Op>,
        functions: &[Function],
        known: &[Does],
        origins: &Origins,
        inside: &dyn Fn(u32) -> bool,
    ) -> Does {
        let mut does = Does::default();
        for op in code {
            does.effects |= self.is_effect(op);
            if let Some(pointer) = stored_through(op) {
                self.lead(pointer, origins, inside, &mut BTreeSet::new(), &mut does.stored);
            }
            let Some(callee) = op.callee() else { continue };
            let Some(inner) = known.get(callee.0 as usize) else { continue };
            does.effects |= inner.effects;
            for stored in &inner.stored {
                let Stored::Through(register) = *stored else {
                    does.stored.insert(*stored);
                    continue;
                };
                let parameters =
                    functions.get(callee.0 as usize).map_or(&[][..], |function| &function.parameters);
                let position = parameters.iter().position(|one| one.register == register);
                match position.and_then(|position| argument(op, position)) {
                    Some(pointer) => {
                        self.lead(pointer, origins, inside, &mut BTreeSet::new(), &mut does.stored);
                    }
                    None => {
                        does.stored.insert(Stored::Anything);
                    }
                }
            }
        }
        does
    }

    /// Adds the variables that a pointer may lead to.
    fn lead(
        &self,
        pointer: Operand,
        origins: &Origins,
        inside: &dyn Fn(u32) -> bool,
        seen: &mut BTreeSet<u32>,
        stored: &mut BTreeSet<Stored>,
    ) {
        // A constant is null.
        if pointer.is_constant() || !seen.insert(pointer.index()) {
            return;
        }
        let register = pointer.index();
        match origins.origins.get(&register) {
            Some(Origin::Variable(number)) => {
                let class = self.variables.get(*number as usize).map(|variable| variable.class);
                if class.is_some_and(is_own) {
                    stored.insert(Stored::Variable(*number));
                }
            }
            Some(Origin::Local(number)) => {
                stored.insert(Stored::Local(*number));
            }
            Some(Origin::From(base)) => self.lead(*base, origins, inside, seen, stored),
            Some(Origin::OneOf(_)) | None if !inside(register) => {
                stored.insert(Stored::Through(register));
            }
            Some(Origin::OneOf(all)) => {
                all.iter().for_each(|one| self.lead(*one, origins, inside, seen, stored));
            }
            None => {
                stored.insert(Stored::Anything);
            }
        }
    }

    /// Whether who is in the blocks of a loop stays there, and does nothing but compute.
    fn is_sealed(
        &self,
        function: &Function,
        origins: &Origins,
        id: usize,
        inside: &dyn Fn(usize) -> bool,
    ) -> bool {
        let Some(own) = function.loops.get(id) else { return false };
        let mut within = function.loops.iter().filter(|lp| inside(lp.header as usize));
        let stays = within.all(|lp| match &lp.exit.edge {
            Some(edge) => inside(edge.target as usize) || lp.header == own.header,
            None => own.exit.edge.is_none(),
        });
        stays
            && instructions(function).filter(|(block, _)| inside(*block)).all(|(_, op)| {
                self.only_computes(op, function, origins)
                    && op.edges().iter().all(|edge| inside(edge.target as usize))
            })
    }

    /// Whether the operation does nothing, beside choosing, but set registers and variables of the invocation.
    fn only_computes(&self, op: &Op, function: &Function, origins: &Origins) -> bool {
        let is_whole = |pointer: Operand, shape| {
            let variable = match origins.origins.get(&pointer.index()) {
                Some(Origin::Variable(number)) => self.variables.get(*number as usize),
                Some(Origin::Local(_) | Origin::From(_) | Origin::OneOf(_)) | None => None,
            };
            liveness::is_whole_local(pointer, shape, &function.locals)
                || variable.is_some_and(|variable| is_own(variable.class) && variable.shape == shape)
        };
        match op {
            Op::Control(
                ControlOp::Branch(_) | ControlOp::BranchConditional { .. } | ControlOp::Switch { .. },
            )
            | Op::Memory(MemoryOp::Variable { .. })
            | Op::Select { .. }
            | Op::Nop => true,
            Op::Memory(MemoryOp::Load { pointer, shape, .. } | MemoryOp::Store { pointer, shape, .. }) => {
                is_whole(*pointer, *shape)
            }
            op => liveness::is_inert(op, &function.locals),
        }
    }

    /// Whether the operation itself may have an effect.
    fn is_effect(&self, op: &Op) -> bool {
        let is_volatile = |operands: &MemoryOperands| operands.volatile || self.decorated;
        let writes = |class, operands| !is_own(class) || is_volatile(operands);
        match op.effect() {
            Effect::Atomic(_) | Effect::Barrier(_) | Effect::Subgroup(_) => true,
            Effect::Image(op) => op.destination().is_none() || is_volatile(&op.operands.memory),
            Effect::Memory(MemoryOp::Load { operands, .. }) => is_volatile(operands),
            Effect::Memory(MemoryOp::Store { class, operands, .. }) => writes(*class, operands),
            Effect::Memory(MemoryOp::Copy { target_class, target_operands, source_operands, .. }) => {
                writes(*target_class, target_operands) || is_volatile(source_operands)
            }
            Effect::Cooperative(CooperativeOp::Load { access, .. }) => is_volatile(&access.operands),
            Effect::Cooperative(CooperativeOp::Store { access, .. }) => {
                writes(access.class, &access.operands)
            }
            Effect::Control(ControlOp::Demote) => true,
            Effect::Memory(
                MemoryOp::Variable { .. }
                | MemoryOp::Uniform { .. }
                | MemoryOp::Chain(_)
                | MemoryOp::ArrayLength { .. }
                | MemoryOp::Difference { .. },
            )
            | Effect::Control(
                ControlOp::Branch(_)
                | ControlOp::BranchConditional { .. }
                | ControlOp::Switch { .. }
                | ControlOp::Call { .. }
                | ControlOp::Return
                | ControlOp::ReturnValue { .. }
                | ControlOp::Unreachable
                | ControlOp::Kill
                | ControlOp::IsHelper { .. },
            )
            | Effect::Cooperative(
                CooperativeOp::Length { .. }
                | CooperativeOp::Extract { .. }
                | CooperativeOp::Insert { .. }
                | CooperativeOp::IfHeld { .. }
                | CooperativeOp::Unclip { .. }
                | CooperativeOp::Each(_),
            )
            | Effect::None => false,
        }
    }
}

/// Memory of which the loss goes unnoticed.
fn is_own(class: StorageClass) -> bool {
    matches!(class, StorageClass::Function | StorageClass::Private)
}

/// The pointer by which the operation itself stores to a Function or Private variable.
fn stored_through(op: &Op) -> Option<Operand> {
    match op {
        Op::Memory(
            MemoryOp::Store { pointer, class, .. }
            | MemoryOp::Copy { target: pointer, target_class: class, .. },
        )
        | Op::Cooperative(CooperativeOp::Store {
            access: CooperativeAccess { pointer, class, .. }, ..
        }) => is_own(*class).then_some(*pointer),
        Op::Atomic(op) => is_own(op.class).then_some(op.pointer),
        Op::Ray(RayOp { query, kind }) => match kind {
            RayKind::Initialize(_)
            | RayKind::Terminate
            | RayKind::Generate { .. }
            | RayKind::Confirm
            | RayKind::Proceed { .. } => Some(*query),
            RayKind::Get { .. } | RayKind::GetIntersection { .. } => None,
        },
        _ => None,
    }
}

/// What a call passes for the parameter at this position.
fn argument(op: &Op, position: usize) -> Option<Operand> {
    match op {
        Op::Control(ControlOp::Call { arguments, .. }) => arguments.get(position).copied(),
        Op::Cooperative(CooperativeOp::Each(each)) => match &each.calls {
            // Row and column come first.
            Calls::PerElement(arguments) => match arguments.get(position.checked_sub(2)?)? {
                ElementArgument::Value(value, _) => Some(*value),
                ElementArgument::Component(_) => None,
            },
            Calls::Decode { .. } => None,
        },
        _ => None,
    }
}
