//! What instructions compute with: terms, and trees of them for vectors, matrices, arrays and structs.

use std::rc::Rc;

use super::terms::{Term, Terms};

/// A pointer is the list of its root and of the indices that lead on from there.
#[derive(Clone, PartialEq)]
pub enum Value {
    One(Term),
    Many(Rc<[Value]>),
}

/// The form of the values of a type.
#[derive(Clone, PartialEq)]
pub enum Shape {
    One(u32),
    Many(Rc<[Shape]>),
}

/// Bits of what is only compared with its like: pointers that a parameter gives, images, arrays of unknown length.
pub const OPAQUE: u32 = 64;

impl Shape {
    /// Bits of the first scalar.
    pub fn bits(&self) -> u32 {
        match self {
            Shape::One(bits) => *bits,
            Shape::Many(parts) => parts.first().map_or(0, Shape::bits),
        }
    }

    /// The value of this form that `leaf` makes of the place of each scalar.
    pub fn fill(&self, place: &mut Vec<usize>, leaf: &mut dyn FnMut(&[usize], u32) -> Term) -> Value {
        match self {
            Shape::One(bits) => Value::One(leaf(place, *bits)),
            Shape::Many(parts) => {
                let fill = |(at, part): (usize, &Shape)| {
                    place.push(at);
                    let value = part.fill(place, leaf);
                    place.pop();
                    value
                };
                Value::Many(parts.iter().enumerate().map(fill).collect())
            }
        }
    }
}

impl Value {
    pub fn of(parts: Vec<Value>) -> Self {
        Value::Many(parts.into())
    }

    pub fn one(&self) -> Option<Term> {
        match self {
            Value::One(term) => Some(*term),
            Value::Many(_) => None,
        }
    }

    pub fn many(&self) -> Option<&[Value]> {
        match self {
            Value::One(_) => None,
            Value::Many(parts) => Some(parts),
        }
    }

    pub fn leaves(&self) -> Vec<Term> {
        match self {
            Value::One(term) => vec![*term],
            Value::Many(parts) => parts.iter().flat_map(Value::leaves).collect(),
        }
    }

    /// The part at a place.
    pub fn part(&self, place: &[u32]) -> Option<&Value> {
        match place {
            [] => Some(self),
            [first, rest @ ..] => self.many()?.get(*first as usize)?.part(rest),
        }
    }

    /// The value with another part at a place.
    pub fn with(&self, place: &[u32], part: Value) -> Option<Value> {
        let [first, rest @ ..] = place else { return Some(part) };
        let mut parts = self.many()?.to_vec();
        let changed = parts.get(*first as usize)?.with(rest, part)?;
        *parts.get_mut(*first as usize)? = changed;
        Some(Value::of(parts))
    }

    /// The pairs of scalars that must be equal for the values to be; `None` where they differ in form.
    pub fn pairs(&self, other: &Value, found: &mut Vec<(Term, Term)>) -> Option<()> {
        match (self, other) {
            (Value::One(one), Value::One(other)) => {
                (one.bits() == other.bits()).then(|| found.push((*one, *other)))
            }
            (Value::Many(parts), Value::Many(others)) => {
                if Rc::ptr_eq(parts, others) {
                    return Some(());
                }
                let same = parts.len() == others.len();
                same.then(|| {
                    parts.iter().zip(others.iter()).try_for_each(|(one, other)| one.pairs(other, found))
                })?
            }
            _ => None,
        }
    }
}

/// Scalars of values of one form, taken together place by place.
pub fn each(
    terms: &mut Terms,
    values: &[&Value],
    of: &mut dyn FnMut(&mut Terms, &[Term]) -> Option<Term>,
) -> Option<Value> {
    let (first, _) = values.split_first()?;
    match first {
        Value::One(_) => {
            let scalars: Vec<Term> = values.iter().map(|value| value.one()).collect::<Option<_>>()?;
            of(terms, &scalars).map(Value::One)
        }
        Value::Many(parts) => {
            let mut found = Vec::new();
            for at in 0..parts.len() {
                let inner: Vec<&Value> = { values.iter() }
                    .map(|value| value.many().filter(|many| many.len() == parts.len())?.get(at))
                    .collect::<Option<_>>()?;
                found.push(each(terms, &inner, of)?);
            }
            Some(Value::of(found))
        }
    }
}
