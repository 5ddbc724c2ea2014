//! The executions that a result shows as pictures, with what is marked in them: for pages and graphviz.

use std::borrow::Cow;

use super::picture::{Agents, Execution, Folding, Mark, Picture, Relation, Subject};
use super::style::Painter;
use super::witness::Scene;
use super::{text, violation};
use crate::behaviour::{Behaviours, Outcome, Undefined};
use crate::check::{CheckReport, Explored, Run};
use crate::compare::{self, Verdict, Violation};
use crate::event::UndefinedKind;
use crate::explain::{Counterpart, Origin};
use crate::model;
use crate::witness::Witness;

/// Text without escape sequences.
pub(super) const PLAIN: Painter = Painter { coloured: false };

/// An execution that is shown.
pub(super) struct Exhibit<'a> {
    /// What it is.
    pub(super) title: String,
    /// What there is to say of it; may be empty.
    pub(super) caption: String,
    pub(super) execution: Execution<'a>,
    pub(super) scene: &'a Scene<'a>,
    pub(super) agents: Agents,
    /// The events that it is about, by their places in the graph.
    pub(super) wanted: Vec<usize>,
    pub(super) marks: Vec<Mark>,
}

impl<'a> Exhibit<'a> {
    /// An execution of which nothing more is known.
    pub(super) fn plain(
        title: String,
        witness: &'a Witness,
        scene: &'a Scene<'a>,
        agents: Agents,
        is_over: &dyn Fn() -> bool,
    ) -> Exhibit<'a> {
        let execution = Execution::of(witness, is_over);
        let (caption, wanted, marks) = Default::default();
        Exhibit { title, caption, execution, scene, agents, wanted, marks }
    }

    /// With its data race marked: that on these lines, or else the first one, where it has any.
    pub(super) fn racy(mut self, lines: &[u32]) -> Exhibit<'a> {
        if let Some([from, to]) = self.execution.race_on(lines) {
            self.wanted = vec![from, to];
            self.marks.push(Mark { from, to, relation: Relation::Race, label: String::new() });
        }
        self
    }

    /// With the cycle marked that keeps it from being an execution.
    pub(super) fn forbidden(mut self) -> Exhibit<'a> {
        if let Some(violation) = self.execution.violation() {
            self.caption = forbidden_cycle(&violation);
            self.marks.extend(cycle(&violation));
        }
        self
    }

    /// Its picture, with so many events of an invocation and edges of a relation.
    pub(super) fn picture(
        &self,
        folding: Folding,
        detail: (usize, usize),
        is_over: &dyn Fn() -> bool,
    ) -> Picture {
        let Exhibit { execution, scene, agents, wanted, marks, .. } = self;
        let subject = Subject { execution, scene, agents: *agents, wanted, marks, is_over };
        Picture::of(&subject, folding, detail)
    }
}

/// The runs with a violation, the one that decides first.
pub(super) fn violating(report: &CheckReport) -> Vec<(&Run, &Violation, &Explored)> {
    let runs = report.counted();
    let runs = runs.filter_map(|run| Some((run, run.comparison.violation.as_ref()?, run.after.as_ref()?)));
    let decisive = report.decisive().map(std::ptr::from_ref);
    let mut runs: Vec<(&Run, &Violation, &Explored)> = runs.collect();
    runs.sort_by_key(|(run, _, _)| Some(std::ptr::from_ref::<Run>(run)) != decisive);
    runs
}

/// The run in which before is undefined, where that decides.
pub(super) fn vacuous(report: &CheckReport) -> Option<&Run> {
    match report.verdict {
        Verdict::Vacuous => report.decisive(),
        Verdict::Refines | Verdict::Inconclusive => report.passed_over_as_vacuous(),
        Verdict::Violates | Verdict::Error => None,
    }
}

/// Shows an execution that is undefined.
pub(super) fn undefined<'a>(
    who: &str,
    undefined: &Undefined,
    witness: &'a Witness,
    scene: &'a Scene<'a>,
    is_over: &dyn Fn() -> bool,
) -> Exhibit<'a> {
    let title = format!("{who}: {}", text::fault(undefined));
    let mut exhibit = Exhibit::plain(title, witness, scene, Agents::Invocations, is_over);
    exhibit.caption = format!("{}.", undefined.detail);
    match undefined.kind == UndefinedKind::DataRace {
        true => exhibit.racy(&undefined.lines),
        false => exhibit,
    }
}

/// The first outcomes, each with an execution.
pub(super) fn outcomes(behaviours: &Behaviours, most: usize) -> Vec<Cow<'_, (Outcome, Witness)>> {
    let Some(product) = &behaviours.product else {
        return behaviours.outcomes.iter().take(most).map(Cow::Borrowed).collect();
    };
    // Where all parts come to their first outcome, all of them come to the same.
    let of_part = |part: usize| (usize::from(part > 0)..).map_while(move |index| product.whole(part, index));
    (0..product.parts.len()).flat_map(of_part).take(most).map(Cow::Owned).collect()
}

/// Shows the execution of after with the violation, and beside it what corresponds in before, where that is known.
pub(super) fn with_violation<R>(
    report: &CheckReport,
    (run, violation, after): (&Run, &Violation, &Explored),
    is_over: &dyn Fn() -> bool,
    show: impl FnOnce(&[Exhibit<'_>]) -> R,
) -> Option<R> {
    let guilty = violation.subject.outcome(&after.behaviours);
    let witness = match violation.subject {
        compare::Subject::Outcome(_) | compare::Subject::Part(..) => {
            guilty.as_deref().map(|(_, witness)| witness)
        }
        compare::Subject::Undefined(index) => {
            after.behaviours.undefined.get(index).map(|(_, witness)| witness)
        }
    }?;
    let execution = Execution::of(witness, is_over);
    let wanted = violation::wanted(report, run, violation, after, &execution.events);
    let scene = Scene::of(&after.dispatch, &report.after, false, PLAIN);
    let counterpart = run.why.counterpart.as_deref();
    let mut exhibits = vec![Exhibit {
        title: "After: the execution with the violation".to_owned(),
        caption: caption_of_after(run, counterpart),
        execution,
        scene: &scene,
        agents: Agents::Invocations,
        wanted,
        marks: marks_of_after(run, counterpart),
    }];
    let scene = Scene::of(&run.before.dispatch, &report.before, false, PLAIN);
    let of_before =
        counterpart.map(|counterpart| Witness::of_graph(counterpart.graph.clone(), witness.model.clone()));
    if let (Some(counterpart), Some(witness)) = (counterpart, &of_before) {
        let mut execution = Execution::of(witness, is_over);
        let keys = counterpart.of_after.iter().map(|event| event.map(|event| event as usize));
        execution.order_by(&keys.collect::<Vec<_>>());
        let of_wanted = exhibits[0].wanted.iter().filter_map(|wanted| {
            counterpart.of_after.iter().position(|event| *event == u32::try_from(*wanted).ok())
        });
        let wanted =
            of_wanted.chain(counterpart.lost.first().copied()).chain(counterpart.lost.last().copied());
        exhibits.push(Exhibit {
            title: match counterpart.origin {
                Origin::Replayed => "Before, with the values that after reads".to_owned(),
                Origin::Searched => "Before, as it would have to run for this".to_owned(),
            },
            caption: caption_of_before(counterpart),
            execution,
            scene: &scene,
            agents: Agents::Invocations,
            wanted: wanted.collect(),
            marks: marks_of_before(counterpart),
        });
    }
    Some(show(&exhibits))
}

fn caption_of_after(run: &Run, counterpart: Option<&Counterpart>) -> String {
    match (counterpart.is_some_and(|it| !it.lost.is_empty()), run.why.race) {
        (true, _) => "The dashed red edge is the ordering that before has and after lost.".to_owned(),
        (false, Some(_)) => "The dotted red edge joins the accesses that nothing orders.".to_owned(),
        (false, None) => String::new(),
    }
}

fn caption_of_before(counterpart: &Counterpart) -> String {
    let mut text = match (&counterpart.violation, counterpart.origin) {
        (Some(violation), _) => forbidden_cycle(violation),
        (None, Origin::Replayed) => "What corresponds to after's execution in before.".to_owned(),
        (None, Origin::Searched) => String::new(),
    };
    if !counterpart.lost.is_empty() {
        text.push_str(" The thick red edge is the ordering that after lost.");
    }
    text.trim().to_owned()
}

fn marks_of_after(run: &Run, counterpart: Option<&Counterpart>) -> Vec<Mark> {
    let lost = counterpart.and_then(|counterpart| {
        let of_after = |event: Option<&usize>| Some(*counterpart.of_after.get(*event?)?.as_ref()? as usize);
        Some((of_after(counterpart.lost.first())?, of_after(counterpart.lost.last())?))
    });
    let mark = |(from, to), relation, label: &str| Mark { from, to, relation, label: label.to_owned() };
    match (lost, run.why.race) {
        (Some(lost), _) => vec![mark(lost, Relation::Missing, "not ordered")],
        (None, Some([from, to])) => vec![mark((from, to), Relation::Race, "race")],
        (None, None) => Vec::new(),
    }
}

fn marks_of_before(counterpart: &Counterpart) -> Vec<Mark> {
    let ends = counterpart.lost.first().zip(counterpart.lost.last());
    let lost = ends.map(|(from, to)| Mark {
        from: *from,
        to: *to,
        relation: Relation::Lost,
        label: "ordered".to_owned(),
    });
    let mut cycle: Vec<Mark> = counterpart.violation.iter().flat_map(cycle).collect();
    // An ordering that is lost is not drawn twice.
    cycle.retain(|edge| {
        ends != Some((&edge.from, &edge.to)) || edge.label != Relation::LocationOrdered.name()
    });
    lost.into_iter().chain(cycle).collect()
}

fn forbidden_cycle(violation: &model::explain::Violation) -> String {
    format!("It is no execution: {} forbids the red cycle.", violation.axiom)
}

fn cycle(violation: &model::explain::Violation) -> impl Iterator<Item = Mark> + '_ {
    violation.cycle.iter().map(|edge| Mark {
        from: edge.from,
        to: edge.to,
        relation: Relation::Cycle,
        label: edge.relation.to_owned(),
    })
}
