//! What became of the inputs that were looked at, and the instructions that are left for others.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::launched::Plan;
use super::pair::Programs;
use super::result::Run;
use super::scout::{Ends, Plain, Scout};
use super::shares::{Lasting, Rarely};
use super::solving::{Broken, Repairing};
use crate::ir::Line;
use crate::launch::inputs::Inputs;
use crate::launch::patch::Patch;
use crate::launch::{Input, Launch};

/// Inputs that are searched since both end differently on them, at most: where all of them turn out to be permitted, as
/// floats and undefined values are, others are likely to be.
const MOST_SEARCHED: u32 = 64;

/// Of these, how many that are decided are enough, if not by what floats may be.
pub(super) const ENOUGH: u32 = 12;

/// Inputs that are repaired, at most, where before is undefined on most, and how many of them serve: what that costs is
/// missing for looks.
const REPAIRS: u32 = 4;
const REPAIRED: u32 = 2;

/// Workgroups of so many invocations are large: single looks may take long.
pub(super) const LARGE: u64 = 128;

/// Of the instructions for looks that take long, repairs have this part each time, and each side of a look two.
pub(super) const DEEP: u64 = 5;

/// What became of the inputs so far.
pub(super) struct Scouted<'s> {
    pub(super) programs: &'s Programs,
    pub(super) launch: &'s Launch,
    pub(super) plan: &'s Plan,
    pub(super) scout: &'s Scout,
    /// The number of the first run of this launch.
    pub(super) first: usize,
    /// Instructions that are left.
    pub(super) fuel: u64,
    /// Those that finding out sizes has taken since they were last paid.
    pub(super) sizing: &'s Cell<u64>,
    pub(super) looks: u32,
    /// Who runs in looks at the input at hand.
    pub(super) ends: Ends,
    /// What each module may take in that look, where it is more than others may; 0 where it is not.
    pub(super) deep: u64,
    /// Instructions that are left for looks that may take more.
    pub(super) deep_fuel: u64,
    /// By what the instructions that other looks may take are divided.
    pub(super) haste: u64,
    pub(super) searched: u32,
    pub(super) decided: u32,
    /// So many others differ by no more than floats may.
    pub(super) permitted: u32,
    /// The first run that floats leave open.
    pub(super) open: Option<Run>,
    pub(super) plain: Plain,
    /// The blocks of both modules in which something was changed.
    pub(super) changed: [BTreeSet<(u32, u32)>; 2],
    /// For lines of after, the lines of before to which they correspond.
    pub(super) counterparts: BTreeMap<Line, Line>,
    /// Lines of after whose instructions have given something else than those of before.
    pub(super) differing: BTreeSet<Line>,
    /// An input on which before is undefined, to be repaired; and how many there were, beside those that were solved for.
    pub(super) broken: Vec<Broken>,
    pub(super) repairs: u32,
    pub(super) held_repairs: u32,
    /// Of these, so many were not repaired by little.
    pub(super) whole_repairs: u32,
    pub(super) repaired: u32,
    /// Inputs that were solved for have reached something new.
    pub(super) has_solved_new: bool,
    /// The last input that served is the first on which what was changed goes so far.
    pub(super) has_gone_farther: bool,
    /// Following both modules instruction by instruction, and giving inputs on which before is undefined other sizes.
    pub(super) following: Rarely,
    pub(super) resizing: Rarely,
    /// What looks take.
    pub(super) lasting: Lasting,
    /// The first input on which after alone is cut, and what it cost to look at it: a search of it takes as long as one may,
    /// and is mostly cut, too, so it comes last. And how many others there were, also where it had less time.
    pub(super) late: Option<(Input, u64)>,
    pub(super) later: u32,
}

impl Scouted<'_> {
    pub(super) fn may_repair(&self) -> bool {
        self.repairs < REPAIRS && self.repaired < REPAIRED
    }

    /// The last input is to be repaired.
    pub(super) fn break_off(&mut self, inputs: &Inputs<'_>, input: Input, held: Vec<Patch>, how: Repairing) {
        self.broken.push(Broken { recipe: inputs.recipe().clone(), input, held, how });
    }

    /// Instructions that each module may take in a look that takes long: where workgroups are large, and nothing else has
    /// served.
    pub(super) fn deep(&self, inputs: &Inputs<'_>) -> u64 {
        let is_large = self.scout.communicate && self.launch.local_invocations() >= LARGE;
        match is_large && !inputs.has_served() {
            true => self.deep_fuel / DEEP * 2,
            false => 0,
        }
    }

    /// Pays so many instructions, of those for looks that take long as far as there are some.
    pub(super) fn pay(&mut self, is_deep: bool, cost: u64) {
        let of_deep = if is_deep { cost.min(self.deep_fuel) } else { 0 };
        self.deep_fuel -= of_deep;
        self.fuel = self.fuel.saturating_sub(cost - of_deep);
    }

    /// Pays what finding out sizes has taken, and says how much that was.
    pub(super) fn pay_sizing(&mut self) -> u64 {
        let cost = self.sizing.take();
        self.fuel = self.fuel.saturating_sub(cost);
        cost
    }

    /// Instructions that are spent.
    pub(super) fn spent(&self) -> u64 {
        self.plan.fuel.saturating_sub(self.fuel)
    }

    /// Whether nothing else is worth a look.
    pub(super) fn has_enough(&self) -> bool {
        self.searched >= MOST_SEARCHED || self.decided >= ENOUGH || self.fuel <= self.plan.kept
    }
}
