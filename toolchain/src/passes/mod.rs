//! Every pass of the bundled spirv-opt: its flag, its argument, and what it promises.
//!
//! The table says what a pass means to do. Where the bundled version does something else, that is a bug
//! of the pass, and the comparison's business to find.

mod markdown;
mod presets;
mod table;

use std::fmt;

pub use markdown::markdown_table;
pub use presets::{preset, Preset};
pub use table::PASSES;

/// A pass of spirv-opt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The flag, with its dashes and without an argument.
    pub flag: &'static str,
    /// Whether the flag takes an argument, and which.
    pub argument: Argument,
    /// What the pass promises about its result.
    pub class: Class,
    /// Why it is in that class, in one line.
    pub reason: &'static str,
}

/// Whether a flag takes `=ARGUMENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The flag stands alone.
    None,
    /// May be left out.
    Optional {
        /// The argument in a usage line, e.g. `FRACTION`.
        placeholder: &'static str,
        /// An argument that the optimiser accepts.
        example: &'static str,
    },
    /// Without its argument the optimiser refuses the flag.
    Required {
        /// The argument in a usage line, e.g. `FACTOR`.
        placeholder: &'static str,
        /// An argument that the optimiser accepts.
        example: &'static str,
        /// spirv-opt also takes the argument as the next word of the command line.
        separate: bool,
    },
}

/// What a pass promises about the module that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Every behaviour of the result is one of the input.
    Preserving,
    /// The same, if the assumptions hold.
    Refining(&'static [Assumption]),
    /// By contract the result has another interface or another meaning.
    Changing,
}

/// What a refining pass relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// Nobody outside needs what the code does not use: bindings, specialisation constants, interface
    /// variables, struct members.
    UnusedInterface,
    /// A loop without effects may go even if it would never end (`--hang lenient`).
    RemovableLoops,
    /// A float result may be any that the environment permits (`--float spec`).
    FloatFreedom,
}

impl Assumption {
    /// Every assumption, in the order in which documents and reports list them.
    pub const ALL: [Assumption; 3] =
        [Assumption::UnusedInterface, Assumption::RemovableLoops, Assumption::FloatFreedom];

    /// The name that documents and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Assumption::UnusedInterface => "unused-interface",
            Assumption::RemovableLoops => "removable-loops",
            Assumption::FloatFreedom => "float-freedom",
        }
    }

    /// What it says, as a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Assumption::UnusedInterface => {
                "no code outside the module needs the bindings, specialisation constants, interface \
                 variables and struct members that its code does not use"
            }
            Assumption::RemovableLoops => {
                "a loop without effects may be removed even where it would never end (`--hang lenient`, \
                 the default)"
            }
            Assumption::FloatFreedom => {
                "a floating-point result may be any that the environment permits: contraction, \
                 reassociation, the rounding of constant folding (`--float spec`, the default)"
            }
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Class {
    /// `preserving`, `refining` or `changing`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Preserving => "preserving",
            Class::Refining(_) => "refining",
            Class::Changing => "changing",
        }
    }

    /// What the class assumes; nothing for the two that assume nothing.
    pub fn assumptions(self) -> &'static [Assumption] {
        match self {
            Class::Refining(assumptions) => assumptions,
            Class::Preserving | Class::Changing => &[],
        }
    }
}

impl Pass {
    /// The flag with an argument that the optimiser accepts.
    pub fn example(&self) -> String {
        match self.argument {
            Argument::None => self.flag.to_owned(),
            Argument::Optional { example, .. } | Argument::Required { example, .. } => {
                format!("{}={example}", self.flag)
            }
        }
    }

    /// Does the flag stand for a list of other passes?
    pub fn is_preset(&self) -> bool {
        preset(self.flag).is_some()
    }
}

/// Looks a flag up, with or without its argument (`--loop-unroll-partial=4`).
pub fn find_pass(flag: &str) -> Option<&'static Pass> {
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    PASSES.iter().find(|pass| pass.flag == name)
}

/// The flags of all passes, in the order of the table.
pub fn pass_flags() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|pass| pass.flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "bundled")]
    use crate::optimizer::check_flag;

    #[cfg(feature = "bundled")]
    #[test]
    fn the_compiled_library_accepts_every_flag() {
        for pass in PASSES {
            check_flag(&pass.example()).unwrap_or_else(|error| panic!("{}: {error}", pass.flag));
            match pass.argument {
                Argument::None => {}
                Argument::Optional { .. } => assert_eq!(check_flag(pass.flag), Ok(())),
                Argument::Required { .. } => assert!(check_flag(pass.flag).is_err(), "{}", pass.flag),
            }
        }
    }

    #[test]
    fn flags_are_distinct_and_found() {
        for (index, pass) in PASSES.iter().enumerate() {
            assert_eq!(find_pass(&pass.example()), Some(pass));
            assert!(PASSES.iter().skip(index + 1).all(|other| other.flag != pass.flag), "{}", pass.flag);
        }
        assert_eq!(find_pass("--nonsense"), None);
    }

    #[test]
    fn refining_passes_name_an_assumption_in_order() {
        for pass in PASSES {
            if let Class::Refining(assumptions) = pass.class {
                assert!(!assumptions.is_empty(), "{}", pass.flag);
                assert!(assumptions.is_sorted(), "{}", pass.flag);
            }
            assert!(!pass.reason.is_empty() && !pass.reason.ends_with('.'), "{}", pass.flag);
        }
    }
}
