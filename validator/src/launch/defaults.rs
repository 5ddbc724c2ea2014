//! The default launch. It is just large enough to distinguish the scopes that the modules use.

use super::dimensions;
use super::scopes::ScopeUse;
use crate::event::Scope;
use crate::ir::Program;

/// Subgroup size where nothing asks for several subgroups: that of common hardware, or the
/// workgroup where that is smaller.
const USUAL_SUBGROUP_SIZE: u32 = 32;

/// Most invocations of a launch with several workgroups that nobody asked for.
const MAX_INVOCATIONS: u64 = 1 << 10;

/// Most invocations of a launch that is only looked at.
const MAX_LOOKED_AT: u64 = 1 << 12;

/// How many workgroups there are where the user does not say (docs/semantics.md, section 1.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workgroups {
    /// In each dimension.
    pub count: [u32; 3],
    /// Several in the dimensions where there would be two if there were not too many invocations then, one in the others.
    /// Where there are two in several dimensions, other numbers of them. Few enough to be looked at.
    pub wide: Option<[u32; 3]>,
    /// The names of those dimensions.
    left_out: Vec<char>,
}

/// How many workgroups these programs get.
pub fn workgroups(before: &ScopeUse, programs: [Option<&Program>; 2], local_invocations: u64) -> Workgroups {
    let read: Vec<[bool; 3]> = programs.into_iter().flatten().map(dimensions::dimensions).collect();
    Workgroups::new(before, &read, local_invocations)
}

impl Workgroups {
    /// Two in each dimension in which the modules tell workgroups apart, as far as there are not too many invocations:
    /// x first. Two in x if invocations of different workgroups of before may communicate.
    fn new(before: &ScopeUse, read: &[[bool; 3]], local_invocations: u64) -> Workgroups {
        let mut found = Workgroups { count: [1; 3], ..Workgroups::default() };
        let (mut invocations, mut several, mut beyond) = (local_invocations, Vec::new(), Vec::new());
        for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
            let communicates = axis == 0 && before.beyond_workgroup;
            if !communicates && !read.iter().any(|read| read[axis]) {
                continue;
            }
            match invocations.saturating_mul(2) {
                double if double <= MAX_INVOCATIONS || communicates => {
                    found.count[axis] = 2;
                    invocations = double;
                    several.push(axis);
                }
                _ => {
                    found.left_out.push(name);
                    beyond.push(axis);
                }
            }
        }
        // Dimensions with as many workgroups as others are not told from those.
        let differently = if beyond.is_empty() { several.into_iter().skip(1).collect() } else { beyond };
        let mut wide = [1; 3];
        for (count, axis) in (2..).zip(&differently) {
            wide[*axis] = count;
        }
        let looked_at =
            wide.iter().fold(local_invocations, |all, count| all.saturating_mul(u64::from(*count)));
        found.wide = (!differently.is_empty() && looked_at <= MAX_LOOKED_AT).then_some(wide);
        found
    }

    /// What the user should know.
    pub fn note(&self) -> Option<String> {
        let left_out: Vec<String> = self.left_out.iter().map(char::to_string).collect();
        let looked_at = if self.wide.is_some() { ", and are at most looked at" } else { "" };
        (!left_out.is_empty()).then(|| {
            format!(
                "one workgroup in {}, where the modules tell several apart: two would be more than {MAX_INVOCATIONS} \
                 invocations{looked_at} (give --workgroups)",
                left_out.join(" and ")
            )
        })
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
        let count = |before: &ScopeUse, read: &[[bool; 3]], local| Workgroups::new(before, read, local).count;
        assert_eq!(count(&far, &[[false; 3]], 1024), [2, 1, 1]);
        assert_eq!(count(&far, &[[false, true, false]], 8), [2, 2, 1]);
        assert_eq!(count(&ScopeUse::default(), &[[false; 3]], 8), [1, 1, 1]);
    }

    #[test]
    fn what_either_module_reads_asks_for_two_workgroups_as_far_as_they_are_not_too_large() {
        let near = ScopeUse::default();
        let (x, xy, all) = ([true, false, false], [true, true, false], [true; 3]);
        let of = |read: &[[bool; 3]], local| {
            let found = Workgroups::new(&near, read, local);
            (found.count, found.left_out.iter().collect::<String>())
        };
        assert_eq!(of(&[x], 64), ([2, 1, 1], String::new()));
        assert_eq!(of(&[x, [false, true, false]], 64), ([2, 2, 1], String::new()));
        assert_eq!(of(&[[false; 3], [false, false, true]], 64), ([1, 1, 2], String::new()));
        assert_eq!(of(&[xy], 512), ([2, 1, 1], "y".to_owned()));
        assert_eq!(of(&[all], 256), ([2, 2, 1], "z".to_owned()));
        assert_eq!(of(&[all], 1024), ([1, 1, 1], "xyz".to_owned()));
        let note = Workgroups::new(&near, &[all], 256).note();
        assert!(note.is_some_and(|note| note.starts_with("one workgroup in z, ")));
        assert_eq!(Workgroups::new(&near, &[all], 64).note(), None);
        let wide = |local| Workgroups::new(&near, &[all], local).wide;
        assert_eq!(
            [wide(64), wide(256), wide(512), wide(1024)],
            [Some([1, 2, 3]), Some([1, 1, 2]), Some([1, 2, 3]), None]
        );
    }
}
