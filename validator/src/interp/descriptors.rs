//! Which descriptors an invocation accesses where they must be the same for its subgroup: through an operand that
//! came by an index into an array of descriptors and is not decorated NonUniform (Vulkan, "Runtime SPIR-V
//! Validation").
//!
//! Invocations execute the same dynamic instance of an instruction for certain if they came there by the same way
//! from the start. Of others nothing is said here.

use std::collections::BTreeMap;

use super::convergence::mix;
use super::machine::Machine;
use super::Pointer;
use crate::ir::{InstId, Line, Operand};

/// Accesses that are noted; later ones are not.
const MAX_NOTED: usize = 1_024;

// Steps that are no blocks.
const CALL: u64 = 1 << 32;
const RETURN: u64 = 2 << 32;
const SELECTOR: u64 = 3 << 32;

/// The way of an invocation, and what it accessed on it.
#[derive(Clone, Debug, Default)]
pub struct Descriptors {
    way: u64,
    objects: BTreeMap<Instance, u32>,
    /// The same in the order in which it came.
    noted: Vec<(Instance, Line)>,
}

/// A dynamic instance of an instruction: the way to it.
type Instance = (u64, InstId);

impl Descriptors {
    pub(super) fn arrive(&mut self, block: u32) {
        self.way = mix(self.way, u64::from(block));
    }

    pub(super) fn call(&mut self, instruction: u32) {
        self.way = mix(self.way, CALL | u64::from(instruction));
    }

    pub(super) fn give_back(&mut self) {
        self.way = mix(self.way, RETURN);
    }

    /// Those who go to one case of a switch by different selectors need not stay together.
    pub(super) fn select(&mut self, selector: u64) {
        self.way = mix(mix(self.way, SELECTOR), selector);
    }

    fn note(&mut self, inst: InstId, object: u32, line: Line) {
        let instance = (self.way, inst);
        if self.noted.len() < MAX_NOTED && !self.objects.contains_key(&instance) {
            self.objects.insert(instance, object);
            self.noted.push((instance, line));
        }
    }

    /// Number of accesses noted so far.
    pub fn count(&self) -> usize {
        self.noted.len()
    }

    /// The line of the first access from number `first` on that is one of another descriptor in `other`.
    pub fn differs(&self, first: usize, other: &Descriptors) -> Option<Line> {
        let new = self.noted.get(first..).unwrap_or_default();
        let differs = |instance: &Instance| {
            let theirs = other.objects.get(instance);
            theirs.is_some_and(|theirs| self.objects.get(instance) != Some(theirs))
        };
        new.iter().find(|(instance, _)| differs(instance)).map(|(_, line)| *line)
    }
}

impl Machine<'_> {
    /// Notes the descriptor behind a pointer or handle that is about to be accessed.
    pub(super) fn note_descriptor(&mut self, pointer: Operand, line: Line) {
        let inst = self.state.frame.instruction();
        let pointer = Pointer::decode([self.value(pointer), self.value(pointer.offset(1))]);
        let indexed = pointer.filter(|pointer| pointer.indexed && !pointer.out_of_bounds);
        if let (Some(pointer), Some(descriptors)) = (indexed, &mut self.state.descriptors) {
            descriptors.note(inst, pointer.object, line);
        }
    }
}
