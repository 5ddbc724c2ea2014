//! Expansion of an orbit: its executions one after the other, each with another choice of places.
//!
//! For example, if three invocations fill the slots of a list, the orbit has six executions, and each gives an outcome.
//! The choices are made turn by turn, depth first, so executions that begin with the same choices share that work.

use std::sync::Arc;

use crate::behaviour::Outcome;
use crate::explore::outcomes::record;
use crate::explore::reductions::symmetry::leaves::{self, Patch};
use crate::explore::reductions::symmetry::orbit::{self, Final, Orbit, Turn};
use crate::explore::reductions::symmetry::relabelling::{Mismatch, Written};
use crate::explore::reductions::symmetry::replay::{Ground, Run};
use crate::explore::reductions::symmetry::{self, factored};
use crate::explore::search::parts::{self, SearchPosition, EXPANSION_PARTS, LARGE_EXPANSION};
use crate::explore::state::{Found, Round};
use crate::model::graph::Unit;
use crate::witness::{Execution, Values, Witness};

/// One of the executions, as far as places have been chosen.
struct Expansion<'a> {
    orbit: &'a Orbit,
    ground: &'a Ground<'a>,
    outcome: Outcome,
    /// For each invocation of the visited execution, the invocation that has its place.
    agents: Vec<u32>,
    /// For each class, whether a member has a place already.
    taken: Vec<Vec<bool>>,
    /// For each part of the relabelling, the member in its place, and the runs of the member after each step.
    runs: Vec<(usize, Vec<Run>)>,
    written: Vec<Written>,
    /// The members for the first places that are still to be filled.
    given: &'a [usize],
    mismatch: Option<Mismatch>,
}

type Visit<'v> = &'v mut dyn FnMut(&Expansion) -> bool;

impl Expansion<'_> {
    /// Performs the turn of this number and all later turns, with each choice of places. It returns false if `visit`
    /// needs no more.
    fn turn(&mut self, number: usize, visit: Visit) -> bool {
        let orbit = self.orbit;
        match &orbit.turns.get(number) {
            None => {
                for Final { write, unit, byte, object, index } in &orbit.finals {
                    self.outcome.memory[*object][*index] = self.written[*write][*unit][*byte];
                }
                visit(self)
            }
            Some(Turn::Leave { class, place, leaf }) => self.cast(*class, *place, &mut |staging, member| {
                staging.leave(leaf.patches(member), number, visit)
            }),
            Some(Turn::Step { class, place, part, step: 0 }) => {
                self.cast(*class, *place, &mut |staging, member| {
                    staging.runs[*part].0 = member;
                    staging.step(*part, 0, number, visit)
                })
            }
            Some(Turn::Step { part, step, .. }) => self.step(*part, *step, number, visit),
        }
    }

    /// Puts each member that has no place yet into this place.
    fn cast(&mut self, class: usize, place: usize, act: &mut dyn FnMut(&mut Self, usize) -> bool) -> bool {
        let members = &self.orbit.classes[class];
        let given = self.given;
        let mut choices = 0..members.len();
        if let Some((member, rest)) = given.split_first() {
            choices = *member..member + 1;
            self.given = rest;
        }
        let more = choices.into_iter().all(|member| {
            if self.taken[class][member] {
                return true;
            }
            self.agents[members[place] as usize] = members[member];
            self.taken[class][member] = true;
            let more = act(self, member);
            self.taken[class][member] = false;
            more
        });
        self.given = given;
        more
    }

    /// Continues with what an invocation leaves in memory, and restores the memory afterwards.
    fn leave(&mut self, patches: impl Iterator<Item = Patch> + Clone, number: usize, visit: Visit) -> bool {
        let memory = &mut self.outcome.memory;
        patches.clone().for_each(|patch| memory[patch.object][patch.index] = patch.byte);
        let more = self.turn(number + 1, visit);
        let memory = &mut self.outcome.memory;
        patches.for_each(|patch| memory[patch.object][patch.index] = patch.initial);
        more
    }

    /// Continues with a step of a part.
    fn step(&mut self, part: usize, step: usize, number: usize, visit: Visit) -> bool {
        let Some(cast) = &self.orbit.cast else { return false };
        let parted = &cast.parts[part];
        let (member, runs) = &self.runs[part];
        let member = *member;
        let mut run = runs.last().unwrap_or_else(|| parted.begun(member)).clone();
        if let Err(mismatch) = parted.step(self.ground, step, &mut run, &mut self.written) {
            self.mismatch = Some(mismatch);
            return false;
        }
        if parted.is_last(step) {
            if run.memory().touched != self.orbit.touched[part][member] {
                self.mismatch = Some(Mismatch::Shape);
                return false;
            }
            return self.leave(leaves::patches_of(self.ground, run.memory()).into_iter(), number, visit);
        }
        self.runs[part].1.push(run);
        let more = self.turn(number + 1, visit);
        self.runs[part].1.pop();
        more
    }
}

/// Calls back with each execution in which `given` are the members in the first places, until `visit` needs no more.
fn for_each(
    orbit: &Orbit,
    ground: &Ground,
    mut outcome: Outcome,
    given: &[usize],
    visit: Visit,
) -> Result<(), Mismatch> {
    let leaves = orbit.turns.iter().filter_map(|turn| match turn {
        Turn::Leave { leaf, .. } => Some(leaf),
        Turn::Step { .. } => None,
    });
    let patches = leaves.flat_map(|leaf| leaf.all_patches());
    let words = orbit.touched.iter().flatten().flatten().filter(|(_, wrote)| **wrote);
    let bytes = words.flat_map(|((memory, word), _)| (*word..word + 4).map(|byte| (*memory, byte)));
    for patch in patches.chain(bytes.flat_map(|(memory, byte)| leaves::places(ground, memory, byte))) {
        outcome.memory[patch.object][patch.index] = patch.initial;
    }
    let parts = orbit.cast.iter().flat_map(|cast| &cast.parts);
    let mut staging = Expansion {
        orbit,
        ground,
        outcome,
        agents: (0..ground.dispatch.places.len() as u32).collect(),
        taken: orbit.classes.iter().map(|members| vec![false; members.len()]).collect(),
        runs: parts.map(|_| (0, Vec::new())).collect(),
        written: orbit.cast.as_ref().map_or(Vec::new(), |cast| cast.written.clone()),
        given,
        mismatch: None,
    };
    staging.turn(0, visit);
    staging.mismatch.map_or(Ok(()), Err)
}

/// The classes of the places, in the order in which the places are filled.
fn casts(orbit: &Orbit) -> impl Iterator<Item = usize> + '_ {
    orbit.turns.iter().filter_map(|turn| match turn {
        Turn::Leave { class, .. } | Turn::Step { class, step: 0, .. } => Some(*class),
        Turn::Step { .. } => None,
    })
}

/// The number of executions with a difference.
fn ways(orbit: &Orbit) -> f64 {
    let mut left: Vec<usize> = orbit.classes.iter().map(Vec::len).collect();
    casts(orbit).fold(1.0, |ways, class| {
        left[class] -= 1;
        ways * (left[class] + 1) as f64
    })
}

/// At least `count` ways to fill the first places, in order, if there are so many.
fn beginnings(orbit: &Orbit, count: usize) -> Vec<Vec<usize>> {
    let casts: Vec<usize> = casts(orbit).collect();
    let mut beginnings = vec![Vec::new()];
    for (number, class) in casts.iter().enumerate() {
        if beginnings.len() >= count {
            break;
        }
        let is_free = |begun: &Vec<usize>, member: usize| {
            !casts[..number].iter().zip(begun).any(|(other, taken)| (*other, *taken) == (*class, member))
        };
        let members = 0..orbit.classes[*class].len();
        let next = |begun: Vec<usize>| {
            let free: Vec<usize> = members.clone().filter(|member| is_free(&begun, *member)).collect();
            free.into_iter().map(move |member| begun.iter().copied().chain([member]).collect())
        };
        beginnings = beginnings.into_iter().flat_map(next).collect();
    }
    beginnings
}

/// Records the outcomes of all executions that one execution stands for.
pub(crate) fn record_orbit(
    round: &Round,
    orbit: &Orbit,
    outcome: &Outcome,
    first: Witness,
    found: &mut Found,
) {
    let Some(symmetry) = &round.symmetry else { return };
    let Witness { executions, execution, units, model, synchronizes_with } = first;
    let graph = execution.graph();
    let events = orbit.cast.iter().flat_map(|cast| cast.varied.iter());
    let varied: Vec<Vec<Unit>> = events.map(|event| graph.events[*event as usize].units.to_vec()).collect();
    let execution = Arc::new(execution);
    let renamed = |staging: &Expansion| Witness {
        executions,
        execution: Execution::Renamed {
            execution: Arc::clone(&execution),
            agents: staging.agents.as_slice().into(),
            values: orbit.cast.as_ref().map(|cast| Values {
                events: Arc::clone(&cast.varied),
                written: staging.written.iter().flatten().flatten().copied().collect(),
            }),
        },
        units: Arc::clone(&units),
        model: model.clone(),
        synchronizes_with: synchronizes_with.clone(),
    };
    if ways(orbit) > round.context.settings.factored_from as f64 {
        let agents = (0..round.context.dispatch.places.len() as u32).collect();
        let execution = Execution::Renamed { execution: Arc::clone(&execution), agents, values: None };
        let units = Arc::clone(&units);
        let same = Witness {
            executions: orbit.count.saturating(),
            execution,
            units,
            model: model.clone(),
            synchronizes_with: synchronizes_with.clone(),
        };
        if let Some(permuted) = factored::factored(orbit, outcome, same) {
            return factored::keep_permuted(round, permuted, found);
        }
    }
    let ground = symmetry::ground(round, symmetry);
    let record = |given: &[usize], place: Option<&SearchPosition>, found: &mut Found| {
        let done = for_each(orbit, &ground, outcome.clone(), given, &mut |staging| {
            for (units, written) in varied.iter().zip(&staging.written) {
                record::note_produced(round, units.iter().zip(written), found);
            }
            found.executions += &orbit.count;
            record::keep(round, &staging.outcome, orbit.count.saturating(), || renamed(staging), found);
            !found.stop && !round.context.budget.step() && !parts::is_superseded(place)
        });
        if let Err(mismatch) = done {
            orbit::learn_mismatch(round, mismatch, found);
        }
    };
    if ways(orbit) < LARGE_EXPANSION || round.context.settings.jobs == 1 {
        return record(&[], None, found);
    }
    parts::in_parts(round, beginnings(orbit, EXPANSION_PARTS), None, found, |given, place, found| {
        record(&given, Some(place), found);
    });
}
