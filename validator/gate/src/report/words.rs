//! Words that several reports have.

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
pub(super) fn meaning(judged: &str) -> &'static str {
    match judged.parse::<Status>() {
        Ok(status) => status.meaning(),
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
    format!(
        "{} of {} unexpected; {} decided, in {} the changed code ran; {:.1} s",
        if unexpected == 0 { "None".to_owned() } else { unexpected.to_string() },
        count(results.cases.len(), "case"),
        percent(results.decided()),
        percent(results.exercised()),
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
    use crate::status::Judged;

    #[test]
    fn a_line_has_no_control_characters_and_an_end() {
        assert_eq!(one_line("a\r\nb\tc\u{1b}[0m\n", 80), "a b c\\u{1b}[0m");
        assert_eq!(one_line("äöü", 3), "äöü");
        assert_eq!(one_line("äöüß", 3), "äöü…");
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
        let mut meanings: Vec<&str> = judged.iter().chain(&other).map(|word| meaning(word)).collect();
        meanings.sort_unstable();
        meanings.dedup();
        assert_eq!(meanings.len(), judged.len() + other.len());
    }
}
