//! One input on two programs: both searches, the comparison, the intervals of floats, and the explanation.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::intervals::{self, IntervalSide, Judgement, Tolerance};
use super::options::{CheckOptions, Floats};
use super::result::{Explored, Role, Run};
use super::searches::{is_same_dispatch, Known, Searches};
use super::watch::Watch;
use super::widened;
use crate::behaviour::{Bug, Deadline, Outcome};
use crate::compare::{
    are_comparable, has_same_objects, refines, same_program, vacuous, Allowed, CompareOptions, Comparison,
    Names, Note, Reason, Side, Subject, Verdict,
};
use crate::correspondence;
use crate::dispatch::Dispatch;
use crate::event::UndefinedKind;
use crate::explain::{self, New, Watched, Why};
use crate::explore::{self, Races, Settings};
use crate::ir::Program;
use crate::launch::Input;
use crate::module::Text;
use crate::value::Byte;

/// Invocations from which on the search for racy executions may take long.
const EARLY_RACES_FROM: usize = 64;

/// The same for after, whose race is told: a search finds it with what all invocations do, not two alone.
const EARLY_IN_AFTER_FROM: usize = 256;

/// Two programs with their dispatches.
pub(super) struct Pair<'a> {
    pub(super) before: &'a Program,
    pub(super) after: &'a Program,
    /// Both of them.
    pub(super) known: &'a [Known; 2],
    pub(super) before_dispatch: Dispatch,
    pub(super) after_dispatch: Dispatch,
    /// The number of their launch.
    pub(super) launch: usize,
    /// What it is called while it runs.
    pub(super) name: String,
}

impl Pair<'_> {
    /// A side of the pair, as the intervals of its floats want it.
    fn explored<'b>(&'b self, side: &'b Explored, deadline: Option<Deadline>) -> IntervalSide<'b> {
        let program = match side.role {
            Role::Before | Role::Module => self.before,
            Role::After => self.after,
        };
        IntervalSide { program, dispatch: &side.dispatch, behaviours: &side.behaviours, deadline }
    }

    /// Whether both sides are one program but for ids, names and lines.
    pub(super) fn is_same_program(&self) -> bool {
        let [before, after] = self.known;
        before.is_same(after) && is_same_dispatch(&self.before_dispatch, &self.after_dispatch)
    }

    pub(super) fn before_side(&self) -> explain::Side<'_> {
        explain::Side { program: self.before, dispatch: &self.before_dispatch }
    }

    pub(super) fn after_side(&self) -> explain::Side<'_> {
        explain::Side { program: self.after, dispatch: &self.after_dispatch }
    }
}

/// The instructions that were changed, with what they take.
fn watched([before, after]: &[Text; 2]) -> [Vec<Watched>; 2] {
    let watched = |(line, operands)| Watched { line, operands };
    let changed = correspondence::changed_with_operands(before, after);
    changed.map(|lines| lines.into_iter().map(watched).collect())
}

/// Whether floats alone keep a comparison from deciding.
fn is_about_floats(comparison: &Comparison) -> bool {
    matches!(comparison.reasons[..], [Reason::Float { .. }])
}

/// The dispatch where what has these keys may hold anything at any time.
fn opened(dispatch: &Dispatch, keys: &BTreeSet<String>) -> Dispatch {
    let mut opened = dispatch.clone();
    let open = dispatch.objects.iter().filter(|object| keys.contains(&object.key));
    opened.open.extend(open.map(|object| object.memory));
    for object in opened.objects.iter_mut().filter(|object| opened.open.contains(&object.memory)) {
        object.initial.fill(Byte::Undef);
    }
    opened
}

impl Explored {
    fn side(&self) -> Side<'_> {
        Side { name: self.role.name(), behaviours: &self.behaviours, dispatch: &self.dispatch }
    }
}

/// Runs inputs.
pub(super) struct Runner<'a> {
    pub(super) options: &'a CheckOptions,
    /// Those of before and after.
    pub(super) texts: [Text; 2],
    pub(super) watch: &'a Watch,
    pub(super) deadline: Option<Deadline>,
    pub(super) searches: &'a mut Searches,
    /// Where a search of what nobody asked for ends, if that is before the user's bound.
    pub(super) max_executions: u64,
}

impl Runner<'_> {
    pub(super) fn run(&mut self, pair: &Pair<'_>, input: Input) -> Result<Run, Bug> {
        let mut before = self.explore(pair, Role::Before, None, None)?;
        let options = self.compare_options();
        if let Some(comparison) = vacuous(before.side(), &options) {
            return Ok(Run {
                entry: pair.before.entry.name.clone(),
                launch: pair.launch,
                input,
                comparison,
                before,
                after: None,
                why: Why::default(),
                reverse: None,
                legacy: None,
            });
        }
        let was_cut = !before.behaviours.complete && before.behaviours.undecided.is_empty();
        if was_cut && pair.is_same_program() {
            let after = Explored { role: Role::After, reused: true, ..before.clone() };
            return Ok(Run {
                entry: pair.before.entry.name.clone(),
                launch: pair.launch,
                input,
                comparison: same_program(before.side()),
                reverse: self.options.both_ways.then(|| same_program(before.side())),
                before,
                after: Some(after),
                why: Why::default(),
                legacy: None,
            });
        }
        let mut after = self.explore_after(pair, &before)?;
        self.multiply_out(&mut before, &mut after);
        let comparison = self.compare(pair, &before, &after, false)?;
        let mut comparison = self.search_races_in_cycles(pair, &mut before, &mut after, comparison)?;
        let reverse =
            self.options.both_ways.then(|| self.compare(pair, &before, &after, true)).transpose()?;
        let why = match self.widen(pair, &before, &mut after, &mut comparison)? {
            Some(why) => Why { text: Some(why), ..Why::default() },
            None => self.explanation(pair, &comparison, &after).unwrap_or_default(),
        };
        Ok(Run {
            entry: pair.before.entry.name.clone(),
            launch: pair.launch,
            input,
            comparison,
            before,
            after: Some(after),
            why,
            reverse,
            legacy: None,
        })
    }

    /// Compares the behaviours, and where floats alone keep that from deciding, what they may be.
    /// `swapped`: before against after.
    fn compare(
        &self,
        pair: &Pair<'_>,
        before: &Explored,
        after: &Explored,
        swapped: bool,
    ) -> Result<Comparison, Bug> {
        let (old, new) = if swapped { (after, before) } else { (before, after) };
        let options = self.compare_options();
        let mut comparison = refines(old.side(), new.side(), &options)?;
        let tolerance = match self.options.floats {
            Floats::Exact => return Ok(comparison),
            Floats::Spec => Tolerance::Permitted,
            Floats::Ulp(units) => Tolerance::Units(units),
        };
        // An interval follows one way alone.
        let has_strays = [before, after].into_iter().any(|side| side.behaviours.has_strays);
        if !is_about_floats(&comparison) || has_strays {
            return Ok(comparison);
        }
        self.watch.enter(format!("{}: intervals of floats", pair.name));
        let sides = [old, new].map(|side| pair.explored(side, self.deadline));
        let names = Names { before: old.role.name(), after: new.role.name() };
        match intervals::judge(sides, names, &comparison, tolerance) {
            Judgement::Unknown(obstacle) => comparison.reasons.iter_mut().for_each(|reason| {
                if let Reason::Float { obstacle: known, .. } = reason {
                    *known = Some(obstacle.clone());
                }
            }),
            Judgement::Permitted => {
                comparison.verdict = Verdict::Refines;
                comparison.violation = None;
                comparison.reasons.clear();
                comparison.notes.push(match tolerance {
                    Tolerance::Permitted => Note::OpenFloats,
                    Tolerance::Units(units) => Note::CloseFloats { units },
                });
            }
            Judgement::Violates(difference) => {
                let exact = CompareOptions { open_floats: false, ..options };
                comparison = refines(old.side(), new.side(), &exact)?;
                if let (Some(violation), Some(difference)) = (&mut comparison.violation, difference) {
                    violation.difference = Some(difference);
                }
            }
        }
        Ok(comparison)
    }

    /// Where after may compute floats as before may not, and nothing else is new: gives it what it does then, and
    /// says why.
    fn widen(
        &self,
        pair: &Pair<'_>,
        before: &Explored,
        after: &mut Explored,
        comparison: &mut Comparison,
    ) -> Result<Option<String>, Bug> {
        let [old, new] = pair.known;
        let open = comparison.verdict == Verdict::Refines || is_about_floats(comparison);
        let has_strays = before.behaviours.has_strays || after.behaviours.has_strays;
        if self.options.floats != Floats::Spec || !open || has_strays || old.is_same(new) {
            return Ok(None);
        }
        let search = |program: &Program| {
            self.watch.enter(format!("{}: other floats of {}", pair.name, after.role.name()));
            let settings = Settings {
                multiply_out: self.options.bounds.multiply_out,
                factored_from: self.options.factored_from(),
                ..self.settings()
            };
            explore::explore(program, &pair.after_dispatch, &settings)
        };
        let (sides, options) =
            ([before, &*after].map(|side| pair.explored(side, self.deadline)), self.compare_options());
        let Some(found) = widened::find(sides, &options, search, &mut comparison.notes)? else {
            return Ok(None);
        };
        after.behaviours = Arc::new(found.behaviours);
        *comparison = found.comparison;
        Ok(Some(found.why))
    }

    /// Multiplies outcomes out that cannot be compared as they are; those of after up to the first that decides.
    fn multiply_out(&self, before: &mut Explored, after: &mut Explored) {
        // What is listed on one side is compared with the factored forms of the other.
        if has_same_objects(before.side(), after.side()) {
            match (before.behaviours.product.clone(), after.behaviours.product.clone()) {
                (Some(product), None) => Arc::make_mut(&mut after.behaviours).become_part(&product),
                (None, Some(product)) => Arc::make_mut(&mut before.behaviours).become_part(&product),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        if are_comparable(before.side(), after.side(), &self.compare_options()) {
            return;
        }
        let max_memory = self.options.bounds.max_memory;
        if before.behaviours.product.is_some() {
            Arc::make_mut(&mut before.behaviours).multiply_out(max_memory, self.deadline, &|_| false);
        }
        if after.behaviours.product.is_some() {
            let dispatch = after.dispatch.clone();
            let decides = self.first_decides(before);
            let allowed = Allowed::new(before.side(), &dispatch);
            let is_new = |outcome: &Outcome| decides && allowed.forbids(outcome).is_some();
            Arc::make_mut(&mut after.behaviours).multiply_out(max_memory, self.deadline, &is_new);
        }
    }

    /// Before a violation is told that may rest on a cycle of load buffering: looks whether before is undefined in such a
    /// cycle. Where races are undefined plain reads do not speculate, and one that is atomic in after may race in
    /// before, but only there.
    fn search_races_in_cycles(
        &self,
        pair: &Pair<'_>,
        before: &mut Explored,
        after: &mut Explored,
        comparison: Comparison,
    ) -> Result<Comparison, Bug> {
        let rests_on_cycle = comparison.verdict == Verdict::Violates && after.behaviours.speculates;
        if !rests_on_cycle || self.options.races == Races::Keep {
            return Ok(comparison);
        }
        let settings = Settings {
            speculate_plain: true,
            stop_at_undefined: true,
            multiply_out: self.options.bounds.multiply_out,
            factored_from: self.options.factored_from(),
            ..self.settings()
        };
        self.watch.enter(format!("{}: {}, races in cycles", pair.name, before.role.name()));
        let behaviours = explore::explore(pair.before, &pair.before_dispatch, &settings);
        if behaviours.complete && behaviours.undefined.is_empty() {
            return Ok(comparison);
        }
        before.behaviours = Arc::new(behaviours);
        self.multiply_out(before, after);
        self.compare(pair, before, after, false)
    }

    fn explanation(&self, pair: &Pair<'_>, comparison: &Comparison, after: &Explored) -> Option<Why> {
        let behaviours = &after.behaviours;
        let violation = comparison.violation.as_ref()?;
        let subject = violation.subject;
        let guilty = subject.outcome(behaviours);
        let (witness, new) = match subject {
            Subject::Outcome(_) | Subject::Part(..) => {
                let (outcome, witness) = guilty.as_deref()?;
                (witness, New::Outcome(outcome, violation.difference.as_ref()))
            }
            Subject::Undefined(index) => {
                let (undefined, witness) = behaviours.undefined.get(index)?;
                let race = undefined.kind == UndefinedKind::DataRace;
                (witness, if race { New::Race(&undefined.lines) } else { New::Undefined(undefined) })
            }
        };
        self.watch.enter(format!("{}: explaining", pair.name));
        let [watched_before, watched_after] = watched(&self.texts);
        let pair = explain::Pair {
            before: pair.before_side(),
            after: pair.after_side(),
            watched: [&watched_before, &watched_after],
        };
        Some(explain::why(pair, witness, new, &self.settings()))
    }

    /// Explores after, up to the first behaviour that before does not have where that decides.
    fn explore_after(&mut self, pair: &Pair<'_>, before: &Explored) -> Result<Explored, Bug> {
        // What is not multiplied out is compared part by part.
        if !self.first_decides(before) || before.behaviours.product.is_some() {
            return self.explore(pair, Role::After, Some(before), None);
        }
        let allowed = Allowed::new(before.side(), &pair.after_dispatch);
        let is_new = |outcome: &Outcome| allowed.forbids(outcome).is_some();
        let after = self.explore(pair, Role::After, Some(before), Some(&is_new))?;
        let behaviours = &after.behaviours;
        // What only differs in floats is told from what else may differ by all that after does.
        if behaviours.ends_at_target && self.open_floats() && !behaviours.inexact.is_empty() {
            return self.explore(pair, Role::After, Some(before), None);
        }
        Ok(after)
    }

    /// Whether an outcome that before lacks decides, whatever else after does.
    fn first_decides(&self, before: &Explored) -> bool {
        let CheckOptions { all, both_ways, ignore, .. } = self.options;
        let behaviours = &before.behaviours;
        let wanted = *all || *both_ways || !ignore.is_empty();
        let open = self.open_floats() && !behaviours.inexact.is_empty();
        behaviours.complete && !wanted && !open
    }

    fn open_floats(&self) -> bool {
        self.options.floats != Floats::Exact
    }

    /// What a module does, up to an outcome that `target` names. What `permissive` leaves open is open.
    fn explore(
        &mut self,
        pair: &Pair<'_>,
        role: Role,
        permissive: Option<&Explored>,
        target: Option<&(dyn Fn(&Outcome) -> bool + Sync)>,
    ) -> Result<Explored, Bug> {
        self.watch.enter(format!("{}: {}", pair.name, role.name()));
        let [before, after] = pair.known;
        let (program, dispatch, known) = match role {
            Role::Before | Role::Module => (pair.before, &pair.before_dispatch, before),
            Role::After => (pair.after, &pair.after_dispatch, after),
        };
        let keys = permissive.map(|side| &side.behaviours.written_astray).filter(|keys| !keys.is_empty());
        let opened = keys.map(|keys| opened(dispatch, keys));
        let dispatch = opened.as_ref().unwrap_or(dispatch);
        // One undefined behaviour decides, unless some are ignored.
        let settings = Settings {
            early_races_from: if role == Role::After { EARLY_IN_AFTER_FROM } else { EARLY_RACES_FROM },
            stop_at_undefined: !self.options.both_ways && !self.options.all && self.options.ignore.is_empty(),
            multiply_out: self.options.bounds.multiply_out,
            factored_from: self.options.factored_from(),
            ..self.settings()
        };
        let explored = |behaviours| {
            Explored::new(role, program, dispatch.clone(), behaviours, self.options.model.clone())
        };
        if let Some(behaviours) = self.searches.find(known, dispatch, &settings) {
            return Ok(Explored { reused: true, ..explored(behaviours) });
        }
        let behaviours = Arc::new(explore::explore_until(program, dispatch, &settings, target));
        if let Some(bug) = behaviours.bug() {
            return Err(bug.clone());
        }
        self.searches.keep(known, dispatch, settings, &behaviours);
        Ok(explored(behaviours))
    }

    pub(super) fn compare_options(&self) -> CompareOptions {
        CompareOptions {
            keep_races: self.options.races == Races::Keep,
            open_floats: self.open_floats(),
            ignore: self.options.ignore.clone(),
        }
    }

    pub(super) fn settings(&self) -> Settings {
        let settings = self.options.settings(self.deadline, self.watch);
        Settings { max_executions: settings.max_executions.min(self.max_executions), ..settings }
    }
}
