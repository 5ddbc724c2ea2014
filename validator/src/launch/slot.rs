//! Descriptor slots: where a buffer is bound.

use std::fmt;
use std::str::FromStr;

use crate::ir::image::Resource;
use crate::ir::Variable;

/// A descriptor: set, binding, and for an array of descriptors its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The element of an array of descriptors; `None` where the binding is no array.
    pub element: Option<u32>,
}

impl Slot {
    /// The slots of a variable: one, or one per element of an array of descriptors; none for a
    /// variable without a binding.
    pub fn of(variable: &Variable) -> Vec<Slot> {
        let Some((set, binding)) = variable.binding else { return Vec::new() };
        match variable.descriptors {
            None => vec![Slot { set, binding, element: None }],
            Some(count) => (0..count).map(|element| Slot { set, binding, element: Some(element) }).collect(),
        }
    }
}

/// The slots of the variable where these are acceleration structures.
pub fn acceleration_structures(variable: &Variable) -> Vec<Slot> {
    match variable.resource {
        Some(Resource::AccelerationStructure) => Slot::of(variable),
        Some(Resource::Image(_) | Resource::Sampler | Resource::SampledImage(_)) | None => Vec::new(),
    }
}

/// The key in reports: `S.B` or `S.B.E`.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.set, self.binding)?;
        match self.element {
            Some(element) => write!(f, ".{element}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Slot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not SET.BINDING or SET.BINDING.ELEMENT");
        let numbers: Vec<u32> =
            text.split('.').map(|part| part.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        match numbers[..] {
            [set, binding] => Ok(Slot { set, binding, element: None }),
            [set, binding, element] => Ok(Slot { set, binding, element: Some(element) }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_back_as_they_are_written() {
        for text in ["0.1", "3.4.5"] {
            assert_eq!(text.parse::<Slot>().map(|slot| slot.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "1", "1.", "a.b", "1.2.3.4", "-1.0", "0x1.0"] {
            assert!(text.parse::<Slot>().is_err(), "{text}");
        }
    }
}
