//! All reductions, in the order in which a search asks them.
//!
//! The order matters where several apply: merging comes before independent suffixes, so that a state that was reached
//! before is not explored again.

use crate::explore::reductions::barrier_epochs::BarrierEpochs;
use crate::explore::reductions::commuting_updates::CommutingUpdates;
use crate::explore::reductions::components::Components;
use crate::explore::reductions::dead_ends::DeadEnds;
use crate::explore::reductions::early_races::EarlyRaces;
use crate::explore::reductions::independent_suffixes::IndependentSuffixes;
use crate::explore::reductions::merging::Merging;
use crate::explore::reductions::names::Reductions;
use crate::explore::reductions::stale_reads::StaleReads;
use crate::explore::reductions::symmetry::SymmetryReduction;
use crate::explore::reductions::{Branching, Reduced, Reduction};
use crate::explore::state::{Context, Found, Round};

/// All reductions.
pub(crate) static REDUCTIONS: [&dyn Reduction; 9] = [
    &EarlyRaces,
    &Components,
    &SymmetryReduction,
    &Merging,
    &IndependentSuffixes,
    &StaleReads,
    &DeadEnds,
    &BarrierEpochs,
    &CommutingUpdates,
];

/// The reductions that are applicable and not switched off.
pub(crate) fn applicable(context: &Context) -> Reductions {
    let settings = context.settings;
    let is_used = |reduction: &&&dyn Reduction| {
        settings.shortcuts && !settings.without.contains(reduction.name()) && reduction.is_applicable(context)
    };
    REDUCTIONS.iter().filter(is_used).fold(Reductions::NONE, |set, reduction| set.with(reduction.name()))
}

/// The reductions that a search uses.
pub(crate) fn used<'c>(context: &'c Context) -> impl Iterator<Item = &'static dyn Reduction> + 'c {
    REDUCTIONS.iter().copied().filter(|reduction| context.uses(reduction.name()))
}

/// Asks the reductions in turn, where a path would branch.
pub(crate) fn at_branch(round: &Round, at: &mut Branching, found: &mut Found) -> Reduced {
    for reduction in used(round.context) {
        match reduction.at_branch(round, at, found) {
            Reduced::No => {}
            reduced => return reduced,
        }
    }
    Reduced::No
}

#[cfg(test)]
mod tests {
    use super::REDUCTIONS;
    use crate::explore::reductions::names::ReductionName;

    #[test]
    fn every_name_has_its_reduction_and_its_switch() {
        assert_eq!(REDUCTIONS.map(|reduction| reduction.name()), ReductionName::ALL);
        for name in ReductionName::ALL {
            assert_eq!(ReductionName::named(name.name()), Some(name));
        }
    }
}
