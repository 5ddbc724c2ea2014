//! A picture as SVG: bands, columns, events and edges; above them invisible shapes that the pointer and the keyboard
//! reach, each with what there is to say.

use maud::{html, Markup};

use super::layout::{Curve, Layout, BAND, BOX, TIP};
use super::rules::{of_event, of_relation, Rule};
use crate::report::picture::{Agents, Drawn, Edge, Picture, Relation};
use crate::report::witness::Scene;

/// What a picture is drawn with.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'a> {
    pub(super) picture: &'a Picture,
    pub(super) scene: &'a Scene<'a>,
    pub(super) agents: Agents,
    /// What the picture is of.
    pub(super) title: &'a str,
}

/// The picture.
pub(super) fn svg(drawing: &Drawing<'_>) -> Markup {
    let picture = drawing.picture;
    let layout = Layout::of(picture);
    let (width, height) = layout.size();
    let curves: Vec<Curve> = picture.edges.iter().map(|edge| layout.curve(edge)).collect();
    let lengths: Vec<usize> = picture.edges.iter().map(|edge| label(edge).chars().count()).collect();
    let labels = layout.labels(&curves, &lengths);
    html! {
        div.scroll.wide[layout.is_wide()] { svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="graphics-document"
            aria-label=(drawing.title) {
            @for span in layout.spans() {
                rect.band x=(span.x) y=(span.y) width=(span.width) height=(BAND) {}
                text.sub x=(span.x + 8) y=(span.y + 15) { (span.text) }
            }
            @for (at, column) in picture.columns.iter().enumerate() {
                text.head x=(layout.x(at)) y=(layout.name_y()) { (cut(&column.name, 29)) }
                text.sub x=(layout.x(at)) y=(layout.name_y() + 15) { (column.local) }
                @if let Some((x, first, last)) = layout.program_order(at) {
                    path.po d={ "M" (x) " " (first) "V" (last) } {}
                }
            }
            @for (edge, curve) in picture.edges.iter().zip(&curves) {
                path class={ "e " (edge.relation.short()) } d=(curve.path())
                    marker-end={ "url(#a-" (edge.relation.short()) ")" }
                    marker-start=[edge.is_mutual.then(|| format!("url(#a-{})", edge.relation.short()))] {}
            }
            @for event in &picture.events { (shape(event, &layout)) }
            @for gap in &picture.gaps {
                text.gap x=(layout.x(gap.column)) y=(layout.y(gap.row) + BOX.1 / 2 + 4) { "… " (gap.text) }
            }
            @for (edge, (x, y)) in picture.edges.iter().zip(&labels) {
                text class={ "e " (edge.relation.short()) } x=(x) y=(y + 4) { (label(edge)) }
            }
            @for ((edge, curve), place) in picture.edges.iter().zip(&curves).zip(&labels) {
                (edge_tip(drawing, edge, curve, *place, &layout))
            }
            @for event in &picture.events { (event_tip(drawing, event, &layout)) }
        } }
    }
}

fn label(edge: &Edge) -> String {
    let name = match edge.label.as_str() {
        "" => edge.relation.short(),
        "reads-from" => Relation::ReadsFrom.short(),
        "from-reads" => Relation::FromReads.short(),
        "location-ordered" => Relation::LocationOrdered.short(),
        "scoped modification order" => "mo",
        other => other,
    };
    match edge.alike {
        0 | 1 => name.to_owned(),
        alike => format!("{name} ×{alike}"),
    }
}

fn shape(event: &Drawn, layout: &Layout<'_>) -> Markup {
    let (x, y) = (layout.x(event.column), layout.y(event.row));
    let access = !event.access.is_empty();
    let first = if access { y + 16 } else { y + 26 };
    html! {
        rect class=(if event.is_wanted { "box wanted" } else { "box" }) x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="4" {}
        text.k x=(x + 8) y=(first) { (cut(event.kind, 17)) }
        text.no x=(x + BOX.0 - 8) y=(first) text-anchor="end" { "#" (event.number) " l." (event.line()) }
        @if access { text x=(x + 8) y=(y + 33) { (event.access) } }
    }
}

/// The first characters of a text.
fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn event_tip(drawing: &Drawing<'_>, event: &Drawn, layout: &Layout<'_>) -> Markup {
    let (x, y) = (layout.x(event.column), layout.y(event.row));
    let who = drawing.agents.one(event.event.agent);
    let source = drawing.scene.module.line(event.line()).unwrap_or_default();
    let body = html! {
        p { b { "#" (event.number) } " " (who) ", line " (event.line()) }
        @if !source.is_empty() { p { code { (cut(source, 160)) } } }
        @if let Some(place) = drawing.scene.module.places.told(event.line()) { p { (place) } }
        p { (event.told) }
        @for rule in of_event(&event.event) { (told(rule)) }
    };
    let name = format!("#{}, {who}, line {}: {}", event.number, event.line(), event.told);
    html! {
        rect.h tabindex="0" role="graphics-symbol" aria-label=(name) x=(x) y=(y) width=(BOX.0) height=(BOX.1) {}
        (tip(layout.tip(x, y + BOX.1 / 2), "", &body))
    }
}

fn edge_tip(
    drawing: &Drawing<'_>,
    edge: &Edge,
    curve: &Curve,
    (x, y): (i32, i32),
    layout: &Layout<'_>,
) -> Markup {
    let end = |at: usize| {
        let event = &drawing.picture.events[at];
        let who = drawing.agents.one(event.event.agent);
        format!("#{}, the {} on line {} ({who})", event.number, event.kind, event.line())
    };
    let (from, to) = (end(edge.from), end(edge.to));
    let body = html! {
        p { b { (edge.relation.name()) } @if !edge.label.is_empty() { ": " (edge.label) } }
        p { (from) @if edge.is_mutual { " ↔ " } @else { " → " } (to) }
        @for at in [edge.from, edge.to] {
            @let line = drawing.picture.events[at].line();
            @if let Some(text) = drawing.scene.module.line(line) { p { code { (line) ": " (cut(text, 90)) } } }
        }
        @if !edge.way.is_empty() { p { "It holds " (edge.way) "." } }
        @if edge.alike > 1 { p { "It stands for " (edge.alike) " pairs of invocations that execute the same." } }
        (told(of_relation(edge.relation)))
    };
    let class = edge.relation.short();
    let name = format!("{}: from {from} to {to}", edge.relation.name());
    html! {
        path class={ "h " (class) } tabindex="0" role="graphics-symbol" aria-label=(name) d=(curve.path()) {}
        (tip(layout.tip(x - TIP.0 / 2, y), class, &body))
    }
}

fn told(Rule { name, text }: Rule) -> Markup {
    html! { p { i { (name) } ": " (text) } }
}

/// What is shown of something that is pointed at.
fn tip((x, y, is_above): (i32, i32, bool), class: &str, body: &Markup) -> Markup {
    let above = if is_above { " up" } else { "" };
    html! {
        foreignObject class={ "tip " (class) (above) } x=(x) y=(y) width=(TIP.0) height=(TIP.1) {
            div xmlns="http://www.w3.org/1999/xhtml" { section { (body) } }
        }
    }
}
