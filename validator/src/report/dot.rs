//! Executions as graphs in the language of graphviz, one digraph for each result: events are nodes, program order and the
//! relations of the model are edges.

use std::fmt::Write;

use super::exhibits::{self, Exhibit, PLAIN};
use super::litmus::{Fate, LitmusReport};
use super::picture::{Agents, Band, Column, Folding, Picture, Relation};
use super::text;
use super::witness::Scene;
use crate::check::{CheckReport, OutcomesReport};

/// Events of an invocation, and edges of a relation.
const DETAIL: (usize, usize) = (64, 1_000);

/// Outcomes of a run.
const MOST_OUTCOMES: usize = 1_000;

/// The violation's execution of after and what corresponds in before; where before is undefined, its execution. Without
/// either, a digraph without nodes that is labelled with the verdict.
pub fn check(report: &CheckReport) -> String {
    let never = || false;
    let label = text::check_line(report, PLAIN);
    let violating = exhibits::violating(report).into_iter().next();
    let told = violating.and_then(|violating| {
        exhibits::with_violation(report, violating, &never, |exhibits| digraph(&label, exhibits))
    });
    let undefined = || {
        let run = exhibits::vacuous(report)?;
        let (undefined, witness) = run.before.behaviours.undefined.first()?;
        let scene = Scene::of(&run.before.dispatch, &report.before, false, PLAIN);
        Some(digraph(&label, &[exhibits::undefined("before", undefined, witness, &scene, &never)]))
    };
    told.or_else(undefined).unwrap_or_else(|| digraph(&label, &[]))
}

/// The first execution of each outcome, and of each undefined behaviour.
pub fn outcomes(report: &OutcomesReport) -> String {
    let never = || false;
    let mut graphs = String::new();
    for run in &report.runs {
        let behaviours = &run.explored.behaviours;
        let scene = Scene::of(&run.explored.dispatch, &report.module, false, PLAIN);
        let name = |what: &str| format!("{} on input {}: {what}", run.entry, run.input.name);
        for (undefined, witness) in &behaviours.undefined {
            let exhibit = exhibits::undefined("undefined", undefined, witness, &scene, &never);
            graphs.push_str(&digraph(&name(&text::fault(undefined)), &[exhibit]));
        }
        let shown = exhibits::outcomes(behaviours, MOST_OUTCOMES);
        for example in &shown {
            let (outcome, witness) = &**example;
            let told = text::outcome_lines(outcome, &run.explored.dispatch, "", &|_| true).join("; ");
            let title = format!("the first execution with it, of {}", witness.executions);
            let exhibit = Exhibit::plain(title, witness, &scene, Agents::Invocations, &never);
            graphs.push_str(&digraph(&name(&told), &[exhibit]));
        }
        let more = behaviours.count() - &shown.len().into();
        if more > 0 {
            comment(&mut graphs, &format!("not drawn: {more} more outcomes"));
        }
    }
    for item in &report.unsupported {
        comment(&mut graphs, &format!("not supported: {} (line {})", item.what, item.line));
    }
    for untried in &report.untried {
        comment(&mut graphs, &untried.reason().to_string());
    }
    graphs
}

/// The first execution of each final state.
pub fn litmus(report: &LitmusReport) -> String {
    let mut graphs = String::new();
    for file in &report.files {
        let Fate::Answered(solved) = &file.fate else {
            comment(&mut graphs, &format!("{}: no answer", file.file));
            continue;
        };
        for example in &solved.answer.examples {
            let scene = Scene::of(&example.told.dispatch, &solved.source, false, PLAIN);
            let state = example.state.iter().map(|(name, value)| format!("{name}={value}"));
            let state = state.collect::<Vec<String>>().join("; ");
            let title = "the first execution with it".to_owned();
            let exhibit = Exhibit::plain(title, &example.told.witness, &scene, Agents::Threads, &|| false);
            graphs.push_str(&digraph(&format!("{}: {state}", file.file), &[exhibit.racy(&[])]));
        }
        let more = solved.answer.example_count.saturating_sub(solved.answer.examples.len());
        if more > 0 {
            comment(&mut graphs, &format!("{}: not drawn: {more} more final states", file.file));
        }
    }
    graphs
}

/// A line that graphviz does not read.
fn comment(graph: &mut String, text: &str) {
    text.lines().for_each(|line| push(graph, 0, &format!("// {line}")));
}

fn push(graph: &mut String, depth: usize, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(graph, "{:width$}{text}", "", width = 2 * depth);
}

fn digraph(label: &str, exhibits: &[Exhibit<'_>]) -> String {
    let mut graph = String::new();
    push(&mut graph, 0, &format!("digraph {} {{", quoted(label)));
    push(&mut graph, 1, &format!("graph [label={}, labelloc=t, fontname=\"sans-serif\"];", quoted(label)));
    push(&mut graph, 1, "node [shape=box, fontname=\"monospace\", fontsize=10];");
    push(&mut graph, 1, "edge [fontname=\"sans-serif\", fontsize=9];");
    for (number, exhibit) in exhibits.iter().enumerate() {
        let picture = exhibit.picture(Folding::Alike, DETAIL, &|| false);
        cluster(&mut graph, number, exhibit, &picture);
    }
    push(&mut graph, 0, "}");
    graph
}

/// An execution: its invocations in their groups, then its edges.
fn cluster(graph: &mut String, number: usize, exhibit: &Exhibit<'_>, picture: &Picture) {
    open(graph, 1, &format!("{number}"), &exhibit.title);
    for what in &picture.left_out {
        push(graph, 2, &format!("// not drawn: {}", what.replace('\n', " ")));
    }
    let numbered: Vec<(usize, &Column)> = picture.columns.iter().enumerate().collect();
    for workgroup in numbered.chunk_by(|(_, a), (_, b)| a.workgroup == b.workgroup) {
        let (first, column) = workgroup[0];
        let has_group = named(&column.workgroup, "other workgroups");
        has_group.iter().for_each(|name| open(graph, 2, &format!("{number}_{first}_w"), name));
        for subgroup in workgroup.chunk_by(|(_, a), (_, b)| a.subgroup == b.subgroup) {
            let (first, column) = subgroup[0];
            let has_group = named(&column.subgroup, "other subgroups");
            has_group.iter().for_each(|name| open(graph, 3, &format!("{number}_{first}_s"), name));
            for (at, column) in subgroup {
                open(graph, 4, &format!("{number}_{at}_i"), &column.name);
                invocation(graph, number, picture, *at);
                push(graph, 4, "}");
            }
            has_group.iter().for_each(|_| push(graph, 3, "}"));
        }
        has_group.iter().for_each(|_| push(graph, 2, "}"));
    }
    push(graph, 1, "}");
    for edge in &picture.edges {
        let label = match edge.label.is_empty() {
            true => edge.relation.name().to_owned(),
            false => format!("{}: {}", edge.relation.name(), edge.label),
        };
        let times = if edge.alike > 1 { format!(" ×{}", edge.alike) } else { String::new() };
        let (from, to) = (picture.events[edge.from].number, picture.events[edge.to].number);
        let both = if edge.is_mutual { ", dir=both" } else { "" };
        let style = format!("{}{both}", style(edge.relation));
        let label = quoted(&format!("{label}{times}"));
        push(graph, 1, &format!("e{number}_{from} -> e{number}_{to} [label={label}, {style}];"));
    }
}

fn named(band: &Band, others: &str) -> Option<String> {
    match band {
        Band::One(_, name) => Some(name.clone()),
        Band::Others => Some(others.to_owned()),
        Band::None => None,
    }
}

fn open(graph: &mut String, depth: usize, id: &str, label: &str) {
    push(graph, depth, &format!("subgraph \"cluster_{id}\" {{"));
    push(graph, depth + 1, &format!("label={};", quoted(label)));
}

/// The events of a column in program order.
fn invocation(graph: &mut String, number: usize, picture: &Picture, column: usize) {
    let mut last: Option<usize> = None;
    for event in picture.events.iter().filter(|event| event.column == column) {
        let wanted = if event.is_wanted { ", penwidth=2" } else { "" };
        let label = format!("#{} line {}\n{}\n{}", event.number, event.line(), event.kind, event.access);
        let tooltip = quoted(&event.told);
        let id = event.number;
        let label = quoted(label.trim_end());
        push(graph, 5, &format!("e{number}_{id} [label={label}, tooltip={tooltip}{wanted}];"));
        if let Some(last) = last.replace(id) {
            let order = "color=gray60, weight=10, tooltip=\"program order\"";
            push(graph, 5, &format!("e{number}_{last} -> e{number}_{id} [{order}];"));
        }
    }
    for gap in picture.gaps.iter().filter(|gap| gap.column == column) {
        push(graph, 5, &format!("// not drawn: {}", gap.text));
    }
}

/// How edges of a relation look. They do not decide where events stand, but for those that order the execution.
const fn style(relation: Relation) -> &'static str {
    match relation {
        Relation::ReadsFrom => "color=\"#0a6b46\", fontcolor=\"#0a6b46\"",
        Relation::SynchronizesWith => "color=\"#1d5fc4\", fontcolor=\"#1d5fc4\", style=dashed",
        Relation::FromReads => "color=\"#7a3fc0\", fontcolor=\"#7a3fc0\", style=dotted, constraint=false",
        Relation::Availability => "color=\"#9a5b00\", fontcolor=\"#9a5b00\", style=dashed, constraint=false",
        Relation::LocationOrdered => "color=\"#4d5560\", fontcolor=\"#4d5560\", constraint=false",
        Relation::Lost | Relation::Cycle => {
            "color=\"#c3112d\", fontcolor=\"#c3112d\", penwidth=2, constraint=false"
        }
        Relation::Race | Relation::Missing => {
            "color=\"#c3112d\", fontcolor=\"#c3112d\", penwidth=2, style=dashed, constraint=false"
        }
    }
}

/// A string of the language: quotes and backslashes are escaped, and lines end with `\n`.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            other if other.is_control() => quoted.push(' '),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a \"b\" \\ c\nd\te"), r#""a \"b\" \\ c\nd e""#);
    }
}
