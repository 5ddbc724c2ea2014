//! What is reduced.

use std::fmt::Debug;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::clean::{clean, Uses};
use crate::cost;
use crate::difference::{self, visible, Difference};
use crate::edits::{sizes, Edit};
use crate::module::Module;
use crate::twins::Twins;

/// What modules are launched on, and how it becomes smaller.
pub trait Launch: Clone + Debug + Send + Sync {
    /// Smaller ones, of which each differs in one thing, the smallest first.
    fn smaller(&self) -> Vec<Self>;

    /// Those of them on which less runs, which are tried first.
    fn shorter(&self) -> Vec<Self> {
        Vec::new()
    }

    /// Those with one workgroup in a dimension in which there are several, and by which factors the workgroups of the modules
    /// then become larger, so that as many invocations run.
    fn gathered(&self) -> Vec<(Self, [u32; 3])> {
        Vec::new()
    }

    /// How large it is: each of [`Launch::smaller`] has less.
    fn cost(&self) -> u64;

    /// A text in which it differs from all others.
    fn text(&self) -> String;
}

/// For modules that are not launched.
impl Launch for () {
    fn smaller(&self) -> Vec<()> {
        Vec::new()
    }

    fn cost(&self) -> u64 {
        0
    }

    fn text(&self) -> String {
        String::new()
    }
}

/// One module, or a pair with the same keys where instructions correspond, and what they are launched on.
#[derive(Clone, Debug)]
pub struct Case<L> {
    /// The modules, before first.
    pub modules: Vec<Module>,
    /// What they are launched on.
    pub launch: L,
}

/// How large a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// What every accepted edit lessens.
    pub(crate) cost: u64,
    /// How much the modules of a pair differ, which no edit adds to.
    pub(crate) difference: Difference,
}

impl Size {
    /// Whether this may come behind the other one.
    pub(crate) fn is_less_than(self, other: Size) -> bool {
        self.cost < other.cost && self.difference.is_within(other.difference)
    }
}

impl<L: Launch> Case<L> {
    /// How large it is, which every accepted edit lessens.
    pub(crate) fn size(&self) -> Size {
        let modules: u64 = self.modules.iter().map(cost::of).sum();
        let difference = match &self.modules[..] {
            [before, after] => difference::of(before, after),
            _ => Difference::default(),
        };
        Size { cost: modules + self.launch.cost() + difference.cost(), difference }
    }

    /// Number of instructions of each module.
    pub fn instructions(&self) -> Vec<usize> {
        self.modules.iter().map(Module::len).collect()
    }

    /// A hash of everything in it.
    pub(crate) fn hash(&self) -> u128 {
        let mut hasher = SipHasher13::new();
        for module in &self.modules {
            let words = module.words();
            hasher.write_usize(words.len());
            words.iter().for_each(|word| hasher.write_u32(*word));
        }
        hasher.write(self.launch.text().as_bytes());
        hasher.finish128().as_u128()
    }

    /// The case with these edits in the modules at `places`; `None` where they change nothing there, or where one of
    /// two modules alone loses what others may see of it: the mistake between them would become another one. With `keeps_values` values stay
    /// that nobody takes any more.
    pub(crate) fn edited(&self, edits: &[Edit], places: &[usize], keeps_values: bool) -> Option<Case<L>> {
        let mut case = self.clone();
        let mut changed = false;
        let mut twins = Twins::default();
        for place in places {
            let Some(module) = case.modules.get_mut(*place) else { continue };
            // Every edit is tried, whatever the others did.
            changed |= edits.iter().filter(|edit| edit.apply(module, &mut twins)).count() > 0;
        }
        if changed {
            clean(&mut case.modules, &Uses::of(&self.modules), keeps_values);
        }
        Module::agree(&mut case.modules);
        (changed && case.loses_alike(self, edits)).then_some(case)
    }

    /// The case with its workgroups gathered into larger ones; `None` where a module says their size otherwise than by
    /// literals.
    pub(crate) fn gathered(&self, launch: &L, factors: [u32; 3]) -> Option<Case<L>> {
        let mut case = Case { modules: self.modules.clone(), launch: launch.clone() };
        case.modules.iter_mut().try_for_each(|module| sizes::scale(module, factors))?;
        Some(case)
    }

    /// Whether both modules of a pair lost as many accesses and barriers that others may see, or at least some, where what
    /// is executed was changed.
    fn loses_alike(&self, from: &Case<L>, edits: &[Edit]) -> bool {
        let [before, after] = &self.modules[..] else { return true };
        let [old_before, old_after] = &from.modules[..] else { return true };
        let lost = [(old_before, before), (old_after, after)]
            .map(|(old, new)| visible(old).saturating_sub(visible(new)));
        match lost {
            [0, 0] => true,
            [0, _] | [_, 0] => false,
            [one, other] => one == other || edits.iter().any(Edit::changes_flow),
        }
    }
}
