//! What a violation is, how after gets there, and why before does not.

mod cause;
mod input;
mod outcome;

use std::collections::BTreeSet;

use super::account::{self, Beginning, Branch, Code};
use super::elision::some_of;
use super::parts::Part;
use super::style::Painter;
use super::typed::Types;
use super::witness::{Scene, Wanted};
use super::words::words;
use super::{diff, text, witness};
use crate::behaviour::Undefined;
use crate::check::{CheckReport, Explored, Run};
use crate::compare::{Subject, Violation};
use crate::correspondence::Texts;
use crate::dispatch::{Dispatch, Object};
use crate::event::{UndefinedKind, INDEX_OUT_OF_BOUNDS};
use crate::explain::Account;
use crate::ir::Line;
use crate::value::Byte;
use crate::witness::WitnessEvent;
use outcome::{Cell, Novelty};

/// A violation with what is needed to tell it.
struct Told<'a> {
    report: &'a CheckReport,
    run: &'a Run,
    after: &'a Explored,
    scene: Scene<'a>,
}

/// The parts of a report that are about a violation.
pub(super) fn parts(
    report: &CheckReport,
    run: &Run,
    violation: &Violation,
    after: &Explored,
    full: bool,
    painter: Painter,
) -> Vec<Part> {
    let scene = Scene::of(&after.dispatch, &report.after, full, painter);
    let told = Told { report, run, after, scene };
    let code = Code::of(&report.after, &told.scene.types);
    let types_of_before = Types::of(&report.before.text);
    let code_of_before = Code::of(&report.before, &types_of_before);
    let codes = [&code_of_before, &code];
    let [before_text, after_text] = report.compared_texts();
    let texts = Texts::of(before_text, after_text);
    let correspondence = texts.matched();
    let beginning = Beginning::of(report, run, codes, &correspondence);
    let branch = beginning.known().and_then(|found| found.branch.as_ref());
    let guilty = violation.subject.outcome(&after.behaviours);
    let (new, events, wanted) = match violation.subject {
        Subject::Outcome(_) | Subject::Part(..) => match guilty.as_deref() {
            Some((outcome, witness)) => {
                let events = witness.events();
                let mut novelty = Novelty::of(&told, outcome);
                novelty.lines.extend(account::hang(&run.why.account.standing, &code, &told.scene));
                let wanted = told.last_writes(&novelty.cells, &events);
                let writers = wanted.iter().map(|number| told.written_by(*number, &events));
                novelty.lines.extend(writers.take(2));
                if full {
                    novelty.lines.push("  all of it:".to_owned());
                    novelty.lines.extend(text::outcome_lines(outcome, told.dispatch(), "    ", &|_| true));
                    novelty.lines.push("  before allows:".to_owned());
                    novelty.lines.extend(text::outcome_list(&run.before, text::ALL_OUTCOMES, "    "));
                }
                let wanted = Wanted { events: wanted, with_reads: true };
                (novelty.lines, Some(events), wanted)
            }
            None => Default::default(),
        },
        Subject::Undefined(index) => match after.behaviours.undefined.get(index) {
            Some((undefined, witness)) => {
                let events = witness.events();
                let new = told.undefined(undefined, &code, branch);
                match told.of_undefined(undefined, &events) {
                    Some(wanted) => (new, Some(events), wanted),
                    None => (new, None, Wanted::default()),
                }
            }
            None => Default::default(),
        },
    };
    let heading = |text: &str| vec![String::new(), painter.heading(text)];
    let mut parts = Vec::new();
    let of_input = input::lines(&told, &code, &beginning);
    let of_wanted = wanted.events.iter().filter_map(|number| events.as_ref()?.get(*number));
    let (changes, suspects) = cause::lines(
        report,
        correspondence.changes(),
        &lines_of(violation, after, events.as_deref(), &wanted),
        told.at_most(cause::TOLD),
        (&run.why.account.computed, codes, of_wanted.map(|event| event.invocation).next()),
        beginning,
        &run.why.lost,
    );
    if !changes.is_empty() {
        let lines = changes.iter().map(|line| format!("  {line}")).collect();
        parts.push(Part::of(lines).under(heading("What was changed")));
    }
    if !new.is_empty() {
        parts.push(Part::of(new).under(heading("What is new")));
    }
    if !of_input.is_empty() {
        let title = format!("Input '{}'", run.input.name);
        parts.push(Part::of(of_input).under(heading(&title)));
    }
    if let Some(events) = events.filter(|events| !events.is_empty()) {
        let lines = witness::lines(&told.scene, &events, &wanted);
        parts.push(Part::of(lines).under(heading("How after gets there")));
    }
    if let Some(why) = &run.why.text {
        let lines = why.lines().map(|line| format!("  {line}")).collect();
        parts.push(Part::of(lines).under(heading("Why before does not")));
    }
    let names = [report.before.name.as_str(), report.after.name.as_str()];
    parts.push(diff::part(names, &correspondence, &suspects, full, painter));
    parts.push(Part { tail: vec![String::new()], ..Part::default() });
    parts
}

/// The events of the witness that a violation is about: the last writes of what is new, or the accesses that race.
pub(super) fn wanted(
    report: &CheckReport,
    run: &Run,
    violation: &Violation,
    after: &Explored,
    events: &[WitnessEvent],
) -> Vec<usize> {
    match violation.subject {
        Subject::Undefined(_) => run.why.race.map_or(Vec::new(), |race| race.to_vec()),
        Subject::Outcome(_) | Subject::Part(..) => {
            let scene = Scene::of(&after.dispatch, &report.after, false, Painter { coloured: false });
            let told = Told { report, run, after, scene };
            let guilty = violation.subject.outcome(&after.behaviours);
            let outcome = guilty.as_deref().map(|(outcome, _)| outcome);
            outcome.map_or(Vec::new(), |outcome| told.last_writes(&Novelty::of(&told, outcome).cells, events))
        }
    }
}

/// The lines of after that a violation is about.
fn lines_of(
    violation: &Violation,
    after: &Explored,
    events: Option<&[WitnessEvent]>,
    wanted: &Wanted,
) -> BTreeSet<Line> {
    let events = events.unwrap_or_default();
    let fault = match violation.subject {
        Subject::Undefined(index) => after.behaviours.undefined.get(index),
        Subject::Outcome(_) | Subject::Part(..) => None,
    };
    let of_fault = fault.iter().flat_map(|(undefined, _)| undefined.lines.iter().copied());
    let of_events = wanted.events.iter().filter_map(|number| events.get(*number)).map(|event| event.line);
    of_fault.chain(of_events).collect()
}

/// The output that says that a fragment was discarded.
const DISCARDED: &str = "out:discard";

/// The key of an output without its fragment of the quad, and that fragment.
fn fragment(key: &str) -> (&str, Option<&str>) {
    key.rsplit_once('@').map_or((key, None), |(own, fragment)| (own, Some(fragment)))
}

impl<'a> Told<'a> {
    fn dispatch(&self) -> &'a Dispatch {
        &self.after.dispatch
    }

    /// So many, unless everything is told.
    fn at_most(&self, count: usize) -> usize {
        match self.scene.full {
            true => usize::MAX,
            false => count,
        }
    }

    /// The number of `total` that are told of which `most` are enough: all, where no more than two would be missing.
    fn some_of(&self, total: usize, most: usize) -> usize {
        some_of(total, self.at_most(most))
    }

    /// Whether a value says that a fragment was discarded.
    fn is_mark(&self, cell: &Cell) -> bool {
        self.observed().nth(cell.object).is_some_and(|object| fragment(&object.key).0 == DISCARDED)
    }

    /// Whether a value that after has is that of an output which is undefined since its fragment was discarded.
    fn is_gone_with(&self, cell: &Cell, mark: &Cell, bytes: &[Byte]) -> bool {
        let keys =
            [cell, mark].map(|cell| self.observed().nth(cell.object).map(|object| object.key.as_str()));
        let [Some(key), Some(mark)] = keys else { return false };
        key.starts_with("out:")
            && fragment(key).1 == fragment(mark).1
            && bytes.iter().all(|byte| *byte == Byte::Undef)
    }

    /// The objects that an outcome of after has.
    fn observed(&self) -> impl Iterator<Item = &'a Object> {
        self.dispatch().objects.iter().filter(|object| object.observed)
    }

    /// The events that matter of undefined behaviour: the accesses that race; of another fault what its invocation reads from
    /// others; none, where it reads nothing from them.
    fn of_undefined(&self, undefined: &Undefined, events: &[WitnessEvent]) -> Option<Wanted> {
        if undefined.kind == UndefinedKind::DataRace {
            let race = self.run.why.race.map_or(Vec::new(), |race| race.to_vec());
            return Some(Wanted { events: race, with_reads: false });
        }
        let Some(fault) = &self.run.why.account.fault else {
            return Some(Wanted::default());
        };
        let of_others = |event: &WitnessEvent| {
            let mut sources = event.reads_from.iter().flatten();
            event.invocation == fault.history.invocation
                && sources.any(|source| {
                    events.get(*source).is_some_and(|write| write.invocation != event.invocation)
                })
        };
        let wanted: Vec<usize> = (0..events.len()).filter(|number| of_others(&events[*number])).collect();
        (!wanted.is_empty() || self.scene.full).then_some(Wanted { events: wanted, with_reads: true })
    }

    fn undefined(&self, undefined: &Undefined, code: &Code<'_>, branch: Option<&Branch>) -> Vec<String> {
        let Account { fault, raced, standing, parting, cut, .. } = &self.run.why.account;
        let index = fault.as_ref().filter(|_| undefined.detail == INDEX_OUT_OF_BOUNDS);
        let index = index.and_then(|fault| account::index_beyond(fault, code, self.dispatch()));
        let detail = match index {
            Some(index) => format!("an index of the pointer's access chain is out of bounds: {index}"),
            None => undefined.detail.clone(),
        };
        let mut new = vec![format!("  {}: {detail}", text::fault(undefined))];
        let mut lines = undefined.lines.clone();
        lines.dedup();
        // The account of a fault begins with its line.
        lines.retain(|_| fault.is_none());
        for line in lines {
            if let Some(source) = self.report.after.cited(line) {
                new.push(self.scene.painter.faint(&format!("  line {line}: {source}")));
            }
        }
        for raced in raced.iter().map(|raced| &raced.after) {
            if let Some((turns, line)) = account::turns(raced, code).zip(raced.entries.last()) {
                let (line, who) = (line.line, raced.invocation);
                new.push(format!("  invocation {who} is on line {line} {turns}"));
            }
        }
        if let Some(fault) = fault {
            new.extend(account::fault(fault, code, self.dispatch(), branch, self.scene.full));
        }
        let is_silent = fault.is_none() && parting.is_none() && undefined.kind != UndefinedKind::DataRace;
        if let Some(bound) = cut[1].filter(|_| is_silent) {
            new.push(format!("  how it comes to that is not known: after was followed for {bound}"));
        }
        if fault.is_none() {
            new.extend(branch.map(|branch| {
                format!("  invocation {} comes there because {}", branch.invocation, branch.sentence)
            }));
        }
        new.extend(account::parting(parting.as_ref(), standing, code, self.dispatch()));
        new
    }

    /// The value that a byte belongs to; a word, where no type says more.
    fn cell(&self, object: usize, offset: usize) -> Cell {
        let place = self.observed().nth(object).and_then(|object| self.scene.typed(object, offset));
        match place {
            Some(place) => Cell { object, start: place.start, size: place.size },
            None => Cell { object, start: offset / 4 * 4, size: 4 },
        }
    }

    fn cell_name(&self, cell: &Cell) -> String {
        let Some(object) = self.observed().nth(cell.object) else { return String::new() };
        self.scene.named(object, cell.start)
    }

    fn value(&self, cell: &Cell, bytes: &[Byte]) -> String {
        let object = self.observed().nth(cell.object);
        match object.and_then(|object| self.scene.typed(object, cell.start)) {
            Some(place) => place.scalar.told(bytes),
            None if bytes.is_empty() => "nothing".to_owned(),
            None => words(bytes).join(" "),
        }
    }

    /// The writes of an execution that leave these values.
    fn last_writes(&self, cells: &[Cell], events: &[WitnessEvent]) -> Vec<usize> {
        let of_cell = |cell: &Cell| {
            let object = self.observed().nth(cell.object)?;
            let number = self.dispatch().objects.iter().position(|other| other.key == object.key)?;
            events.iter().rposition(|event| {
                let covers = |(other, offset): (u32, u32)| {
                    let end = offset as usize + event.written.as_ref().map_or(0, Vec::len);
                    other as usize == number && (offset as usize..end).contains(&cell.start)
                };
                event.location.is_some_and(covers)
            })
        };
        let mut writes: Vec<usize> = cells.iter().take(outcome::PLACES).filter_map(of_cell).collect();
        writes.dedup();
        writes
    }

    fn written_by(&self, number: usize, events: &[WitnessEvent]) -> String {
        let event = &events[number];
        let source = self.report.after.cited(event.line).unwrap_or_default();
        format!("  written by invocation {} on line {} (#{number}): {source}", event.invocation, event.line)
    }
}
