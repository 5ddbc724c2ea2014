//! No text makes the readers panic, or the run of a test that they read.

use proptest::prelude::*;

use super::random::tiny;
use super::{herd, khronos};
use crate::litmus::{parse, run, RunError, Wanted};

/// Pieces that mean something in one dialect or the other.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "|",
    ";",
    ",",
    ":",
    "@",
    "&",
    "&&",
    "~",
    "#",
    ".",
    "=",
    "==",
    "/\\",
    "\\/",
    "\"",
    "(*",
    "*)",
    "//",
    "\n",
    " ",
    "-",
    "0x",
    "99999999999",
    "P0",
    "r0",
    "x",
    "exists",
    "filter",
    "goto",
    "st",
    "sc0",
    "NEWTHREAD",
    "SSW",
    "é",
];

/// A change of a text at a place in it, which is a share of its length in millionths.
#[derive(Clone, Debug)]
enum Change {
    Cut { at: usize, characters: usize },
    Insert { at: usize, piece: &'static str },
    Repeat { at: usize, characters: usize },
    Truncate { at: usize },
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..1_000_000_usize;
    prop_oneof![
        4 => (at.clone(), 1..30_usize).prop_map(|(at, characters)| Change::Cut { at, characters }),
        4 => (at.clone(), proptest::sample::select(&PIECES[..])).prop_map(|(at, piece)| Change::Insert { at, piece }),
        2 => (at.clone(), 1..200_usize).prop_map(|(at, characters)| Change::Repeat { at, characters }),
        1 => at.prop_map(|at| Change::Truncate { at }),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let characters: Vec<char> = text.chars().collect();
    let place = |at: usize| at * characters.len() / 1_000_000;
    let join = |parts: &[&[char]]| parts.iter().flat_map(|part| part.iter()).collect::<String>();
    match *change {
        Change::Cut { at, characters: count } => {
            let from = place(at);
            let to = (from + count).min(characters.len());
            join(&[&characters[..from], &characters[to..]])
        }
        Change::Insert { at, piece } => {
            let piece: Vec<char> = piece.chars().collect();
            join(&[&characters[..place(at)], &piece, &characters[place(at)..]])
        }
        Change::Repeat { at, characters: count } => {
            let from = place(at);
            let to = (from + count).min(characters.len());
            join(&[&characters[..to], &characters[from..]])
        }
        Change::Truncate { at } => characters[..place(at)].iter().collect(),
    }
}

/// Reads the text in both dialects. Where a reader complains, the place is one in the text; else the test runs.
fn read(text: &str) {
    for name in ["a.test", "a.litmus", "a"] {
        let test = parse(name, text);
        if let Ok(test) = &test {
            let answer = run(test, &tiny(), Wanted::default());
            assert!(!matches!(answer, Err(RunError::Bug(_))), "{answer:?}\n{text}");
        }
        if let Err(error) = test {
            let lines = text.split('\n').count();
            let line = usize::try_from(error.position.line).unwrap();
            assert!((1..=lines).contains(&line), "{error}");
            let length = text.split('\n').nth(line - 1).unwrap().chars().count();
            let column = usize::try_from(error.position.column).unwrap();
            assert!((1..=length + 1).contains(&column), "{error}");
            assert!(text.contains(&error.token), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_samples(changes in proptest::collection::vec(change(), 1..6)) {
        for sample in [khronos::SAMPLE, herd::SAMPLE] {
            let text = changes.iter().fold(sample.to_owned(), |text, change| apply(&text, change));
            read(&text);
        }
    }

    #[test]
    fn any_pieces(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..60)) {
        read(&pieces.concat());
        read(&format!("t\n{{}}\nP0@sg 0,wg 0,qf 0;\n{}", pieces.join(" ")));
        read(&format!("NEWTHREAD\n{}", pieces.join(" ")));
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes));
    }
}
