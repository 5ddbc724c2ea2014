//! What looks, and what makes inputs for them, may take of the instructions that there are.

use crate::launch::trial::BUDGET;

/// What has come to nothing is tried as long as it has taken no more than so many instructions, and this part of all that
/// are spent.
const FREE: u64 = 1 << 19;
const PART: u64 = 4;

/// Where looks that were cut have taken their share, others are cut once they take so many times what those that ended took on
/// average, or so many instructions.
const TIMES_USUAL: u64 = 4;
const LEAST_LOOK: u64 = 1 << 16;

/// What has come to nothing for long is tried less often.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rarely {
    /// Instructions since it came to something.
    in_vain: u64,
}

impl Rarely {
    /// Whether to try this time, where so many instructions are spent in all.
    pub(super) fn is_due(self, spent: u64) -> bool {
        self.in_vain <= FREE + spent / PART
    }

    /// It came to something, or to nothing, for so many instructions.
    pub(super) fn note(&mut self, has_come: bool, cost: u64) {
        self.in_vain = if has_come { 0 } else { self.in_vain.saturating_add(cost) };
    }
}

/// Looks that take too long say nothing, and cost most: those that are cut have a share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lasting {
    cut: Rarely,
    /// Looks that ended, and their instructions.
    ended: u64,
    instructions: u64,
}

impl Lasting {
    /// Instructions that a look may take on each side, where so many are spent in all.
    pub(super) fn allowance(self, spent: u64) -> u64 {
        match self.cut.is_due(spent) {
            true => BUDGET,
            false => {
                let usual = self.instructions / self.ended.max(1);
                usual.saturating_mul(TIMES_USUAL).clamp(LEAST_LOOK, BUDGET)
            }
        }
    }

    /// A look took so many instructions until it ended, or was cut.
    pub(super) fn note(&mut self, is_cut: bool, cost: u64) {
        if is_cut {
            self.cut.note(false, cost);
        } else {
            self.ended += 1;
            self.instructions = self.instructions.saturating_add(cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_to_nothing_has_a_share() {
        let mut rarely = Rarely::default();
        rarely.note(false, FREE + 1);
        assert!(!rarely.is_due(0));
        assert!(rarely.is_due(PART));
        rarely.note(false, 1000);
        assert!(!rarely.is_due(PART) && rarely.is_due(1001 * PART));
        rarely.note(true, 7);
        assert!(rarely.is_due(0));
    }

    #[test]
    fn looks_that_are_cut_have_a_share_and_then_little_time() {
        let mut lasting = Lasting::default();
        lasting.note(true, FREE);
        assert_eq!(lasting.allowance(0), BUDGET);
        lasting.note(true, BUDGET);
        assert_eq!(lasting.allowance(0), LEAST_LOOK);
        assert_eq!(lasting.allowance(PART * BUDGET), BUDGET);
        // Those that end do not win it back.
        [100_000, 300_000].into_iter().for_each(|cost| lasting.note(false, cost));
        assert_eq!(lasting.allowance(0), TIMES_USUAL * 200_000);
        lasting.note(false, 100 * BUDGET);
        assert_eq!(lasting.allowance(0), BUDGET);
    }
}
