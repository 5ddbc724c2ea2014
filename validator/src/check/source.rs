//! The texts of modules, for reports.

use super::result::Source;
use crate::module::{Module, Places};

/// The text that a module's lines refer to.
pub fn source(module: &Module) -> Source {
    Source {
        name: module.name.clone(),
        text: module.text.clone(),
        places: Places::of(module),
        is_disassembly: !module.from_text,
    }
}

/// Texts for a diff where one is the user's own and the other a disassembly: then both are
/// disassembled.
pub fn comparable_texts(before: &Module, after: &Module) -> Option<(String, String)> {
    if before.from_text == after.from_text {
        return None;
    }
    before.disassembly().zip(after.disassembly())
}
