//! Words that several reports have.

use percent_encoding::{utf8_percent_encode, AsciiSet, NON_ALPHANUMERIC};

use crate::record::Record;
use crate::results::Results;
use crate::status::Status;

/// A text on one line of at most `most` characters, with control characters spelled out.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (at, character) in text.trim().chars().enumerate() {
        if at == most {
            line.push('…');
            break;
        }
        match character {
            '\n' | '\t' => line.push(' '),
            '\r' => {}
            _ if character.is_control() => line.extend(character.escape_default()),
            _ => line.push(character),
        }
    }
    line
}

/// As much of a text as there is room for: at most `most` bytes of it, and at most those that are left of all.
pub(super) fn cut(text: &str, most: usize, left: &mut usize) -> String {
    let room = most.min(*left).min(text.len());
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    *left -= end;
    let shown = text.get(..end).unwrap_or_default();
    if end == text.len() {
        return shown.to_owned();
    }
    format!("{shown}\n[{} more bytes of the report are not in this file]\n", text.len() - end)
}

/// The pass that did it, where that is known.
pub(super) fn pass(record: &Record) -> Option<&str> {
    record.pass.as_deref().or_else(|| parts(record).map(|(pass, _)| pass))
}

/// What kind of failure it is: the second part of the bucket, or the status.
pub(super) fn kind(record: &Record) -> &str {
    parts(record).map_or(record.status.name(), |(_, kind)| kind)
}

/// The pass and the kind in a bucket.
fn parts(record: &Record) -> Option<(&str, &str)> {
    let mut parts = record.bucket.as_ref()?.0.splitn(3, '/');
    let both = parts.next().zip(parts.next());
    parts.next().and(both)
}

/// A path with slashes as a reference in a page or a log.
pub(super) fn reference(path: &str) -> String {
    const AS_THEY_ARE: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(path, AS_THEY_ARE).to_string()
}

/// `1 case`, `2 cases`.
pub(super) fn count(number: usize, of: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {of}{plural}")
}

/// A share of a hundred with one digit. It is rounded down, so that 100 % means all.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", (share * 10.0).floor() / 10.0)
}

/// What a status means, by the name that tables have for it.
pub(super) fn meaning(results: &Results, judged: &str) -> &'static str {
    match judged.parse::<Status>() {
        Ok(status) => results.meaning(status),
        Err(_) => match judged {
            "ExpectedFail" => "as bad as expected",
            "KnownFlake" => "fails at times, as is known",
            "Flake" => "failed, and did not when it was run again",
            _ => "better than expected",
        },
    }
}

/// How many cases are unexpected, and what share says something.
pub(super) fn outcome(results: &Results) -> String {
    let unexpected = results.unexpected().count();
    let decided = percent(results.decided());
    let decided = match results.about.tools.get("executor") {
        Some(executor) => format!("run on {executor}; {decided} decided"),
        None => format!("{decided} decided, in {} the changed code ran", percent(results.exercised())),
    };
    format!(
        "{} of {} unexpected; {decided}; {:.1} s",
        if unexpected == 0 { "None".to_owned() } else { unexpected.to_string() },
        count(results.cases.len(), "case"),
        results.seconds,
    )
}

/// What the results rest on, as names with values.
pub(super) fn about(results: &Results) -> Vec<(String, String)> {
    let about = &results.about;
    let mut rows = vec![
        ("spirv-tv".to_owned(), about.version.clone()),
        ("generation".to_owned(), about.generation.to_string()),
    ];
    rows.extend(about.tools.iter().map(|(tool, version)| (tool.clone(), version.clone())));
    rows.push(("options".to_owned(), about.options.join(" ")));
    rows.push(("command".to_owned(), results.command.clone()));
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::status::Judged;

    #[test]
    fn a_line_has_no_control_characters_and_an_end() {
        assert_eq!(one_line("a\r\nb\tc\u{1b}[0m\n", 80), "a b c\\u{1b}[0m");
        assert_eq!(one_line("äöü", 3), "äöü");
        assert_eq!(one_line("äöüß", 3), "äöü…");
    }

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        let mut left = 8;
        assert_eq!(cut("äää", 6, &mut left), "äää");
        assert_eq!(cut("äää", 6, &mut left), "ä\n[4 more bytes of the report are not in this file]\n");
        assert_eq!(left, 0);
    }

    #[test]
    fn the_kind_is_the_second_part_of_the_bucket() {
        let mut record = Record::new("a", Status::Fail, "");
        assert_eq!((pass(&record), kind(&record)), (None, "Fail"));
        record.bucket = Some(crate::Bucket("licm/new-race/OpStore/OpLoad".to_owned()));
        assert_eq!((pass(&record), kind(&record)), (Some("licm"), "new-race"));
        record.pass = Some("--loop-unroll".to_owned());
        assert_eq!(pass(&record), Some("--loop-unroll"));
        record.bucket = Some(crate::Bucket("something else".to_owned()));
        assert_eq!(kind(&record), "Fail");
    }

    #[test]
    fn only_all_is_a_hundred_percent() {
        assert_eq!(percent(99.99), "99.9 %");
        assert_eq!(percent(100.0), "100.0 %");
    }

    #[test]
    fn every_word_of_a_table_has_a_meaning_of_its_own() {
        let judged = Status::ALL.map(|status| Judged::As(status).to_string());
        let other = [
            Judged::ExpectedFail(Status::Fail).to_string(),
            Judged::KnownFlake(Status::Fail).to_string(),
            Judged::Flake(Status::Pass).to_string(),
            Judged::UnexpectedImprovement(Status::Pass).to_string(),
        ];
        for results in [samples::mixed(), samples::run()] {
            let mut meanings: Vec<&str> =
                judged.iter().chain(&other).map(|word| meaning(&results, word)).collect();
            meanings.sort_unstable();
            meanings.dedup();
            assert_eq!(meanings.len(), judged.len() + other.len());
        }
    }

    #[test]
    fn of_cases_that_ran_nothing_is_said_of_comparisons() {
        let results = samples::run();
        assert_eq!(outcome(&results), "6 of 13 cases unexpected; run on a board; 90.9 % decided; 75.2 s");
        for status in Status::ALL {
            let words = results.meaning(status);
            assert!(!words.contains("refines") && !words.contains("compared"), "{status}: {words}");
        }
    }
}
