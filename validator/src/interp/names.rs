//! Pointer parameters as memory object declarations (SPIR-V, "Aliasing"): while its function is active, what
//! one names must not be reached by another name, too, where one of them writes and neither is decorated
//! Aliased. A pointer that was passed on goes by the names of all parameters that it came through.
//!
//! Names concern one invocation: what others do meanwhile is a matter of races.

use std::collections::BTreeMap;

use super::machine::{fault, Machine, Step};
use super::Pointer;
use crate::event::UndefinedKind;
use crate::ir::Line;

/// The pointer parameters of the active functions, outermost first.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Names(Vec<Named>);

/// A pointer parameter, while its function is active.
#[derive(Clone, Debug, Hash)]
struct Named {
    declaration: u32,
    /// The declaration that the argument came through.
    parent: u32,
    object: u32,
    /// Number of callers of its function.
    depth: usize,
    /// Which words of the object were used so far; `None` where nothing else can name them.
    uses: Option<BTreeMap<u32, Uses>>,
}

/// How the bytes of a word were used, one bit for each.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Uses {
    /// By the parameter's name, then by others.
    read: [u8; 2],
    written: [u8; 2],
}

/// A pointer argument of a call.
pub(super) struct Argument {
    pub(super) declaration: u32,
    pub(super) pointer: Pointer,
    /// The parameter is decorated Aliased.
    pub(super) aliased: bool,
}

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes up the parameters of a function with so many callers. Objects of the invocation up to `variables`
    /// have names of their own; later ones are locals, which callees name by their parameters only.
    pub(super) fn call(&mut self, arguments: &[Argument], depth: usize, variables: u32) {
        for (index, argument) in arguments.iter().enumerate() {
            let object = argument.pointer.object;
            let is_local = argument.pointer.own_object().is_some_and(|own| own >= variables);
            let mut others = arguments.iter().enumerate().filter(|(other, _)| *other != index);
            let has_others = !is_local || others.any(|(_, other)| other.pointer.object == object);
            self.0.push(Named {
                declaration: argument.declaration,
                parent: argument.pointer.declaration,
                object,
                depth,
                uses: (has_others && !argument.aliased && !argument.pointer.is_null()).then(BTreeMap::new),
            });
        }
    }

    /// Drops the parameters of functions with at least so many callers.
    pub(super) fn give_back(&mut self, depth: usize) {
        self.0.retain(|named| named.depth < depth);
    }

    fn find(&self, declaration: u32) -> Option<&Named> {
        self.0.iter().rev().find(|named| named.declaration == declaration)
    }

    /// The variable that a pointer with this declaration came from first.
    pub(super) fn root(&self, mut declaration: u32) -> u32 {
        while let Some(named) = self.find(declaration) {
            declaration = named.parent;
        }
        declaration
    }

    /// Whether a pointer with this declaration came through the parameter `name`.
    fn came_through(&self, mut declaration: u32, name: u32) -> bool {
        while declaration != name {
            let Some(named) = self.find(declaration) else { return false };
            declaration = named.parent;
        }
        true
    }

    /// Notes an access of some bytes; whether another name of them was used that must not be.
    fn clashes(&mut self, pointer: Pointer, len: u32, write: bool) -> bool {
        let mut clash = false;
        for index in 0..self.0.len() {
            let Named { declaration, object, .. } = self.0[index];
            if object != pointer.object || self.0[index].uses.is_none() {
                continue;
            }
            let other = usize::from(!self.came_through(pointer.declaration, declaration));
            let Some(uses) = &mut self.0[index].uses else { continue };
            for word in pointer.offset / 4..(pointer.offset + len).div_ceil(4) {
                let inside =
                    (0..4).filter(|byte| (pointer.offset..pointer.offset + len).contains(&(word * 4 + byte)));
                let bytes = inside.fold(0, |bytes, byte| bytes | 1 << byte);
                let used = uses.entry(word).or_default();
                let against = used.written[1 - other] | if write { used.read[1 - other] } else { 0 };
                clash |= against & bytes != 0;
                let noted = if write { &mut used.written } else { &mut used.read };
                noted[other] |= bytes;
            }
        }
        clash
    }
}

impl Machine<'_> {
    /// Notes that bytes behind a pointer are accessed by its name.
    #[inline]
    pub(super) fn name_bytes(&mut self, pointer: Pointer, len: u32, write: bool, line: Line) -> Step {
        if self.state.names.is_empty() || pointer.decorations.aliased {
            return Ok(());
        }
        // A parameter of a function that is over names nothing.
        let is_parameter = pointer.declaration >= self.program.variables.len() as u32
            && pointer.declaration != Pointer::PHYSICAL
            && pointer.declaration != Pointer::LOCAL;
        if is_parameter && self.state.names.find(pointer.declaration).is_none() {
            return Ok(());
        }
        if self.state.names.clashes(pointer, len, write) {
            let detail =
                "a pointer parameter and another name without the Aliased decoration reach the same \
                          memory while its function is active, and one of them writes";
            return Err(fault(UndefinedKind::Aliasing, line, detail));
        }
        Ok(())
    }
}
