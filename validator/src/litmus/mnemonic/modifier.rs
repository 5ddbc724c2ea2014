//! The tokens of an instruction after the mnemonic.

use super::super::test::Operation;
use super::super::Dialect;
use crate::event::{ClassSet, Scope};

/// A token after the mnemonic.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Modifier {
    Atomic,
    Store,
    Load,
    Acquire,
    Release,
    AcquireRelease,
    Class(ClassSet),
    SemanticsClass(ClassSet),
    Scope(Scope),
    MakeAvailable,
    MakeVisible,
    Available,
    Visible,
    NonPrivate,
    Operation(Operation),
}

const KHRONOS_MODIFIERS: &str = "atom, acq, rel, sc0 to sc3, semsc0 to semsc3, scopesg, scopewg, scopeqf, \
                                 scopedev, semav, semvis, av, vis or nonpriv";
const HERD_MODIFIERS: &str = "atom, acq, rel, acq_rel, sc0 to sc3, semsc0 to semsc3, sg, wg, qf, dv, semav, \
                              semvis, av, vis, nonpriv, or the operation of an rmw";
/// The tokens for a scope.
pub(in super::super) fn expected_scopes(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Khronos => "scopesg, scopewg, scopeqf or scopedev",
        Dialect::Herd => "sg, wg, qf or dv",
    }
}

/// The tokens that can follow a mnemonic.
pub(in super::super) fn expected_modifiers(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Khronos => KHRONOS_MODIFIERS,
        Dialect::Herd => HERD_MODIFIERS,
    }
}

/// What `sc0` and so on, or `semsc0` and so on, stand for.
fn class(digit: &str) -> Option<ClassSet> {
    match digit {
        "0" => Some(ClassSet::UNIFORM),
        "1" => Some(ClassSet::WORKGROUP),
        "2" => Some(ClassSet::IMAGE),
        "3" => Some(ClassSet::OUTPUT),
        _ => None,
    }
}

/// The operation of that name: of an rmw, or of register arithmetic.
pub(in super::super) fn operation(word: &str) -> Option<Operation> {
    Some(match word {
        "add" => Operation::Add,
        "sub" => Operation::Sub,
        "mul" => Operation::Mul,
        "div" => Operation::Div,
        "and" => Operation::And,
        "or" => Operation::Or,
        "xor" => Operation::Xor,
        _ => return None,
    })
}

/// What a word after a mnemonic means.
pub(in super::super) fn modifier(word: &str, dialect: Dialect) -> Option<Modifier> {
    let common = match word {
        "atom" => Modifier::Atomic,
        "acq" => Modifier::Acquire,
        "rel" => Modifier::Release,
        "semav" => Modifier::MakeAvailable,
        "semvis" => Modifier::MakeVisible,
        "av" => Modifier::Available,
        "vis" => Modifier::Visible,
        "nonpriv" => Modifier::NonPrivate,
        _ => {
            return if let Some(digit) = word.strip_prefix("semsc") {
                class(digit).map(Modifier::SemanticsClass)
            } else if let Some(class) = word.strip_prefix("sc").and_then(class) {
                Some(Modifier::Class(class))
            } else {
                match dialect {
                    Dialect::Khronos => khronos_modifier(word),
                    Dialect::Herd => herd_modifier(word),
                }
            }
        }
    };
    Some(common)
}

fn khronos_modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "scopesg" => Modifier::Scope(Scope::Subgroup),
        "scopewg" => Modifier::Scope(Scope::Workgroup),
        "scopeqf" => Modifier::Scope(Scope::QueueFamily),
        "scopedev" => Modifier::Scope(Scope::Device),
        "st" => Modifier::Store,
        "ld" => Modifier::Load,
        _ => return None,
    })
}

fn herd_modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "sg" => Modifier::Scope(Scope::Subgroup),
        "wg" => Modifier::Scope(Scope::Workgroup),
        "qf" => Modifier::Scope(Scope::QueueFamily),
        "dv" => Modifier::Scope(Scope::Device),
        "acq_rel" => Modifier::AcquireRelease,
        _ => return operation(word).map(Modifier::Operation),
    })
}
