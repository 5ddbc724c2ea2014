//! Who is certainly together: the way of an invocation through the constructs of structured control flow.
//!
//! Invocations execute the same dynamic instance as long as they follow the same control-flow path. After
//! they have diverged, they do so again at the merge block of a selection or loop if control flow was uniform
//! upon entry, and all leave by the merge block (SPIR-V specification 2.2.5, "Uniform Control Flow", read for
//! each subgroup as SPV_KHR_subgroup_uniform_control_flow has it). Under MaximallyReconvergesKHR those that
//! entered a construct together are together again at its merge block, at the continue target of each
//! iteration and after a call, unless they left it otherwise (SPV_KHR_maximal_reconvergence).
//!
//! So an invocation keeps two hashes: of its way with the constructs behind it folded into one step, and of
//! its full way since each place where it entered a construct.

use std::collections::{HashMap, HashSet};

use crate::ir::{Construct, Program};

/// Places that are kept; beyond it, those within constructs left behind are dropped.
const MAX_PLACES: usize = 1_024;

/// The way of one invocation.
#[derive(Clone, Debug)]
pub struct Convergence {
    maximal: bool,
    /// What is executed does not count: the calls of an instruction that all come out of together.
    held: bool,
    /// Where it is: the folded way.
    now: Moment,
    levels: Vec<Level>,
    /// The folded ways at which constructs were entered, each with a hash of the full way from there to the next.
    places: Vec<(u64, u64)>,
}

/// A point of the folded way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Moment {
    way: u64,
    /// Selectors of the switches around, whose invocations may be apart though they go the same way.
    selectors: u64,
}

/// A construct, or a function's activation, that the invocation is in.
#[derive(Clone, Copy, Debug)]
struct Level {
    depth: u32,
    header: u32,
    merge: Option<u32>,
    continue_target: Option<u32>,
    is_loop: bool,
    is_call: bool,
    entered: Moment,
    /// Of a loop: where the current iteration began.
    iteration: Moment,
    /// Number of places at entry, its own included.
    places: usize,
}

// Steps that are no blocks.
const MERGE: u64 = 1 << 32;
const CONTINUE: u64 = 2 << 32;
const CALL: u64 = 3 << 32;
const RETURN: u64 = 4 << 32;

/// The hash of a way with one more step.
pub(super) fn mix(way: u64, step: u64) -> u64 {
    let mixed = (way ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}

impl Convergence {
    pub(super) fn new(program: &Program) -> Self {
        let mut start = Convergence {
            maximal: program.modes.maximally_reconverges,
            held: false,
            now: Moment { way: 1, selectors: 0 },
            levels: Vec::new(),
            places: Vec::new(),
        };
        start.note_place();
        let entry = program.functions.get(program.entry.function.0 as usize);
        if let Some(construct) = entry.and_then(|function| function.blocks.first()?.construct) {
            start.enter(0, 0, construct);
        }
        start
    }

    /// Where the invocation is.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// Leaves out what comes, until [`Convergence::go_on`].
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    pub(super) fn go_on(&mut self) {
        self.held = false;
    }

    /// Follows an edge to a block of the function at this depth of calls.
    pub(super) fn arrive(&mut self, depth: u32, block: u32, construct: Option<Construct>) {
        if self.held {
            return;
        }
        self.go(u64::from(block));
        let own = self.levels.iter().rposition(|level| level.depth != depth || level.is_call);
        let first = own.map_or(0, |at| at + 1);
        for at in (first..self.levels.len()).rev() {
            let Some(level) = self.levels.get(at).copied() else { break };
            if level.is_loop && level.header == block {
                // The next iteration.
                self.levels.truncate(at + 1);
                self.now.way = mix(self.now.way, u64::from(block));
                if let Some(level) = self.levels.last_mut() {
                    level.iteration = self.now;
                }
                self.drop_places(level.places);
                return self.note_place();
            }
            if level.merge == Some(block) {
                self.levels.truncate(at);
                self.now = Moment {
                    way: mix(level.entered.way, MERGE | u64::from(block)),
                    selectors: level.entered.selectors,
                };
                self.drop_places(level.places);
                return self.enter_if(depth, block, construct);
            }
            if level.continue_target == Some(block) {
                self.levels.truncate(at + 1);
                let (from, selectors) = match self.maximal {
                    true => (level.iteration.way, level.iteration.selectors),
                    false => (self.now.way, self.now.selectors),
                };
                self.now = Moment { way: mix(from, CONTINUE | u64::from(block)), selectors };
                return self.enter_if(depth, block, construct);
            }
        }
        self.now.way = mix(self.now.way, u64::from(block));
        self.enter_if(depth, block, construct);
    }

    fn enter_if(&mut self, depth: u32, block: u32, construct: Option<Construct>) {
        if let Some(construct) = construct {
            self.enter(depth, block, construct);
        }
    }

    fn enter(&mut self, depth: u32, header: u32, construct: Construct) {
        self.note_place();
        self.levels.push(Level {
            depth,
            header,
            merge: construct.merge,
            continue_target: construct.continue_target,
            is_loop: construct.is_loop,
            is_call: false,
            entered: self.now,
            iteration: self.now,
            places: self.places.len(),
        });
    }

    /// Takes a way of a switch.
    pub(super) fn select(&mut self, selector: u64) {
        if self.held {
            return;
        }
        self.now.selectors = mix(self.now.selectors, selector);
    }

    /// Calls a function, which is at this depth and whose first block may be a header, from an instruction.
    pub(super) fn call(&mut self, depth: u32, from: u32, construct: Option<Construct>) {
        if self.held {
            return;
        }
        self.levels.push(Level {
            depth,
            header: u32::MAX,
            merge: None,
            continue_target: None,
            is_loop: false,
            is_call: true,
            entered: self.now,
            iteration: self.now,
            places: self.places.len(),
        });
        self.go(CALL | u64::from(from));
        self.now.way = mix(self.now.way, CALL | u64::from(from));
        self.enter_if(depth, 0, construct);
    }

    /// Returns from the function at this depth.
    pub(super) fn give_back(&mut self, depth: u32) {
        if self.held {
            return;
        }
        self.go(RETURN);
        let call = self.levels.iter().rposition(|level| level.is_call && level.depth == depth);
        let Some(level) = call.and_then(|at| self.levels.get(at).copied()) else { return };
        self.levels.truncate(call.unwrap_or(0));
        let from = if self.maximal { level.entered.way } else { self.now.way };
        self.now = Moment { way: mix(from, RETURN), selectors: level.entered.selectors };
    }

    /// Goes a step of the full way.
    fn go(&mut self, step: u64) {
        if let Some((_, full)) = self.places.last_mut() {
            *full = mix(*full, step);
        }
    }

    fn note_place(&mut self) {
        self.places.push((self.now.way, 0));
    }

    /// Forgets the places behind the first `kept`, if there are many.
    fn drop_places(&mut self, kept: usize) {
        if self.places.len() <= MAX_PLACES || kept == 0 {
            return;
        }
        let dropped = self.places.split_off(kept.min(self.places.len()));
        for (_, full) in dropped {
            self.go(full);
        }
    }
}

/// The classes of invocations, by their positions in `here`, that certainly execute the same dynamic instance of
/// the instruction that all of them stand at. Whether different classes do is up to the implementation.
/// `subgroup` has all invocations of their subgroup, finished ones included.
pub fn classes(here: &[&Convergence], subgroup: &[&Convergence]) -> Vec<Vec<usize>> {
    let Some(first) = here.first() else { return Vec::new() };
    let everybody = || vec![(0..here.len()).collect()];
    if first.maximal {
        return by_key(here.iter().map(|one| one.now));
    }
    let same_way = here.iter().all(|other| other.now.way == first.now.way);
    if same_way && here.len() == subgroup.len() {
        return everybody();
    }
    let uniform = common_places(subgroup);
    by_key(here.iter().map(|one| one.since(&uniform)))
}

/// The positions of equal keys.
fn by_key<K: PartialEq>(keys: impl Iterator<Item = K>) -> Vec<Vec<usize>> {
    let mut classes: Vec<(K, Vec<usize>)> = Vec::new();
    for (position, key) in keys.enumerate() {
        match classes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(position),
            None => classes.push((key, vec![position])),
        }
    }
    classes.into_iter().map(|(_, members)| members).collect()
}

/// The places where all of the subgroup were: control flow was uniform there.
fn common_places(subgroup: &[&Convergence]) -> HashSet<u64> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for one in subgroup {
        let own: HashSet<u64> = one.places.iter().map(|(place, _)| *place).collect();
        for place in own {
            *counts.entry(place).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count == subgroup.len()).map(|(place, _)| place).collect()
}

impl Convergence {
    /// The last of these places on the way, and a hash of the full way since then.
    fn since(&self, uniform: &HashSet<u64>) -> (Option<u64>, u64) {
        let at = self.places.iter().rposition(|(place, _)| uniform.contains(place));
        let way = self.places.iter().skip(at.unwrap_or(0));
        let full = way.fold(0, |full, (_, step)| mix(full, *step));
        (at.and_then(|at| self.places.get(at)).map(|(place, _)| *place), full)
    }
}
