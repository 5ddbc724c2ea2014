//! Which invocations may wait for each other at a barrier or a subgroup operation. They are in one component.

use crate::event::Scope;
use crate::explore::facts::touched::Contact;
use crate::explore::program::units;
use crate::explore::state::{Found, Round};
use crate::interp::Stop;
use crate::ir::{BarrierOp, Effect, Program};

/// Notes that an invocation stops for an event.
pub(crate) fn note_contact(round: &Round, invocation: usize, stop: &Stop, found: &mut Found) {
    let Some((access, may_write)) = stop.access() else { return };
    let contact = if may_write { Contact::Written } else { Contact::Read };
    let Some(object) = round.context.dispatch.objects.get(access.object as usize) else { return };
    if round.in_group {
        found.discoveries.touched.note(object.memory, access, contact);
    } else {
        let words = units::words_of(access).map(|word| ((object.memory, word), invocation as u32));
        found.discoveries.meets.extend(words);
    }
}

/// Whether invocations wait for each other, or are compared, in another way than by what they read. It is `None` if
/// this is not limited to invocations of one workgroup or subgroup.
pub(crate) fn waits_within_workgroups(program: &Program) -> Option<bool> {
    let mut waits = false;
    for inst in program.functions.iter().flat_map(|function| &function.code) {
        match inst.op.effect() {
            Effect::Barrier(BarrierOp::Control { execution, .. }) if *execution <= Scope::Workgroup => {
                waits = true
            }
            Effect::Barrier(BarrierOp::Control { .. } | BarrierOp::Numbered(_) | BarrierOp::Device(_)) => {
                return None
            }
            Effect::Subgroup(_) | Effect::Cooperative(_) => waits = true,
            Effect::Barrier(BarrierOp::Memory { .. })
            | Effect::Control(_)
            | Effect::Memory(_)
            | Effect::Atomic(_)
            | Effect::Image(_)
            | Effect::None => {}
        }
    }
    Some(waits || program.modes.tangles || program.modes.descriptors)
}
