//! Targets: the names by which the user refers to a buffer.

use std::fmt;
use std::str::FromStr;

use super::{LaunchError, Slot};
use crate::ir::{Program, Variable};

/// SET.BINDING, SET.BINDING.ELEMENT, `%id`, or a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A descriptor.
    Slot(Slot),
    /// Result id of a variable.
    Id(u32),
    /// OpName of a variable, or of the block type behind it.
    Name(String),
    /// `ptr:NAME`: the buffer that a physical pointer leads to; `in:NAME`: an input of a stage.
    Named(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Slot(slot) => write!(f, "binding {slot}"),
            Target::Id(id) => write!(f, "variable %{id}"),
            Target::Name(name) => write!(f, "variable named '{name}'"),
            Target::Named(key) => f.write_str(key),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix('%') {
            return match name.parse::<u32>() {
                Ok(0) => Err("'%0' is no id: ids start at %1".to_owned()),
                Ok(id) => Ok(Target::Id(id)),
                Err(_) if is_name(name) => Ok(Target::Name(name.to_owned())),
                Err(_) => Err(format!("'{text}' is neither %NUMBER nor %NAME")),
            };
        }
        if NAMED.iter().any(|prefix| text.strip_prefix(prefix).is_some_and(is_name)) {
            return Ok(Target::Named(text.to_owned()));
        }
        match text.parse::<Slot>() {
            Ok(slot) => Ok(Target::Slot(slot)),
            Err(_) if is_name(text) && !text.starts_with(|first: char| first.is_ascii_digit()) => {
                Ok(Target::Name(text.to_owned()))
            }
            Err(_) => Err(format!("'{text}' is none of SET.BINDING, SET.BINDING.ELEMENT, %id, OpName")),
        }
    }
}

/// What the keys of memory without a binding begin with.
const NAMED: [&str; 2] = ["ptr:", "in:"];

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '%' || c == '=')
}

impl Target {
    /// The slots that the target stands for in this program; all elements of an array of descriptors
    /// where none is named. Empty for a SET.BINDING that the program does not have.
    pub fn resolve(&self, program: &Program, option: &'static str) -> Result<Vec<Slot>, LaunchError> {
        match self {
            Target::Slot(slot) => Ok(program
                .variables
                .iter()
                .flat_map(Slot::of)
                .filter(|known| {
                    (known.set, known.binding) == (slot.set, slot.binding)
                        && (slot.element.is_none() || known.element == slot.element)
                })
                .fold(Vec::new(), |mut slots, slot| {
                    if !slots.contains(&slot) {
                        slots.push(slot);
                    }
                    slots
                })),
            Target::Named(_) => Ok(Vec::new()),
            Target::Id(_) | Target::Name(_) => {
                let variable = self.variable(program, option)?;
                let slots = Slot::of(variable);
                if slots.is_empty() {
                    return Err(LaunchError::WrongTarget {
                        option,
                        what: format!(
                            "{self} has no descriptor set and binding: only bound buffers can be given"
                        ),
                    });
                }
                Ok(slots)
            }
        }
    }

    /// The variable of that id or name.
    pub fn variable<'p>(
        &self,
        program: &'p Program,
        option: &'static str,
    ) -> Result<&'p Variable, LaunchError> {
        let found: Vec<&Variable> = match self {
            Target::Named(_) => Vec::new(),
            Target::Slot(slot) => {
                program.variables.iter().filter(|v| v.binding == Some((slot.set, slot.binding))).collect()
            }
            Target::Id(id) => program.variables.iter().filter(|v| v.id == *id).collect(),
            Target::Name(name) => {
                let by_name: Vec<&Variable> =
                    program.variables.iter().filter(|v| v.name.as_deref() == Some(name)).collect();
                if by_name.is_empty() {
                    program.variables.iter().filter(|v| v.type_name.as_deref() == Some(name)).collect()
                } else {
                    by_name
                }
            }
        };
        match found[..] {
            [variable] => Ok(variable),
            [] => Err(LaunchError::UnknownTarget {
                option,
                what: self.to_string(),
                known: known(&program.variables),
            }),
            [first, ..] if found.iter().all(|v| v.binding.is_some() && v.binding == first.binding) => {
                Ok(first)
            }
            [..] => Err(LaunchError::WrongTarget {
                option,
                what: format!("{self} is not the only one: say which, by %id or SET.BINDING"),
            }),
        }
    }
}

/// The variables that can be named, for messages.
fn known(variables: &[Variable]) -> String {
    let mut names: Vec<String> = variables
        .iter()
        .filter(|variable| variable.built_in.is_none())
        .map(|variable| {
            let name = match variable.name.as_deref().or(variable.type_name.as_deref()) {
                Some(name) if !name.is_empty() => format!("%{} '{name}'", variable.id),
                _ => format!("%{}", variable.id),
            };
            match variable.binding {
                Some((set, binding)) => format!("{set}.{binding} ({name})"),
                None => name,
            }
        })
        .collect();
    names.sort();
    if names.is_empty() {
        "no variables".to_owned()
    } else {
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::build::tests::{buffer, program};

    #[test]
    fn targets_are_told_apart_by_form() {
        assert_eq!("0.1".parse(), Ok(Target::Slot(Slot { set: 0, binding: 1, element: None })));
        assert_eq!("%12".parse(), Ok(Target::Id(12)));
        assert_eq!("%data".parse(), Ok(Target::Name("data".into())));
        assert_eq!("data".parse(), Ok(Target::Name("data".into())));
        for wrong in ["", "%", "%0", "12", "1.2.3.4", "a b", "0.x"] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_and_ids_become_slots() {
        let mut program = program(vec![buffer(7, 0, 1), buffer(8, 0, 2)]);
        program.variables[0].name = Some("flags".into());
        program.variables[1].type_name = Some("Data".into());
        program.variables[1].descriptors = Some(2);
        let slots = |text: &str| {
            let target: Target = text.parse().map_err(|_| ()).map_err(|()| String::new())?;
            let slots = target.resolve(&program, "--buffer").map_err(|error| error.to_string())?;
            Ok::<String, String>(slots.iter().map(Slot::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(slots("%7"), Ok("0.1".into()));
        assert_eq!(slots("flags"), Ok("0.1".into()));
        assert_eq!(slots("Data"), Ok("0.2.0 0.2.1".into()));
        assert_eq!(slots("0.2"), Ok("0.2.0 0.2.1".into()));
        assert_eq!(slots("0.2.1"), Ok("0.2.1".into()));
        assert_eq!(slots("4.4"), Ok(String::new()));
        assert_eq!(
            slots("%9"),
            Err("--buffer: the module has no variable %9; it has 0.1 (%7 'flags'), 0.2 (%8 'Data')".into())
        );
    }
}
