//! Matches the objects of before with those of after (docs/semantics.md, section 2.1).

use std::collections::BTreeMap;

use crate::behaviour::Outcome;
use crate::dispatch::Dispatch;
use crate::value::Byte;

/// The objects of two dispatches, matched by key.
pub struct ObjectMatch<'d> {
    before: &'d Dispatch,
    after: &'d Dispatch,
    /// For each object of after, its number in the common numbering: that of before, or beyond it.
    common: Vec<u32>,
    pairs: Vec<Pair<'d>>,
}

/// Where the final bytes of one key are found in an outcome.
#[derive(Clone, Copy)]
enum FinalBytes<'d> {
    /// At this index of the outcome's memory.
    Outcome(usize),
    /// The module cannot change them.
    Fixed(&'d [Byte]),
    /// The module does not have them: they may not be changed.
    Untouchable,
}

struct Pair<'d> {
    key: &'d str,
    before: FinalBytes<'d>,
    after: FinalBytes<'d>,
    /// What after starts with, where it has the object.
    initial: &'d [Byte],
}

/// A difference in memory, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The object's key in reports: `0.0`, or the name of a variable.
    pub key: String,
    /// The first byte that differs.
    pub offset: usize,
}

impl<'d> ObjectMatch<'d> {
    /// Matches the objects: by key, and Workgroup variables that are left over in order, among those
    /// of the same size (names and ids do not matter).
    pub fn new(before: &'d Dispatch, after: &'d Dispatch) -> Self {
        let by_key: BTreeMap<&str, usize> = keys(before);
        let mut common: Vec<Option<usize>> =
            after.objects.iter().map(|object| by_key.get(object.key.as_str()).copied()).collect();
        let mut left: Vec<usize> = (0..before.objects.len())
            .filter(|index| is_workgroup(before, *index) && !common.contains(&Some(*index)))
            .collect();
        for (index, object) in after.objects.iter().enumerate() {
            if common[index].is_some() || !is_workgroup(after, index) {
                continue;
            }
            let same = |other: &usize| before.objects[*other].initial.len() == object.initial.len();
            if let Some(position) = left.iter().position(same) {
                common[index] = Some(left.remove(position));
            }
        }
        let beyond = before.objects.len();
        let numbered =
            common.iter().enumerate().map(|(index, found)| found.unwrap_or(beyond + index) as u32).collect();
        ObjectMatch { before, after, common: numbered, pairs: pairs(before, after) }
    }

    /// The number of an object of before in the common numbering.
    pub fn of_before(&self, object: u32) -> u32 {
        object
    }

    /// The number of an object of after in the common numbering.
    pub fn of_after(&self, object: u32) -> u32 {
        let unknown = (self.before.objects.len() + self.after.objects.len()) as u32;
        self.common.get(object as usize).copied().unwrap_or(unknown)
    }

    /// Whether both dispatches have the same objects in the same order: equal outcomes are then the
    /// same behaviour.
    pub fn is_identity(&self) -> bool {
        self.before.objects.len() == self.after.objects.len()
            && self.before.objects.iter().zip(&self.after.objects).enumerate().all(|(index, (b, a))| {
                self.of_after(index as u32) == index as u32 && b.observed == a.observed
            })
    }

    /// Where the final memory of `after` is not admitted by that of `before`; `None` where it is.
    pub fn difference(&self, before: &Outcome, after: &Outcome) -> Option<Difference> {
        self.pairs.iter().find_map(|pair| {
            let after_bytes = bytes(pair.after, after)?;
            let offset = match bytes(pair.before, before) {
                Some(allowed) => {
                    let differing = allowed.iter().zip(after_bytes).position(|(b, a)| !admits(*b, *a));
                    differing.or_else(|| {
                        (allowed.len() != after_bytes.len()).then(|| allowed.len().min(after_bytes.len()))
                    })
                }
                None => after_bytes.iter().zip(pair.initial).position(|(byte, initial)| byte != initial),
            };
            offset.map(|offset| Difference { key: pair.key.to_owned(), offset })
        })
    }
}

/// Whether a byte of an outcome of before admits this byte.
pub fn admits(before: Byte, after: Byte) -> bool {
    match before {
        Byte::Undef => true,
        Byte::Known(_) => before == after,
    }
}

fn keys(dispatch: &Dispatch) -> BTreeMap<&str, usize> {
    dispatch.objects.iter().enumerate().map(|(index, object)| (object.key.as_str(), index)).collect()
}

fn is_workgroup(dispatch: &Dispatch, object: usize) -> bool {
    dispatch.objects.get(object).is_some_and(|object| object.key.starts_with('%'))
}

/// For each object, its index in an outcome's memory.
fn observed(dispatch: &Dispatch) -> Vec<Option<usize>> {
    let mut next = 0;
    dispatch
        .objects
        .iter()
        .map(|object| {
            object.observed.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

fn pairs<'d>(before: &'d Dispatch, after: &'d Dispatch) -> Vec<Pair<'d>> {
    let (before_keys, after_keys) = (keys(before), keys(after));
    let (before_observed, after_observed) = (observed(before), observed(after));
    let mut all: Vec<&str> = Vec::new();
    for (dispatch, observed) in [(before, &before_observed), (after, &after_observed)] {
        for (object, observed) in dispatch.objects.iter().zip(observed) {
            if observed.is_some() && !all.contains(&object.key.as_str()) {
                all.push(&object.key);
            }
        }
    }
    let own = |dispatch: &'d Dispatch, observed: &[Option<usize>], index: usize| match observed[index] {
        Some(place) => FinalBytes::Outcome(place),
        None => FinalBytes::Fixed(&dispatch.objects[index].initial),
    };
    all.into_iter()
        .map(|key| {
            let in_before = before_keys.get(key).copied();
            let in_after = after_keys.get(key).copied();
            Pair {
                key,
                before: match in_before {
                    Some(index) => own(before, &before_observed, index),
                    None => FinalBytes::Untouchable,
                },
                after: match (in_after, in_before) {
                    (Some(index), _) => own(after, &after_observed, index),
                    // A binding that after lacks keeps its bytes, unless it is the memory of another one.
                    (None, Some(index)) => before
                        .objects
                        .iter()
                        .filter(|other| other.memory == before.objects[index].memory && other.view.is_none())
                        .find_map(|other| after_keys.get(other.key.as_str()))
                        .map_or(FinalBytes::Fixed(&before.objects[index].initial), |&alias| {
                            own(after, &after_observed, alias)
                        }),
                    (None, None) => FinalBytes::Untouchable,
                },
                initial: in_after.map_or(&[], |index| &after.objects[index].initial),
            }
        })
        .collect()
}

fn bytes<'o>(place: FinalBytes<'o>, outcome: &'o Outcome) -> Option<&'o [Byte]> {
    match place {
        FinalBytes::Outcome(index) => outcome.memory.get(index).map(Vec::as_slice),
        FinalBytes::Fixed(bytes) => Some(bytes),
        FinalBytes::Untouchable => None,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::behaviour::End;
    use crate::dispatch::Object;

    /// A dispatch with these objects: key, initial bytes, observed.
    pub fn dispatch(objects: &[(&str, &[Byte], bool)]) -> Dispatch {
        Dispatch {
            entries: Vec::new(),
            system_synchronizes_with: Vec::new(),
            objects: objects
                .iter()
                .enumerate()
                .map(|(number, (key, initial, observed))| Object {
                    key: (*key).to_owned(),
                    initial: initial.to_vec(),
                    observed: *observed,
                    reference: number as u32,
                    memory: number as u32,
                    view: None,
                    constant: !*observed,
                    image: None,
                    sampler: None,
                })
                .collect(),
            object_of: Vec::new(),
            places: Vec::new(),
            workgroups: [1; 3],
            local_size: [1; 3],
            subgroup_size: 1,
            inputs: Default::default(),
            physical: Vec::new(),
            legacy_coherent: false,
            robustness: None,
            open: Default::default(),
            displaced: false,
            helpers: Default::default(),
            acceleration_structures: Vec::new(),
            coverage: Default::default(),
        }
    }

    /// An outcome with this final memory.
    pub fn outcome(memory: &[&[Byte]]) -> Outcome {
        Outcome {
            end: End::Terminated,
            memory: memory.iter().map(|bytes| bytes.to_vec()).collect(),
            volatile: Vec::new(),
            remarks: Vec::new(),
        }
    }

    const ZERO: Byte = Byte::Known(0);
    const ONE: Byte = Byte::Known(1);

    fn differs(before: &Dispatch, after: &Dispatch, b: &[&[Byte]], a: &[&[Byte]]) -> Option<(String, usize)> {
        let matched = ObjectMatch::new(before, after);
        matched.difference(&outcome(b), &outcome(a)).map(|found| (found.key, found.offset))
    }

    #[test]
    fn undefined_bytes_admit_everything_but_are_admitted_only_by_their_like() {
        let d = dispatch(&[("0.0", &[ZERO, ZERO], true)]);
        assert_eq!(differs(&d, &d, &[&[ZERO, Byte::Undef]], &[&[ZERO, ONE]]), None);
        assert_eq!(differs(&d, &d, &[&[ZERO, Byte::Undef]], &[&[ZERO, Byte::Undef]]), None);
        assert_eq!(differs(&d, &d, &[&[ZERO, ONE]], &[&[ZERO, Byte::Undef]]), Some(("0.0".into(), 1)));
    }

    #[test]
    fn objects_are_matched_by_key() {
        let before = dispatch(&[("0.0", &[ZERO], true), ("0.1", &[ZERO], true)]);
        let after = dispatch(&[("0.1", &[ZERO], true), ("0.0", &[ZERO], true)]);
        assert_eq!(differs(&before, &after, &[&[ZERO], &[ONE]], &[&[ONE], &[ZERO]]), None);
        assert_eq!(differs(&before, &after, &[&[ZERO], &[ONE]], &[&[ZERO], &[ONE]]), Some(("0.0".into(), 0)));
    }

    #[test]
    fn what_after_lacks_keeps_its_bytes() {
        let before = dispatch(&[("0.0", &[ZERO], true), ("0.1", &[ONE], true)]);
        let after = dispatch(&[("0.0", &[ZERO], true)]);
        assert_eq!(differs(&before, &after, &[&[ZERO], &[ONE]], &[&[ZERO]]), None);
        assert_eq!(differs(&before, &after, &[&[ZERO], &[ZERO]], &[&[ZERO]]), Some(("0.1".into(), 0)));
    }

    #[test]
    fn what_after_lacks_changes_with_its_alias() {
        let mut before = dispatch(&[("0.0", &[ZERO], true), ("0.1", &[ZERO], true)]);
        before.objects[1].memory = 0;
        let after = dispatch(&[("0.0", &[ZERO], true)]);
        assert_eq!(differs(&before, &after, &[&[ONE], &[ONE]], &[&[ONE]]), None);
        assert_eq!(differs(&before, &after, &[&[ONE], &[ONE]], &[&[ZERO]]), Some(("0.0".into(), 0)));
    }

    #[test]
    fn what_only_after_has_may_not_be_written() {
        let before = dispatch(&[]);
        let after = dispatch(&[("0.0", &[Byte::Undef], true)]);
        assert_eq!(differs(&before, &after, &[], &[&[Byte::Undef]]), None);
        assert_eq!(differs(&before, &after, &[], &[&[ZERO]]), Some(("0.0".into(), 0)));
    }

    #[test]
    fn what_before_cannot_write_keeps_its_bytes() {
        let before = dispatch(&[("0.0", &[ONE], false)]);
        let after = dispatch(&[("0.0", &[ONE], true)]);
        assert_eq!(differs(&before, &after, &[], &[&[ONE]]), None);
        assert_eq!(differs(&before, &after, &[], &[&[ZERO]]), Some(("0.0".into(), 0)));
    }

    #[test]
    fn workgroup_variables_match_whatever_their_names() {
        let before = dispatch(&[("%a", &[ZERO], false), ("%b", &[ZERO, ZERO], false)]);
        let after = dispatch(&[("%7", &[ZERO, ZERO], false), ("%8", &[ZERO], false), ("%9", &[ZERO], false)]);
        let matched = ObjectMatch::new(&before, &after);
        assert_eq!([0, 1, 2].map(|object| matched.of_after(object)), [1, 0, 4]);
    }
}
