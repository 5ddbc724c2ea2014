//! What RelaxedPrecision is on: floats alone count, since integers are computed exactly (docs/floats.md).

use std::collections::{BTreeMap, HashMap, HashSet};

use rspirv::spirv::{Decoration, Op as Opcode};

use super::entry::inexact;
use crate::ir::Inexact;
use crate::module::{Instruction, Module};

/// What of a module may have less precision.
#[derive(Debug, Default)]
pub(super) struct Relaxed {
    /// The first decoration that says so.
    pub(super) first: Option<Inexact>,
    /// Not only results of instructions that compute or move something: parameters, variables, members and the like.
    pub(super) is_elsewhere: bool,
}

/// What is decorated, by itself or in a group, with where that is said: ids, and members of structures.
#[derive(Default)]
struct Decorated {
    ids: BTreeMap<u32, Inexact>,
    members: HashMap<u32, Vec<(u32, Inexact)>>,
}

impl Relaxed {
    pub(super) fn of(module: &Module) -> Relaxed {
        let decorated = decorated(module);
        let (mut relaxed, mut with_floats, mut in_function) = (Relaxed::default(), HashSet::new(), false);
        for instruction in module.instructions() {
            let op = instruction.op();
            in_function |= op == Some(Opcode::Function);
            let Some(result) = instruction.result else { continue };
            if op == Some(Opcode::TypeStruct) {
                for (member, at) in decorated.members.get(&result).into_iter().flatten() {
                    let ty = instruction.word(*member as usize);
                    if ty.is_some_and(|ty| with_floats.contains(&ty)) {
                        relaxed.note(*at, true);
                    }
                }
            }
            if holds_floats(&instruction, &with_floats) {
                with_floats.insert(result);
            }
            let of_floats = instruction.result_type.is_some_and(|ty| with_floats.contains(&ty));
            if let Some(at) = decorated.ids.get(&result).filter(|_| of_floats) {
                relaxed.note(*at, !in_function || !computes(op));
            }
        }
        relaxed
    }

    fn note(&mut self, at: Inexact, is_elsewhere: bool) {
        self.is_elsewhere |= is_elsewhere;
        let is_earlier = self.first.is_none_or(|first| at.line < first.line);
        self.first = Some(at).filter(|_| is_earlier).or(self.first);
    }
}

fn decorated(module: &Module) -> Decorated {
    let relaxed = Some(Decoration::RelaxedPrecision as u32);
    let mut decorated = Decorated::default();
    for instruction in module.instructions() {
        match (instruction.op(), instruction.operands) {
            (Some(Opcode::Decorate), [id, decoration, ..]) if Some(*decoration) == relaxed => {
                decorated.ids.entry(*id).or_insert_with(|| inexact(&instruction));
            }
            (Some(Opcode::MemberDecorate), [id, member, decoration, ..]) if Some(*decoration) == relaxed => {
                decorated.members.entry(*id).or_default().push((*member, inexact(&instruction)));
            }
            (Some(Opcode::GroupDecorate), [group, targets @ ..]) => {
                if let Some(at) = decorated.ids.get(group).copied() {
                    decorated.ids.extend(targets.iter().map(|target| (*target, at)));
                }
            }
            (Some(Opcode::GroupMemberDecorate), [group, targets @ ..]) => {
                if let Some(at) = decorated.ids.get(group).copied() {
                    for target in targets.chunks_exact(2) {
                        decorated.members.entry(target[0]).or_default().push((target[1], at));
                    }
                }
            }
            (Some(Opcode::Function), _) => break,
            _ => {}
        }
    }
    decorated
}

/// Whether a type has floats in it, or leads to them.
fn holds_floats(ty: &Instruction<'_>, with_floats: &HashSet<u32>) -> bool {
    let has = |id: &u32| with_floats.contains(id);
    match ty.op() {
        Some(Opcode::TypeFloat) => true,
        Some(
            Opcode::TypeVector
            | Opcode::TypeMatrix
            | Opcode::TypeArray
            | Opcode::TypeRuntimeArray
            | Opcode::TypeImage
            | Opcode::TypeSampledImage
            | Opcode::TypeCooperativeMatrixKHR,
        ) => ty.operands.first().is_some_and(has),
        Some(Opcode::TypePointer) => ty.operands.get(1).is_some_and(has),
        Some(Opcode::TypeStruct) => ty.operands.iter().any(has),
        // What has no type of its own may be read as floats.
        Some(Opcode::TypeUntypedPointerKHR) => true,
        _ => false,
    }
}

/// Whether an instruction in a function computes or moves something.
const fn computes(op: Option<Opcode>) -> bool {
    !matches!(
        op,
        Some(
            Opcode::Function
                | Opcode::FunctionParameter
                | Opcode::FunctionCall
                | Opcode::Variable
                | Opcode::Phi
        )
    )
}
