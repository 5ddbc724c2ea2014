//! Pictures with their switches: one or two executions side by side, each folded and, where that fits, unfolded, with
//! tables of the same.

use std::collections::BTreeSet;

use maud::{html, Markup};

use super::page::Budget;
use super::svg::{svg, Drawing};
use crate::report::exhibits::Exhibit;
use crate::report::picture::{Folding, Picture, Relation};

/// How much of an execution is drawn: events of an invocation, and edges of a relation.
const DETAILS: [(usize, usize); 4] = [(16, 120), (10, 48), (6, 20), (4, 8)];

/// What stands in place of a picture without events.
const NO_EVENTS: &str =
    "There are no events in it: what no two invocations touch, and what barriers separate, is no event.";

/// The pictures of these executions, side by side, in `share` percent of what is left of the page. Those that are unfolded
/// come into what the others leave.
pub(super) fn graphs(
    exhibits: &[Exhibit<'_>],
    budget: &mut Budget,
    share: usize,
    is_over: &dyn Fn() -> bool,
) -> Markup {
    let mut own = budget.part(share);
    let mut relations = BTreeSet::new();
    let mut folded = Vec::new();
    for (number, exhibit) in exhibits.iter().enumerate() {
        let draft = Draft { exhibit, what: &exhibit.title, folding: Folding::Alike, is_over };
        let each = 100 / (exhibits.len() - number);
        folded.extend(draft.take(&mut own, each).map(|(markup, picture)| (exhibit, markup, picture)));
    }
    relations.extend(folded.iter().flat_map(|(_, _, picture)| picture.relations()));
    let mut figures = Vec::new();
    let mut to_unfold = folded.iter().filter(|(_, _, picture)| picture.is_folded).count();
    let mut can_unfold = false;
    for (exhibit, folded, picture) in folded {
        let unfolded = picture.is_folded.then(|| {
            let what = format!("{}, unfolded", exhibit.title);
            let draft = Draft { exhibit, what: &what, folding: Folding::Never, is_over };
            let each = 100 / to_unfold;
            to_unfold -= 1;
            draft.take(&mut own, each)
        });
        let unfolded = unfolded.flatten().map(|(markup, picture)| {
            relations.extend(picture.relations());
            can_unfold = true;
            markup
        });
        figures.push(html! {
            figure.has-unfolded[unfolded.is_some()] {
                figcaption { b { (exhibit.title) } @if !exhibit.caption.is_empty() { ". " (exhibit.caption) } }
                div.folded { (folded) }
                @if let Some(unfolded) = unfolded { div.unfolded { (unfolded) } }
            }
        });
    }
    budget.join(own, "");
    html! {
        div.graphs {
            @if !relations.is_empty() || can_unfold { (switches(&relations, can_unfold)) }
            div.pair { @for figure in figures { (figure) } }
        }
    }
}

/// A picture that is to be drawn.
struct Draft<'a> {
    exhibit: &'a Exhibit<'a>,
    what: &'a str,
    folding: Folding,
    is_over: &'a dyn Fn() -> bool,
}

impl Draft<'_> {
    /// The picture with as much detail as fits.
    fn take(&self, budget: &mut Budget, share: usize) -> Option<(Markup, Picture)> {
        let mut last = None;
        let forms = DETAILS.iter().map(|detail| {
            let picture = self.exhibit.picture(self.folding, *detail, self.is_over);
            let markup = figure(self.exhibit, &picture);
            last = Some(picture);
            markup
        });
        let markup = budget.first_of(self.what, share, forms)?;
        Some((markup, last?))
    }
}

/// A picture, what it leaves out, and tables of the same.
fn figure(exhibit: &Exhibit<'_>, picture: &Picture) -> Markup {
    let Exhibit { scene, agents, title, .. } = exhibit;
    let drawing = Drawing { picture, scene, agents: *agents, title };
    let who = |event: usize| exhibit.agents.one(picture.events[event].event.agent);
    html! {
        @if picture.events.is_empty() {
            p.note { (NO_EVENTS) }
        } @else {
            (svg(&drawing))
        }
        @if !picture.left_out.is_empty() {
            ul.faint { @for what in &picture.left_out { li { "Not drawn: " (what) } } }
        }
        @if !picture.events.is_empty() { details {
            summary { "The same as tables" }
            table {
                caption { "Events, in the order of the execution" }
                tr { th scope="col" { "#" } th scope="col" { "by" } th scope="col" { "line" } th scope="col" { "what" } }
                @for (at, event) in picture.events.iter().enumerate() {
                    tr { td.n { (event.number) } td { (who(at)) } td.n { (event.line()) } td { (event.told) } }
                }
            }
            table {
                caption { "Relations" }
                tr { th scope="col" { "relation" } th scope="col" { "from" } th scope="col" { "to" } }
                @for edge in &picture.edges {
                    tr {
                        td { (edge.relation.name()) @if !edge.label.is_empty() { ": " (edge.label) } }
                        td.n { "#" (picture.events[edge.from].number) }
                        td.n { "#" (picture.events[edge.to].number) }
                    }
                }
            }
        } }
    }
}

/// A switch for each relation, and one to unfold.
fn switches(relations: &BTreeSet<Relation>, can_unfold: bool) -> Markup {
    html! {
        fieldset {
            legend { "Show" }
            @for relation in relations {
                @let short = relation.short();
                label {
                    input type="checkbox" checked[relation.is_first()] class={ "t-" (short) };
                    svg width="44" height="12" aria-hidden="true" {
                        path class={ "e " (short) } d="M1 6H42" marker-end={ "url(#a-" (short) ")" } {}
                    }
                    (relation.name()) " (" (short) ")"
                }
            }
            @if can_unfold {
                label { input.t-unfold type="checkbox"; "every invocation in a column of its own" }
            }
        }
    }
}
