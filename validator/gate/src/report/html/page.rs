//! The frame of a page, and what its parts have in common.

use maud::{html, Markup, PreEscaped, DOCTYPE};

use crate::report::words::one_line;
use crate::results::Judgement;
use crate::status::Class;

const STYLE: &str = include_str!("style.css");

/// Characters of a name or a reason.
const CHARACTERS: usize = 200;

/// A whole page with its title, its contents and a script, which may be empty.
pub(super) fn page(title: &str, body: &Markup, script: &str) -> String {
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
                (body)
                footer { p.faint { "spirv-tv " (env!("CARGO_PKG_VERSION")) } }
                @if !script.is_empty() { script { (PreEscaped(script)) } }
            }
        }
    };
    markup.into_string()
}

/// A name or a reason on one line.
pub(super) fn short(text: &str) -> String {
    one_line(text, CHARACTERS)
}

/// The status, and in words that nobody expected it.
pub(super) fn status(case: &Judgement) -> Markup {
    html! {
        @if case.unexpected { strong.bad { "✗ " (case.judged) } " (unexpected)" }
        @else { (case.judged) }
    }
}

/// Which switch of the table hides a row.
pub(super) fn group(case: &Judgement) -> &'static str {
    if case.unexpected {
        return "unexpected";
    }
    match case.record.status.class() {
        Class::Good => "good",
        Class::Undecided => "undecided",
        Class::NotRun => "not-run",
        Class::Bad => "expected",
    }
}
