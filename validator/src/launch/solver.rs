//! Values of an input for which an invocation compares what it is to compare: at a site, two values that are equal, or one
//! that is less or greater than the other.
//!
//! The difference of the two is taken for a function of one value of the input at a time. Which one counts is tried; then
//! the root is sought by the secant method, on the value as a float, and as an integer from one of its bytes on. What no
//! line leads to, such as single bits, is tried bit by bit. Where both are equal on a step between two values that were met
//! on either side of it, the distance of those is halved. Where no single value is enough, the one that comes nearest stays,
//! and others are sought besides.

use std::collections::BTreeSet;

use super::patch::{word_at, Patch, Place};
use super::repair::is_integer;
use super::trial::{self, Site};
use crate::dispatch::Dispatch;
use crate::interp::About;
use crate::ir::{BinaryKind, InstId, Op, Program};
use crate::value::Byte;

/// Values that are tried, at most: those that were read last before the comparison.
const MOST_VALUES: usize = 24;

/// So many of them come before all parameters.
const FIRST_VALUES: usize = 6;

/// Values that count and are solved for, at most.
const MOST_THAT_COUNT: usize = 3;

/// Steps of one search for a root.
const STEPS: u32 = 8;

/// How often the distance between two values is halved.
const HALVINGS: u32 = 24;

/// Steps towards what no single value brings about.
const BESIDES: usize = 5;

/// What comes no nearer than to this part of the distance is no such step.
const NEARER: f64 = 0.9;

/// Floats next to the nearest that was found.
const NEIGHBOURS: i64 = 3;

/// What it costs to begin a run, in instructions.
const RUN: u64 = 1_000;

/// More than a quad or two.
const MANY: usize = 8;

/// What two values are to be to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// Both are the same.
    Equal,
    /// The first is less.
    Less,
    /// The first is greater.
    Greater,
}

impl Wanted {
    /// What the first less the second says.
    pub fn of(difference: f64) -> Wanted {
        if difference == 0.0 {
            Wanted::Equal
        } else if difference < 0.0 {
            Wanted::Less
        } else {
            Wanted::Greater
        }
    }
}

/// How a word is taken for a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Float,
    /// An integer that is a multiple of two to this power.
    Integer(u32),
}

/// Solves for one program on one dispatch.
pub struct Solver<'s> {
    /// What runs.
    pub program: &'s Program,
    /// The input as it is.
    pub dispatch: &'s Dispatch,
    /// Who may run beside the one that compares, in its workgroup.
    pub together: Option<&'s [u32]>,
    /// Whether the contents of an object may be chosen, by its key.
    pub is_free: &'s dyn Fn(&str) -> bool,
    /// Values that were solved for already, and stay.
    pub kept: &'s [Patch],
    /// Whether time is over.
    pub is_over: &'s dyn Fn() -> bool,
    /// Instructions that are left.
    pub fuel: u64,
    /// How near the values came with which it was nearest to what is wanted, and one of these values.
    pub nearest: Option<(f64, Patch)>,
}

impl Solver<'_> {
    /// Values with which something is solved, one after the other, each with those before it; none where it is not.
    pub fn solve_besides(&mut self, solve: &dyn Fn(&mut Solver<'_>) -> Option<Patch>) -> Vec<Patch> {
        let mut scratch = self.dispatch.clone();
        let mut patches: Vec<Patch> = Vec::new();
        for _ in 0..BESIDES {
            let mut solver = Solver { dispatch: &scratch, nearest: None, ..*self };
            let found = solve(&mut solver);
            self.fuel = solver.fuel;
            let is_solved = found.is_some();
            let Some(patch) = found.or(solver.nearest.map(|(_, patch)| patch)) else { break };
            patch.put_into(self.program, &mut scratch);
            patches.retain(|known| known.place != patch.place);
            patches.push(patch);
            if is_solved {
                return patches;
            }
        }
        Vec::new()
    }

    /// The value that makes an invocation compare what is wanted at a site where it compares something else; `None` where
    /// none was found.
    pub fn solve(&mut self, site: Site, invocation: u32, wanted: Wanted) -> Option<Patch> {
        let mut search = Search::of(self, (site, invocation), wanted);
        let (values, places) = search.places()?;
        search.leave_others(values);
        let start = values[0] - values[1];
        search.start = start;
        if Wanted::of(start) == wanted {
            return None;
        }
        let mut count = 0;
        for place in places {
            if count == MOST_THAT_COUNT {
                break;
            }
            let Some(word) = search.word(&place) else { continue };
            let probes = [word.wrapping_add(PROBE) ^ PROBE_BITS, !word];
            let counts =
                probes.into_iter().any(|probe| search.values(&place, probe).is_some_and(|it| it != values));
            if search.found.is_none() && !counts {
                continue;
            }
            count += 1;
            for form in search.forms() {
                search.follow(&place, word, start, form);
            }
            for bit in 0..u32::BITS {
                search.difference(&place, word ^ 1 << bit);
            }
            if search.found.is_some() {
                break;
            }
        }
        search.lessen();
        search.found
    }
}

impl Solver<'_> {
    /// The value that brings what an invocation compares at two sites of one instruction between the two others, which it
    /// is clamped to; `None` where none was found.
    pub fn solve_within(&mut self, sites: [Site; 2], invocation: u32) -> Option<Patch> {
        let last = sites.into_iter().max()?;
        let mut search = Search::of(self, (last, invocation), Wanted::Equal);
        let start = search.run()?.differences(sites, invocation)?;
        if is_within(start) {
            return None;
        }
        let nearer = usize::from(start[1].abs() < start[0].abs());
        let wanted = if start.iter().any(|it| *it > 0.0) { Wanted::Less } else { Wanted::Greater };
        let beyond = self.solve(sites[nearer], invocation, wanted)?;
        let mut search = Search::of(self, (last, invocation), Wanted::Equal);
        let word = beyond.word()?;
        let own = search.word(&beyond.place)?;
        let mut with = |word: u32| search.with(&beyond.place, word)?.differences(sites, invocation);
        if is_within(with(word)?) {
            return Some(beyond);
        }
        // Between a value on one side and a value on the other one.
        let [mut from, mut to] = [own, word].map(|word| f64::from(f32::from_bits(word)));
        if !from.is_finite() || !to.is_finite() {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = (from + to) / 2.0;
            let word = (middle as f32).to_bits();
            let differences = with(word)?;
            if is_within(differences) {
                return Some(Patch::of_word(&beyond.place, word));
            }
            match differences[nearer] * start[nearer] > 0.0 {
                true => from = middle,
                false => to = middle,
            }
        }
        None
    }
}

/// Whether what is compared with two others lies between them.
fn is_within(differences: [f64; 2]) -> bool {
    differences[0] * differences[1] < 0.0
}

/// Values that are tried in the place of one that was found.
const LESSER: [u32; 8] = [1, 2, 3, 4, 8, 16, 32, 64];

/// What is added to a word to see whether it counts: something in each byte, and in a float's significand.
const PROBE: u32 = 0x0013_0901;

/// What is flipped then.
const PROBE_BITS: u32 = 0x0040_0000;

struct Search<'s, 'p> {
    solver: &'s mut Solver<'p>,
    /// The input, with other values put into it.
    scratch: Dispatch,
    /// Who runs, too.
    together: Option<&'p [u32]>,
    site: Site,
    invocation: u32,
    wanted: Wanted,
    /// The first less the second as the input is.
    start: f64,
    found: Option<Patch>,
}

impl<'s, 'p> Search<'s, 'p> {
    fn of(solver: &'s mut Solver<'p>, (site, invocation): (Site, u32), wanted: Wanted) -> Self {
        let (scratch, together) = (solver.dispatch.clone(), solver.together);
        Search { solver, scratch, together, site, invocation, wanted, start: 0.0, found: None }
    }

    /// Goes on without the others, which cost most, if the same is compared without them.
    fn leave_others(&mut self, values: [f64; 2]) {
        let together = self.together.take();
        if together.is_some() {
            let alone =
                self.run().and_then(|watched| watched.values.get(&(self.site, self.invocation)).copied());
            if alone != Some(values) {
                self.together = together;
            }
        }
    }

    /// What is compared as the input is, and the values that were read before that, the latest first.
    fn places(&mut self) -> Option<([f64; 2], Vec<Place>)> {
        let dispatch = self.solver.dispatch;
        let watched = self.run()?;
        let values = *watched.values.get(&(self.site, self.invocation))?;
        let (mut latest, mut parameters, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (object, first, bytes) in watched.reads.iter().rev() {
            let Some(it) = dispatch.objects.get(*object as usize) else { continue };
            for offset in (first & !3..first.saturating_add(*bytes)).step_by(WORD) {
                // Parameters are read once, mostly, before all else.
                let places = match it.constant && latest.len() >= FIRST_VALUES {
                    true => &mut parameters,
                    false => &mut latest,
                };
                if places.len() < MOST_VALUES
                    && known.insert((*object, offset))
                    && (self.solver.is_free)(&it.key)
                {
                    places.push(Place::Object { key: it.key.clone(), offset });
                }
            }
        }
        let mut places = latest;
        let later = places.split_off(FIRST_VALUES.min(places.len()));
        places.extend(parameters);
        places.extend(later);
        places.truncate(MOST_VALUES);
        let parts = self.solver.program.variables.iter().flat_map(|variable| &variable.interface);
        for part in parts {
            let key = format!("in:{}", part.name);
            let is_free = part.name.starts_with(|first: char| first.is_ascii_digit())
                || FREE_BUILT_INS.contains(&part.name.as_str());
            if !is_free || !(self.solver.is_free)(&key) {
                continue;
            }
            let fragment = part.varies.map(|_| self.invocation);
            let offsets = (0..part.size).step_by(WORD);
            places.extend(offsets.map(|offset| Place::Passed { key: key.clone(), fragment, offset }));
        }
        let kept = self.solver.kept;
        places.retain(|place| kept.iter().all(|patch| patch.place != *place));
        places.truncate(2 * MOST_VALUES);
        Some((values, places))
    }

    /// Puts the least of a few values in the place of what was found, if it does the same: a large one makes loops long, and
    /// leads out of bounds.
    fn lessen(&mut self) {
        let Some(found) = self.found.take_if(|_| self.site.about != About::Sign) else { return };
        let word = found.word().unwrap_or(0);
        let is_large = |lesser: &u32| *lesser < word && word < 1 << 31 && is_integer(word);
        for lesser in LESSER.into_iter().filter(is_large) {
            self.difference(&found.place, lesser);
            if self.found.is_some() {
                return;
            }
        }
        self.found = Some(found);
    }

    /// The word there.
    fn word(&self, place: &Place) -> Option<u32> {
        let dispatch = self.solver.dispatch;
        let (bytes, start): (&[Byte], u32) = match place {
            Place::Object { key, offset } => {
                let object = dispatch.objects.iter().find(|object| object.key == *key)?;
                (&object.initial, *offset)
            }
            Place::Passed { key, fragment, offset } => {
                let variables = (0..).zip(&self.solver.program.variables);
                let mut parts =
                    variables.flat_map(|(number, it)| it.interface.iter().map(move |part| (number, part)));
                let (number, part) = parts.find(|(_, part)| format!("in:{}", part.name) == *key)?;
                let values = dispatch.inputs.get(&number)?;
                let values = values.get(fragment.unwrap_or(0) as usize).or(values.first())?;
                (values, part.offset + offset)
            }
        };
        word_at(bytes, start)
    }

    fn run(&mut self) -> Option<trial::Watched> {
        let Solver { program, is_over, .. } = *self.solver;
        let runs = self.members(self.together.unwrap_or_default());
        let until = Some((self.site, self.invocation));
        let watched = trial::watched(program, &self.scratch, &runs, until, is_over)?;
        self.solver.fuel = self.solver.fuel.saturating_sub(watched.executed + RUN);
        Some(watched)
    }

    /// How words may be taken for numbers, first as what is compared.
    fn forms(&self) -> [Form; 5] {
        let Site { inst: InstId { function, index }, .. } = self.site;
        let function = self.solver.program.functions.get(function.0 as usize);
        let op = function.and_then(|function| function.code.get(index as usize)).map(|inst| &inst.op);
        let mut forms =
            [Form::Float, Form::Integer(0), Form::Integer(8), Form::Integer(16), Form::Integer(24)];
        let is_integer = match op {
            // Where a run is one of many invocations, the others would cost too much.
            Some(Op::Binary { op, .. }) => {
                self.together.is_some_and(|all| all.len() > MANY)
                    && !matches!(op.kind(), BinaryKind::Float(_))
            }
            op => matches!(op, Some(Op::Control(_))),
        };
        // What differs by its sign does so for few numbers next to zero.
        if is_integer && self.site.about != About::Sign {
            forms[..2].reverse();
        }
        forms
    }

    /// Who runs: first the one that compares, so that nobody else does where it waits for nobody; then those of its
    /// workgroup.
    fn members(&self, together: &[u32]) -> Vec<u32> {
        let group = |index: u32| self.scratch.places.get(index as usize).map(|place| place.workgroup);
        let own = self.invocation;
        let others = together.iter().copied().filter(|other| *other != own && group(*other) == group(own));
        std::iter::once(own).chain(others).collect()
    }

    /// The first less the second with this word there, if it comes to that.
    fn difference(&mut self, place: &Place, word: u32) -> Option<f64> {
        self.values(place, word).map(|[first, second]| first - second)
    }

    /// What is compared with this word there, if it comes to that. Nothing runs any more once the wanted is found.
    fn values(&mut self, place: &Place, word: u32) -> Option<[f64; 2]> {
        if self.found.is_some() || self.solver.fuel == 0 {
            return None;
        }
        let values = *self.with(place, word)?.values.get(&(self.site, self.invocation))?;
        let difference = values[0] - values[1];
        if Wanted::of(difference) == self.wanted {
            self.found = Some(Patch::of_word(place, word));
        }
        let least = self.solver.nearest.as_ref().map_or(NEARER * self.start.abs(), |(least, _)| *least);
        if difference.abs() < least {
            self.solver.nearest = Some((difference.abs(), Patch::of_word(place, word)));
        }
        Some(values)
    }

    /// What is compared with this word there.
    fn with(&mut self, place: &Place, word: u32) -> Option<trial::Watched> {
        let own = self.word(place)?;
        Patch::of_word(place, word).put_into(self.solver.program, &mut self.scratch);
        let watched = self.run();
        Patch::of_word(place, own).put_into(self.solver.program, &mut self.scratch);
        watched
    }

    /// Follows the line through two points, over and over.
    fn follow(&mut self, place: &Place, word: u32, start: f64, form: Form) {
        let goal = match self.wanted {
            Wanted::Equal => 0.0,
            Wanted::Less => -start.abs().max(1.0) / 2.0,
            Wanted::Greater => start.abs().max(1.0) / 2.0,
        };
        let Some(first) = form.number(word) else { return };
        let mut point = (first, start - goal);
        // As if the value were compared itself.
        let mut next = first - (start - goal);
        let (mut nearest, mut beyond) = (None::<(f64, u32)>, None::<f64>);
        for step in 0..STEPS {
            let Some(word) = form.word(next, word) else { break };
            let Some(difference) = self.difference(place, word) else {
                if step > 0 || self.found.is_some() {
                    break;
                }
                next = first + 1.0;
                continue;
            };
            let value = difference - goal;
            if nearest.is_none_or(|(least, _)| value.abs() < least) {
                nearest = Some((value.abs(), word));
            }
            let here = form.number(word).unwrap_or(next);
            if value * (start - goal) < 0.0 {
                beyond.get_or_insert(here);
            }
            let slope = (value - point.1) / (here - point.0);
            if slope != 0.0 && slope.is_finite() {
                point = (here, value);
                next = here - value / slope;
            } else if step == 0 {
                next = match form {
                    Form::Float => first + first.abs().max(1.0) / 4.0,
                    Form::Integer(_) => first + 1.0,
                };
            } else {
                break;
            }
        }
        if self.wanted != Wanted::Equal {
            return;
        }
        if let Some(beyond) = beyond {
            self.halve(place, word, form, [first, beyond]);
        }
        let Some((_, word)) = nearest.filter(|_| form == Form::Float) else { return };
        for step in (1..=NEIGHBOURS).flat_map(|step| [step, -step]) {
            self.difference(place, word.wrapping_add(step as u32));
        }
    }

    /// Looks for equal values between a number for which the first is on one side of the second, as it is at first, and one
    /// for which it is on the other side.
    fn halve(&mut self, place: &Place, like: u32, form: Form, [mut from, mut to]: [f64; 2]) {
        let Some(start) = form.word(from, like).and_then(|word| self.difference(place, word)) else { return };
        for _ in 0..HALVINGS {
            let middle = (from + to) / 2.0;
            let word = form.word(middle, like);
            let Some(difference) = word.and_then(|word| self.difference(place, word)) else { return };
            match difference * start > 0.0 {
                true => from = middle,
                false => to = middle,
            }
        }
    }
}

const WORD: usize = 4;

/// Built-ins that have any value, as the draw says.
const FREE_BUILT_INS: [&str; 4] = ["VertexIndex", "InstanceIndex", "BaseVertex", "BaseInstance"];

impl Form {
    fn number(self, word: u32) -> Option<f64> {
        match self {
            Form::Float => Some(f64::from(f32::from_bits(word))).filter(|number| number.is_finite()),
            Form::Integer(shift) => Some(f64::from(word as i32 >> shift)),
        }
    }

    /// The word of a number; of an integer, the lower bits are as in another word.
    fn word(self, number: f64, like: u32) -> Option<u32> {
        match self {
            Form::Float => Some(number as f32).filter(|number| number.is_finite()).map(f32::to_bits),
            Form::Integer(shift) => {
                let lower = like & !(u32::MAX << shift);
                Some((number.round() as i64 as u32) << shift | lower)
            }
        }
    }
}

#[cfg(test)]
mod tests;
