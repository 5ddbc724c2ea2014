//! The default launch. It is just large enough to distinguish the scopes that the modules use.

use super::scopes::ScopeUse;
use crate::event::Scope;

/// Subgroup size where nothing asks for several subgroups: that of common hardware, or the
/// workgroup where that is smaller.
const USUAL_SUBGROUP_SIZE: u32 = 32;

/// Two workgroups if invocations of different workgroups may communicate, else one.
pub fn workgroups(before: &ScopeUse) -> [u32; 3] {
    if before.beyond_workgroup {
        [2, 1, 1]
    } else {
        [1, 1, 1]
    }
}

/// A subgroup size that gives at least two subgroups if Subgroup scope appears, and at least two
/// invocations in one where the workgroup has four.
pub fn subgroup_size(uses: &[&ScopeUse], local_invocations: u64) -> u32 {
    let local = u32::try_from(local_invocations).unwrap_or(u32::MAX);
    if local > 1 && uses.iter().any(|found| found.scopes.contains(&Scope::Subgroup)) {
        let half = local / 2;
        return (1 << half.ilog2()).min(USUAL_SUBGROUP_SIZE);
    }
    local.min(USUAL_SUBGROUP_SIZE).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn subgroup_scope_asks_for_two_subgroups() {
        let with = ScopeUse { scopes: BTreeSet::from([Scope::Subgroup]), ..ScopeUse::default() };
        let without = ScopeUse::default();
        for (local, expected) in [(1, 1), (2, 1), (3, 1), (4, 2), (6, 2), (64, 32), (1024, 32)] {
            assert_eq!(subgroup_size(&[&without, &with], local), expected, "{local}");
        }
        for (local, expected) in [(1, 1), (2, 2), (3, 4), (64, 32)] {
            assert_eq!(subgroup_size(&[&without], local), expected, "{local}");
        }
    }

    #[test]
    fn communication_asks_for_two_workgroups() {
        let far = ScopeUse { beyond_workgroup: true, ..ScopeUse::default() };
        assert_eq!(workgroups(&far), [2, 1, 1]);
        assert_eq!(workgroups(&ScopeUse::default()), [1, 1, 1]);
    }
}
