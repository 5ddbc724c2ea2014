//! What the future of an invocation depends on, for comparisons of states.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxBuildHasher;

use super::invocation::Frame;
use super::Invocation;
use crate::ir::liveness::{Liveness, Pause};
use crate::ir::{FunctionId, InstId, Program};

/// What is live where invocations of a program stop, computed where it is first asked for.
#[derive(Debug)]
pub struct Pauses<'a> {
    program: &'a Program,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    functions: HashMap<FunctionId, Arc<Liveness>, FxBuildHasher>,
    pauses: HashMap<InstId, Arc<Pause>, FxBuildHasher>,
}

impl<'a> Pauses<'a> {
    /// Those of a program.
    pub fn new(program: &'a Program) -> Self {
        Pauses { program, known: Mutex::default() }
    }

    fn at(&self, frame: &Frame) -> Arc<Pause> {
        let at = InstId { function: frame.function, index: frame.pc };
        let Some(function) = self.program.functions.get(at.function.0 as usize) else {
            return Arc::default();
        };
        // Whoever panicked, what is there is whole.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { functions, pauses } = &mut *known;
        let pause = pauses.entry(at).or_insert_with(|| {
            let headers = function.loops.iter().map(|lp| (lp.header, &lp.exit));
            let liveness = functions
                .entry(at.function)
                .or_insert_with(|| Arc::new(Liveness::of(function.into(), headers)));
            Arc::new(liveness.before(function.into(), at.index))
        });
        Arc::clone(pause)
    }
}

impl Invocation {
    /// Feeds a hasher what the future of an invocation that stands at an event depends on: its position, live registers
    /// and own memory; where it `meets` others at barriers, which iterations it is in, too. False where there is more
    /// to it than that.
    pub fn hash_future(&self, pauses: &Pauses, meets: bool, hasher: &mut impl Hasher) -> bool {
        if self.convergence.is_some() || self.descriptors.is_some() {
            return false;
        }
        self.finished.hash(hasher);
        self.helper.hash(hasher);
        self.lost.hash(hasher);
        self.copied.hash(hasher);
        self.choices.hash(hasher);
        self.names.hash(hasher);
        self.done_outside.hash(hasher);
        if meets {
            self.loops.iter().for_each(|state| state.iteration.hash(hasher));
        }
        let mut dead = Vec::new();
        for frame in self.callers.iter().chain([&self.frame]) {
            frame.hash(hasher);
            let pause = pauses.at(frame);
            for register in &pause.live {
                self.registers.get((frame.registers + register) as usize).hash(hasher);
            }
            dead.extend(pause.dead.iter().map(|local| frame.objects + local));
        }
        self.own.hash_but(&dead, hasher);
        true
    }
}
