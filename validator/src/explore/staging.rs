//! The executions of an orbit, one after the other: in each, somebody else has some place.

use std::sync::Arc;

use super::found::Found;
use super::orbit::{patches_of, places, Leaf, Orbit, Patch};
use super::recast::{Mismatch, Written};
use super::replay::{Ground, Run};
use super::search::Search;
use super::sharing::{Place, EXPANSION_PARTS, LARGE_EXPANSION};
use crate::behaviour::Outcome;
use crate::model::graph::Unit;
use crate::witness::{Execution, Values, Witness};

/// What is done next, by whoever has a place of a class.
pub(super) enum Turn {
    Leave { class: usize, place: usize, leaf: Arc<Leaf> },
    Step { class: usize, place: usize, part: usize, step: usize },
}

/// An observed byte to which a varied write gives its last value.
pub(super) struct Final {
    /// Numbers of the write, of the unit there, and of the byte in it.
    pub(super) write: usize,
    pub(super) unit: usize,
    pub(super) byte: usize,
    /// Observed object, and index there.
    pub(super) object: usize,
    pub(super) index: usize,
}

/// One of the executions, as far as it is known who has which place.
struct Staging<'a> {
    orbit: &'a Orbit,
    ground: &'a Ground<'a>,
    outcome: Outcome,
    /// Who stands where, by number of the invocation.
    agents: Vec<u32>,
    /// Per class, the members that have a place.
    taken: Vec<Vec<bool>>,
    /// Per part of the cast, who plays it, and its runs after each step.
    runs: Vec<(usize, Vec<Run>)>,
    written: Vec<Written>,
    /// Who is cast next, for the first places that are: number of the member.
    given: &'a [usize],
    mismatch: Option<Mismatch>,
}

type Visit<'v> = &'v mut dyn FnMut(&Staging) -> bool;

impl Staging<'_> {
    /// Does the turn of this number and all behind it, with each choice of places. False: it is enough.
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

    /// Gives a place to each who has none yet.
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

    /// Goes on with what an invocation leaves in memory.
    fn leave(&mut self, patches: impl Iterator<Item = Patch> + Clone, number: usize, visit: Visit) -> bool {
        let memory = &mut self.outcome.memory;
        patches.clone().for_each(|patch| memory[patch.object][patch.index] = patch.byte);
        let more = self.turn(number + 1, visit);
        let memory = &mut self.outcome.memory;
        patches.for_each(|patch| memory[patch.object][patch.index] = patch.initial);
        more
    }

    /// Goes on with a step of a part.
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
            return self.leave(patches_of(self.ground, run.memory()).into_iter(), number, visit);
        }
        self.runs[part].1.push(run);
        let more = self.turn(number + 1, visit);
        self.runs[part].1.pop();
        more
    }
}

impl Orbit {
    /// Calls back with each execution in which `given` say who is cast first, until `visit` says that it is enough.
    fn for_each(
        &self,
        ground: &Ground,
        mut outcome: Outcome,
        given: &[usize],
        visit: Visit,
    ) -> Result<(), Mismatch> {
        let leaves = self.turns.iter().filter_map(|turn| match turn {
            Turn::Leave { leaf, .. } => Some(leaf),
            Turn::Step { .. } => None,
        });
        let patches = leaves.flat_map(|leaf| leaf.all_patches());
        let words = self.touched.iter().flatten().flatten().filter(|(_, wrote)| **wrote);
        let bytes = words.flat_map(|((memory, word), _)| (*word..word + 4).map(|byte| (*memory, byte)));
        for patch in patches.chain(bytes.flat_map(|(memory, byte)| places(ground, memory, byte))) {
            outcome.memory[patch.object][patch.index] = patch.initial;
        }
        let parts = self.cast.iter().flat_map(|cast| &cast.parts);
        let mut staging = Staging {
            orbit: self,
            ground,
            outcome,
            agents: (0..ground.dispatch.places.len() as u32).collect(),
            taken: self.classes.iter().map(|members| vec![false; members.len()]).collect(),
            runs: parts.map(|_| (0, Vec::new())).collect(),
            written: self.cast.as_ref().map_or(Vec::new(), |cast| cast.written.clone()),
            given,
            mismatch: None,
        };
        staging.turn(0, visit);
        staging.mismatch.map_or(Ok(()), Err)
    }

    /// The classes of places, in the order in which they are cast.
    fn casts(&self) -> impl Iterator<Item = usize> + '_ {
        self.turns.iter().filter_map(|turn| match turn {
            Turn::Leave { class, .. } | Turn::Step { class, step: 0, .. } => Some(*class),
            Turn::Step { .. } => None,
        })
    }

    /// Number of executions with a difference.
    fn ways(&self) -> f64 {
        let mut left: Vec<usize> = self.classes.iter().map(Vec::len).collect();
        self.casts().fold(1.0, |ways, class| {
            left[class] -= 1;
            ways * (left[class] + 1) as f64
        })
    }

    /// At least so many ways to cast the first places, in order, if there are.
    fn beginnings(&self, count: usize) -> Vec<Vec<usize>> {
        let casts: Vec<usize> = self.casts().collect();
        let mut beginnings = vec![Vec::new()];
        for (number, class) in casts.iter().enumerate() {
            if beginnings.len() >= count {
                break;
            }
            let is_free = |begun: &Vec<usize>, member: usize| {
                !casts[..number].iter().zip(begun).any(|(other, taken)| (*other, *taken) == (*class, member))
            };
            let members = 0..self.classes[*class].len();
            let next = |begun: Vec<usize>| {
                let free: Vec<usize> = members.clone().filter(|member| is_free(&begun, *member)).collect();
                free.into_iter().map(move |member| begun.iter().copied().chain([member]).collect())
            };
            beginnings = beginnings.into_iter().flat_map(next).collect();
        }
        beginnings
    }
}

impl Search<'_> {
    /// Records the outcomes of all executions that one stands for.
    pub(super) fn record_orbit(&self, orbit: &Orbit, outcome: &Outcome, first: Witness, found: &mut Found) {
        let Some(symmetry) = &self.symmetry else { return };
        let Witness { executions, execution, units, variant, synchronizes_with } = first;
        let graph = execution.graph();
        let events = orbit.cast.iter().flat_map(|cast| cast.varied.iter());
        let varied: Vec<Vec<Unit>> =
            events.map(|event| graph.events[*event as usize].units.to_vec()).collect();
        let execution = Arc::new(execution);
        let renamed = |staging: &Staging| Witness {
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
            variant,
            synchronizes_with: synchronizes_with.clone(),
        };
        if orbit.ways() > self.context.settings.factored_from as f64 {
            let agents = (0..self.context.dispatch.places.len() as u32).collect();
            let execution = Execution::Renamed { execution: Arc::clone(&execution), agents, values: None };
            let units = Arc::clone(&units);
            let same = Witness {
                executions: orbit.count.saturating(),
                execution,
                units,
                variant,
                synchronizes_with: synchronizes_with.clone(),
            };
            if let Some(permuted) = orbit.factored(outcome, same) {
                return self.keep_permuted(permuted, found);
            }
        }
        let ground = self.ground(symmetry);
        let record = |given: &[usize], place: Option<&Place>, found: &mut Found| {
            let done = orbit.for_each(&ground, outcome.clone(), given, &mut |staging| {
                for (units, written) in varied.iter().zip(&staging.written) {
                    self.note_produced(units.iter().zip(written), found);
                }
                found.executions += &orbit.count;
                self.keep(&staging.outcome, orbit.count.saturating(), || renamed(staging), found);
                !found.stop && !self.context.budget.step() && !Self::is_superseded(place)
            });
            if let Err(mismatch) = done {
                self.learn_mismatch(mismatch, found);
            }
        };
        if orbit.ways() < LARGE_EXPANSION || self.context.settings.jobs == 1 {
            return record(&[], None, found);
        }
        self.in_parts(orbit.beginnings(EXPANSION_PARTS), None, found, |given, place, found| {
            record(&given, Some(place), found);
        });
    }
}
