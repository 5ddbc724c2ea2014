//! The page of a check.

use maud::{html, Markup};

use super::graphs::{graphs, Exhibit};
use super::modules::{side_by_side, Pair};
use super::page::{page, Budget, Section};
use super::{Extent, Replay};
use crate::behaviour::Undefined;
use crate::check::{CheckReport, Choices, Explored, Run};
use crate::compare::{Subject, Verdict, Violation};
use crate::explain::{Counterpart, Origin};
use crate::report::picture::{Agents, Execution, Mark, Relation};
use crate::report::style::Painter;
use crate::report::witness::Scene;
use crate::report::{choices, text, violation};
use crate::witness::Witness;

const PLAIN: Painter = Painter { coloured: false };

/// Runs with a violation that a page shows.
const MOST_RUNS: usize = 3;

/// The page.
pub fn check(report: &CheckReport, extent: &Extent) -> String {
    let mut budget = Budget::new();
    let sections = sections(report, extent, &mut budget, "");
    let line = text::check_line(report, PLAIN);
    let title = format!("{}: {} → {}", report.verdict.name(), report.before.name, report.after.name);
    page(&title, &headline(report.verdict, &line), &sections, &budget.left_out)
}

/// A verdict's line, with the word of the verdict marked.
fn headline(verdict: Verdict, line: &str) -> Markup {
    let rest = line.strip_prefix(verdict.name()).unwrap_or(line);
    html! { span.bad[verdict == Verdict::Violates] { (verdict.name()) } (rest) }
}

/// What there is to say of a check; ids begin with `prefix`.
pub(super) fn sections(
    report: &CheckReport,
    extent: &Extent,
    budget: &mut Budget,
    prefix: &str,
) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut push = |id: &str, heading: &str, body: Markup| {
        let (id, heading) = (format!("{prefix}{id}"), heading.to_owned());
        sections.push(Section { id, heading, body });
    };
    let told = match extent.full {
        true => text::check_in_full(report, PLAIN),
        false => text::check(report, PLAIN),
    };
    let told = budget.first_of("the text report", 40, std::iter::once(html! { pre { (told) } }));
    for (number, markup) in executions(report, extent, budget).into_iter().enumerate() {
        let id = format!("execution{number}");
        let (heading, body) = markup;
        push(&id, &heading, body);
    }
    if let Some(told) = told {
        push("report", "Report", told);
    }
    let (before, after) = match &report.diff {
        Some((before, after)) => (before.as_str(), after.as_str()),
        None => (&*report.before.text, &*report.after.text),
    };
    let pair = Pair { before: (&report.before.name, before), after: (&report.after.name, after) };
    if let Some(modules) = side_by_side(&pair, budget, 90) {
        push("modules", "Modules", modules);
    }
    let choices = budget.first_of("choices", 60, std::iter::once(choices_list(&report.choices)));
    if let Some(choices) = choices {
        push("choices", "Choices and launch", choices);
    }
    if let Some(replay) = budget.first_of("how to replay it", 60, std::iter::once(replay(&extent.replay))) {
        push("replay", "Replay", replay);
    }
    sections
}

pub(super) fn choices_list(choices: &Choices) -> Markup {
    html! { ul { @for line in choices::lines(choices) { li { (line) } } } }
}

/// How the result is found again.
pub(super) fn replay(replay: &Replay) -> Markup {
    html! {
        @if !replay.given.is_empty() {
            p { "The command of this page:" }
            pre { code { (replay.given) } }
        }
        @if let Some(alone) = &replay.violation {
            p { "The first violation alone, with every choice:" }
            pre { code { (alone.command) } }
            p { code { "launch.toml" } ":" }
            pre { code { (alone.launch) } }
            @if !alone.files.is_empty() {
                p { "Files of the launch that are not on this page: " (alone.files.join(", ")) "." }
            }
        }
    }
}

/// Headings and pictures of the executions that decided.
fn executions(report: &CheckReport, extent: &Extent, budget: &mut Budget) -> Vec<(String, Markup)> {
    let mut shown = Vec::new();
    let violating = || {
        let runs = report.counted();
        runs.filter_map(|run| Some((run, run.comparison.violation.as_ref()?, run.after.as_ref()?)))
    };
    let first = report.decisive().map(|run| std::ptr::from_ref(run));
    let mut runs: Vec<(&Run, &Violation, &Explored)> = violating().collect();
    runs.sort_by_key(|(run, _, _)| Some(std::ptr::from_ref::<Run>(run)) != first);
    for (run, violation, after) in runs.iter().take(MOST_RUNS) {
        let heading = format!("{} on input {}", violation.kind, run.input.name);
        if let Some(markup) = violating_run(report, run, violation, after, extent, budget) {
            shown.push((heading, markup));
        }
    }
    if runs.len() > MOST_RUNS {
        budget.left_out.push(format!("the executions of {} more runs that violate", runs.len() - MOST_RUNS));
    }
    let vacuous = match report.verdict {
        Verdict::Vacuous => report.decisive(),
        Verdict::Refines | Verdict::Inconclusive => report.passed_over_as_vacuous(),
        Verdict::Violates | Verdict::Error => None,
    };
    if let Some((run, (undefined, witness))) =
        vacuous.and_then(|run| Some((run, run.before.behaviours.undefined.first()?)))
    {
        let scene = Scene::of(&run.before.dispatch, &report.before, false, PLAIN);
        let exhibit = undefined_exhibit(undefined, witness, &scene, "Before", extent);
        let is_over = || extent.is_over();
        shown.push(("Why before is undefined".to_owned(), graphs(&[exhibit], budget, 60, &is_over)));
    }
    shown
}

/// An execution that is undefined.
pub(super) fn undefined_exhibit<'a>(
    undefined: &Undefined,
    witness: &'a Witness,
    scene: &'a Scene<'a>,
    who: &str,
    extent: &Extent,
) -> Exhibit<'a> {
    let is_over = || extent.is_over();
    let execution = Execution::of(witness, &is_over);
    let race = (!is_over()).then(|| execution.race_on(&undefined.lines)).flatten();
    let marks: Vec<Mark> = race
        .map(|[from, to]| Mark { from, to, relation: Relation::Race, label: String::new() })
        .into_iter()
        .collect();
    let title = format!("{who}: {}", text::fault(undefined));
    let caption = format!("{}.", undefined.detail);
    let wanted = race.map_or(Vec::new(), |race| race.to_vec());
    Exhibit { title, caption, execution, scene, agents: Agents::Invocations, wanted, marks }
}

fn violating_run(
    report: &CheckReport,
    run: &Run,
    violation: &Violation,
    after: &Explored,
    extent: &Extent,
    budget: &mut Budget,
) -> Option<Markup> {
    let guilty = violation.subject.outcome(&after.behaviours);
    let witness = match violation.subject {
        Subject::Outcome(_) | Subject::Part(..) => guilty.as_deref().map(|(_, witness)| witness),
        Subject::Undefined(index) => after.behaviours.undefined.get(index).map(|(_, witness)| witness),
    }?;
    let is_over = || extent.is_over();
    let execution = Execution::of(witness, &is_over);
    let wanted = violation::wanted(report, run, violation, after, &execution.events);
    let scene = Scene::of(&after.dispatch, &report.after, false, PLAIN);
    let counterpart = run.counterpart.as_deref();
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
        let execution = Execution::of(witness, &is_over);
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
    let why = run
        .why
        .as_ref()
        .map(|why| html! { details open { summary { "Why before does not" } pre { (why) } } });
    Some(html! {
        (graphs(&exhibits, budget, 70, &is_over))
        @if let Some(why) = why { (why) }
    })
}

fn caption_of_after(run: &Run, counterpart: Option<&Counterpart>) -> String {
    match (counterpart.is_some_and(|it| !it.lost.is_empty()), run.race) {
        (true, _) => "The dashed red edge is the ordering that before has and after lost.".to_owned(),
        (false, Some(_)) => "The dotted red edge joins the accesses that nothing orders.".to_owned(),
        (false, None) => String::new(),
    }
}

fn caption_of_before(counterpart: &Counterpart) -> String {
    let mut text = match (&counterpart.violation, counterpart.origin) {
        (Some(violation), _) => {
            format!("It is no execution: {} forbids the red cycle.", violation.axiom)
        }
        (None, Origin::Replayed) => "What corresponds to after's execution in before.".to_owned(),
        (None, Origin::Searched) => String::new(),
    };
    if !counterpart.lost.is_empty() {
        text.push_str(" The dashed red edge is the ordering that after lost.");
    }
    text.trim().to_owned()
}

fn marks_of_after(run: &Run, counterpart: Option<&Counterpart>) -> Vec<Mark> {
    let lost = counterpart.and_then(|counterpart| {
        let of_after = |event: Option<&usize>| Some(*counterpart.of_after.get(*event?)?.as_ref()? as usize);
        Some((of_after(counterpart.lost.first())?, of_after(counterpart.lost.last())?))
    });
    let mark = |(from, to), relation, label: &str| Mark { from, to, relation, label: label.to_owned() };
    match (lost, run.race) {
        (Some(lost), _) => vec![mark(lost, Relation::Lost, "not ordered")],
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
    let cycle = counterpart.violation.iter().flat_map(|violation| &violation.cycle);
    let cycle = cycle.map(|edge| Mark {
        from: edge.from,
        to: edge.to,
        relation: Relation::Cycle,
        label: edge.relation.to_owned(),
    });
    lost.into_iter().chain(cycle).collect()
}
