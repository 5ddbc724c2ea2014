//! Outcomes in factored form: slots that some contents fill in some order (docs/json.md, `factored`).

use serde::Deserialize;

use spirv_tv::behaviour::Outcome;
use spirv_tv::compare::admits;
use spirv_tv::dispatch::Dispatch;
use spirv_tv::value::Byte;

use super::allowed::{bytes, outcome, OutcomeJson};

#[derive(Debug, Deserialize)]
pub(super) struct FactoredJson {
    first: OutcomeJson,
    classes: Vec<ClassJson>,
}

#[derive(Debug, Deserialize)]
struct ClassJson {
    slots: Vec<Vec<RunJson>>,
    contents: Vec<Vec<String>>,
}

/// Bytes that lie side by side.
#[derive(Debug, Deserialize)]
struct RunJson {
    object: String,
    offset: usize,
    bytes: usize,
}

/// Outcomes that differ in which contents are in which slot.
#[derive(Debug)]
pub(super) struct Factored {
    /// One of them.
    pub(super) first: Outcome,
    classes: Vec<Class>,
}

#[derive(Debug)]
struct Class {
    /// Bytes by observed object and number there.
    slots: Vec<Vec<(usize, usize)>>,
    /// Each fills one slot at most.
    contents: Vec<Vec<Byte>>,
}

impl Factored {
    /// The outcomes, in the objects of a dispatch.
    ///
    /// # Errors
    /// They are of other objects, or something is no word.
    pub(super) fn of(json: &FactoredJson, dispatch: &Dispatch) -> Result<Factored, String> {
        let first = outcome(&json.first, dispatch)?;
        let observed: Vec<&str> = dispatch
            .objects
            .iter()
            .filter(|object| object.observed)
            .map(|object| object.key.as_str())
            .collect();
        let place = |run: &RunJson| {
            let object = observed.iter().position(|key| *key == run.object);
            let end = run.offset.checked_add(run.bytes);
            let size = object.and_then(|object| first.memory.get(object)).map(Vec::len);
            match (object, end, size) {
                (Some(object), Some(end), Some(size)) if end <= size => {
                    Ok((run.offset..end).map(|byte| (object, byte)).collect::<Vec<_>>())
                }
                _ => Err(format!("a slot lies outside of {}", run.object)),
            }
        };
        let class = |class: &ClassJson| {
            let slot = |slot: &Vec<RunJson>| {
                Ok(slot.iter().map(place).collect::<Result<Vec<_>, String>>()?.concat())
            };
            let slots = class.slots.iter().map(slot).collect::<Result<Vec<_>, String>>()?;
            let contents =
                class.contents.iter().map(|words| bytes(words)).collect::<Result<Vec<_>, String>>()?;
            Ok(Class { slots, contents })
        };
        let classes = json.classes.iter().map(class).collect::<Result<Vec<_>, String>>()?;
        Ok(Factored { first, classes })
    }

    /// Whether one of them admits this outcome.
    pub(super) fn admits(&self, outcome: &Outcome) -> bool {
        let mut rest = self.first.memory.clone();
        for class in &self.classes {
            let slots: Vec<Vec<Byte>> = class
                .slots
                .iter()
                .map(|slot| held(slot, &outcome.memory))
                .collect::<Option<_>>()
                .unwrap_or_default();
            if slots.len() != class.slots.len() || !class.fills(&slots) {
                return false;
            }
            // What is in a slot is dealt with.
            for (object, byte) in class.slots.iter().flatten() {
                rest[*object][*byte] = Byte::Undef;
            }
        }
        let all = rest.iter().flatten().zip(outcome.memory.iter().flatten());
        rest.iter().map(Vec::len).eq(outcome.memory.iter().map(Vec::len)) && { all }
            .all(|(one, other)| admits(*one, *other))
    }
}

fn held(slot: &[(usize, usize)], memory: &[Vec<Byte>]) -> Option<Vec<Byte>> {
    slot.iter().map(|(object, byte)| memory.get(*object)?.get(*byte).copied()).collect()
}

impl Class {
    /// Whether the contents can fill slots that hold this, none of them twice: a matching by augmenting paths (Kuhn).
    fn fills(&self, slots: &[Vec<Byte>]) -> bool {
        let fits = |slot: usize, content: usize| {
            let (slot, content) = (&slots[slot], &self.contents[content]);
            slot.len() == content.len() && content.iter().zip(slot).all(|(one, other)| admits(*one, *other))
        };
        let mut slot_of: Vec<Option<usize>> = vec![None; self.contents.len()];
        (0..slots.len()).all(|first| {
            let mut tried = vec![false; self.contents.len()];
            // Slots on the way, each with the next content to look at.
            let mut way = vec![(first, 0)];
            let mut taken = Vec::new();
            while let Some((slot, next)) = way.last_mut() {
                let Some(content) =
                    (*next..slot_of.len()).find(|content| !tried[*content] && fits(*slot, *content))
                else {
                    way.pop();
                    taken.pop();
                    continue;
                };
                *next = content + 1;
                tried[content] = true;
                taken.push(content);
                match slot_of[content] {
                    Some(other) => way.push((other, 0)),
                    None => {
                        for ((slot, _), content) in way.iter().zip(&taken) {
                            slot_of[*content] = Some(*slot);
                        }
                        return true;
                    }
                }
            }
            false
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(contents: &[&[Byte]]) -> Class {
        Class { slots: Vec::new(), contents: contents.iter().map(|content| content.to_vec()).collect() }
    }

    #[test]
    fn each_content_fills_one_slot() {
        let known = |value| Byte::Known(value);
        let of = |values: &[u8]| values.iter().map(|value| vec![known(*value)]).collect::<Vec<_>>();
        let plain = class(&[&[known(1)], &[known(2)], &[known(2)]]);
        for slots in [&[1, 2, 2][..], &[2, 1, 2], &[2, 2], &[]] {
            assert!(plain.fills(&of(slots)), "{slots:?}");
        }
        for slots in [&[1, 1][..], &[3], &[2, 2, 2], &[1, 2, 2, 1]] {
            assert!(!plain.fills(&of(slots)), "{slots:?}");
        }
        // What admits anything must be left for whom nothing else fits.
        let open = class(&[&[Byte::Undef], &[known(1)], &[known(2)]]);
        for slots in [&[1, 2, 9][..], &[9, 2, 1], &[1, 1, 2], &[2, 1, 1]] {
            assert!(open.fills(&of(slots)), "{slots:?}");
        }
        assert!(!open.fills(&of(&[1, 1, 1])) && !open.fills(&of(&[8, 9])));
    }
}
