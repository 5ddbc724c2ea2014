//! The frame of a page: head, style, title and what the page leaves out.

use maud::{html, Markup, PreEscaped, DOCTYPE};

use super::rules::guide;
use crate::report::picture::Relation;

const STYLE: &str = include_str!("style.css");

/// Bytes of a page, at most.
pub(super) const MOST_BYTES: usize = 290_000;

/// Bytes that the parts of every page take that have no budget of their own.
const FRAME: usize = 16_000;

/// Lines of texts that do not fit as a whole.
const TEXTS: [usize; 4] = [1_000, 300, 100, 30];

/// How much of a page is left for what is yet to be written, and what was left out for it.
pub(super) struct Budget {
    left: usize,
    pub(super) left_out: Vec<String>,
}

impl Budget {
    /// That of a page.
    pub(super) fn new() -> Budget {
        Budget { left: MOST_BYTES - FRAME, left_out: Vec::new() }
    }

    /// One of its own for a part, with so much of what is left, in percent.
    pub(super) fn part(&mut self, share: usize) -> Budget {
        let left = self.left / 100 * share;
        self.left -= left;
        Budget { left, left_out: Vec::new() }
    }

    /// Takes back what a part did not need; what it left out is that of `whose`, unless that is empty.
    pub(super) fn join(&mut self, part: Budget, whose: &str) {
        self.left += part.left;
        self.left_out.extend(part.left_out.into_iter().map(|what| match whose.is_empty() {
            true => what,
            false => format!("{whose}: {what}"),
        }));
    }

    /// A text, as far as it fits.
    pub(super) fn text(&mut self, what: &str, share: usize, text: &str) -> Markup {
        let count = text.lines().count();
        let first = |most: usize| {
            let lines: Vec<&str> = text.lines().take(most).collect();
            let more = count.saturating_sub(most);
            html! {
                pre { (lines.join("\n")) }
                @if more > 0 { p.faint { (more) " more lines are not on this page." } }
            }
        };
        let forms = std::iter::once(count).chain(TEXTS.into_iter().filter(|most| *most < count));
        self.first_of(what, share, forms.map(first)).unwrap_or_default()
    }

    /// Takes a part in, if it fits in `share` of what is left, in percent.
    fn take(&mut self, part: Markup, share: usize) -> Option<Markup> {
        let fits = part.0.len() <= self.left / 100 * share;
        fits.then(|| {
            self.left -= part.0.len();
            part
        })
    }

    /// Takes in the first of these forms of a part that fits. Where none does, says what is missing.
    pub(super) fn first_of(
        &mut self,
        what: &str,
        share: usize,
        forms: impl Iterator<Item = Markup>,
    ) -> Option<Markup> {
        let mut bytes = 0;
        for form in forms {
            bytes = form.0.len();
            if let Some(part) = self.take(form, share) {
                return Some(part);
            }
        }
        let room = self.left / 100 * share / 1000;
        self.left_out.push(format!("{what}: {} kB, and there is room for {room} kB", bytes.div_ceil(1000)));
        None
    }
}

/// A section that the page's list of contents has.
pub(super) struct Section {
    pub(super) id: String,
    pub(super) heading: String,
    pub(super) body: Markup,
}

/// A whole page.
pub(super) fn page(title: &str, headline: &Markup, sections: &[Section], left_out: &[String]) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="generator" content={ "spirv-tv " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (arrows())
                header { h1 { (headline) } }
                nav aria-label="Contents" {
                    ul {
                        @for Section { id, heading, .. } in sections {
                            li { a href={ "#" (id) } { (heading) } }
                        }
                        li { a href="#guide" { "How to read the pictures" } }
                        @if !left_out.is_empty() { li { a href="#left-out" { "Left out of this page" } } }
                    }
                }
                main {
                    @for Section { id, heading, body } in sections {
                        section aria-labelledby=(id) { h2 id=(id) { (heading) } (body) }
                    }
                    section aria-labelledby="guide" { h2 id="guide" { "How to read the pictures" } (guide()) }
                    @if !left_out.is_empty() {
                        section aria-labelledby="left-out" {
                            h2 id="left-out" { "Left out of this page" }
                            ul { @for what in left_out { li { (what) } } }
                        }
                    }
                }
                footer { p.faint { "spirv-tv " (env!("CARGO_PKG_VERSION")) } }
            }
        }
    };
    markup.into_string()
}

/// The heads of arrows, for all pictures.
fn arrows() -> Markup {
    html! {
        svg width="0" height="0" style="position:absolute" aria-hidden="true" {
            defs {
                @for relation in Relation::ALL {
                    marker.(relation.short()) id={ "a-" (relation.short()) } viewBox="0 0 8 8" refX="7" refY="4"
                        markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse" {
                        path d="M0 0L8 4L0 8z" {}
                    }
                }
            }
        }
    }
}
