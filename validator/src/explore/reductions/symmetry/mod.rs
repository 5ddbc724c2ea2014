//! Symmetry reduction: of the executions that differ only in the places of the invocations of a class, one is visited.
//!
//! For example, 64 invocations append to a list with `slot = atomicAdd(count, 1); list[slot] = id`. Their 64! orders
//! differ only in the slot of each invocation. The search visits the order of the invocations' numbers ([`gates`]),
//! checks that all invocations do the same in each place ([`replay`]), and makes the other outcomes from that one
//! ([`orbit`], [`expansion`]), or keeps them as slots and contents ([`factored`]). The idea is the symmetry reduction
//! of model checking (Clarke, Enders, Filkorn, Jha, "Exploiting symmetry in temporal logic model checking", FMSD 1996).
//! Here the first updates of a word order the classes.
//!
//! This file finds the classes. [`classes`] says why one order of them is enough.

pub(crate) mod classes;
pub(crate) mod expansion;
pub(crate) mod factored;
pub(crate) mod factored_form;
pub(crate) mod gates;
pub(crate) mod leaves;
pub(crate) mod orbit;
pub(crate) mod relabelling;
pub(crate) mod replay;

use crate::explore::facts::knowledge::Knowledge;
use crate::explore::program::aliasing::Declarations;
use crate::explore::program::scopes::ScopePosition;
use crate::explore::program::updates;
use crate::explore::reductions::components::product;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::symmetry::classes::{Class, Start, Symmetry, MAX_INVOCATIONS};
use crate::explore::reductions::symmetry::replay::{End, Ground, Run};
use crate::explore::reductions::Reduction;
use crate::explore::state::{accesses, Context, Found, Round};
use crate::ir::AtomicKind;
use crate::model::graph::Unit;
use crate::value::Byte;

/// The reduction.
pub(crate) struct SymmetryReduction;

impl Reduction for SymmetryReduction {
    fn name(&self) -> ReductionName {
        ReductionName::Symmetry
    }

    fn is_applicable(&self, context: &Context) -> bool {
        let Context { dispatch, program, settings, .. } = *context;
        context.has_first_updates
            && settings.axioms
            && settings.remark.is_none()
            && dispatch.system_synchronizes_with.is_empty()
            && !program.modes.tangles
            && !context.may_discard
            && (2..=MAX_INVOCATIONS).contains(&dispatch.places.len())
            && Declarations::new(dispatch).are_single()
    }

    fn prepare(&self, round: &mut Round, members: Option<&[usize]>) {
        round.symmetry = find(round.context, round.knowledge, members);
    }

    fn hand_over(&self, context: &Context, found: &mut Found) {
        product::combine_factored(found, context);
    }
}

fn ground_of<'a>(context: &Context<'a>, knowledge: &'a Knowledge, initial: &'a [Vec<Byte>]) -> Ground<'a> {
    let max_instructions = context.settings.max_instructions;
    Ground {
        program: context.program,
        dispatch: context.dispatch,
        knowledge,
        initial,
        max_instructions,
        placing: &[],
    }
}

/// The classes of a program on a dispatch, as far as they are known. If there is a `group`, they are classes of its
/// invocations only.
pub(crate) fn find(context: &Context, knowledge: &Knowledge, group: Option<&[usize]>) -> Option<Symmetry> {
    if !context.uses(ReductionName::Symmetry) || !knowledge.has_units() || knowledge.has_speculated() {
        return None;
    }
    let Context { dispatch, program, .. } = *context;
    let count = dispatch.places.len();
    let initial = dispatch.initial_memory();
    let ground = ground_of(context, knowledge, &initial);
    let standing = ScopePosition::new(program, dispatch);
    let mut starts: Vec<Start> = Vec::new();
    let is_of_group = |index: &u32| group.is_none_or(|group| group.binary_search(&(*index as usize)).is_ok());
    let candidates = (0..count as u32).filter(is_of_group);
    let candidates = candidates.filter(|index| !knowledge.asymmetric.contains(index));
    for index in candidates {
        let mut run = Run::new(&ground, index);
        let Some((deeds, end)) = run.go(&ground) else { continue };
        let Some(unit) = first_update(&ground, &end) else { continue };
        let same = starts.iter_mut().find(|start| {
            (&start.deeds, &start.end) == (&deeds, &end) && standing.is_alike(start.members[0], index)
        });
        match same {
            Some(start) => {
                start.members.push(index);
                start.runs.push(run);
            }
            None => starts.push(Start { deeds, end, unit, members: vec![index], runs: vec![run] }),
        }
    }
    starts.retain(|start| start.members.len() > 1);
    if starts.is_empty() {
        return None;
    }
    let mut places = vec![None; count];
    for (class, start) in starts.iter().enumerate() {
        for (number, member) in start.members.iter().enumerate() {
            places[*member as usize] = Some((class, number));
        }
    }
    let classes = starts.into_iter().map(|start| Class::new(program, start)).collect();
    Some(Symmetry { classes, places, initial })
}

/// The unit of the read at `end`, if it is a read-modify-write that always writes and does not spin, and if no
/// invocation was seen to write the unit in another way.
fn first_update(ground: &Ground, end: &End) -> Option<Unit> {
    let Ground { knowledge, dispatch, program, .. } = *ground;
    let End::Reading { access, atomic: Some(_), .. } = end else { return None };
    if !updates::always_updates(program, access.inst) || knowledge.spin_reads.contains(&access.inst) {
        return None;
    }
    let object = dispatch.objects.get(access.object as usize)?;
    let spans = accesses::units_of(access, object.memory, knowledge, |_| {})?;
    let [(unit, _)] = spans[..] else { return None };
    let updates = |kind: &AtomicKind| !matches!(kind, AtomicKind::Load | AtomicKind::Store { .. });
    let agents = 0..dispatch.places.len() as u32;
    let mut writers = agents.flat_map(|agent| knowledge.writers(unit, agent));
    writers.all(|(_, inst)| updates::atomic(program, *inst).is_some_and(updates)).then_some(unit)
}

pub(crate) fn ground<'s>(round: &'s Round, symmetry: &'s Symmetry) -> Ground<'s> {
    ground_of(round.context, round.knowledge, &symmetry.initial)
}
