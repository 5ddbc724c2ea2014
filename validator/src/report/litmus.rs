//! Reports of litmus tests, as text and as JSON (schema `spirv-tv.litmus/1`, `docs/json.md`).

use serde::Serialize;

use super::style::Painter;
use super::witness::{self, Scene, Wanted};
use crate::behaviour::Bug;
use crate::check::{Bounds, BoundsChoice, Parameters, Source};
use crate::litmus::test::{Quantifier, Test};
use crate::litmus::{Answer, Checked, FinalState, ParseError, RacingPair, State, Unsupported};
use crate::model::memory_model::MemoryModel;

/// What became of all files.
#[derive(Debug)]
pub struct LitmusReport {
    /// In the order of the command line.
    pub files: Vec<FileReport>,
    /// What the answers depend on beside the files.
    pub choices: Choices,
}

/// What became of a file.
#[derive(Debug)]
pub struct FileReport {
    /// The file, as the command line has it.
    pub file: String,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a file.
#[derive(Debug)]
pub enum Fate {
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It is no litmus test.
    Malformed(ParseError),
    /// It needs what is not supported.
    Unsupported(Unsupported),
    /// Ours.
    Bug(Bug),
    /// It has an answer.
    Answered(Box<Solved>),
}

/// A test with its answer.
#[derive(Debug)]
pub struct Solved {
    /// The file's text.
    pub source: Source,
    /// What was read from it.
    pub test: Test,
    /// What was found out about it.
    pub answer: Answer,
}

/// The choices that the answers rest on.
#[derive(Debug, Serialize)]
pub struct Choices {
    model: &'static str,
    #[serde(flatten)]
    parameters: Parameters,
    #[serde(skip)]
    title: String,
    races: &'static str,
    bounds: BoundsChoice,
    version: &'static str,
}

impl Choices {
    /// The choices of these options.
    pub fn of(model: &dyn MemoryModel, bounds: &Bounds) -> Self {
        Choices {
            model: model.name(),
            parameters: Parameters::of(model),
            title: model.title(),
            races: "keep",
            bounds: BoundsChoice::of(bounds),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl LitmusReport {
    /// 70 if we have a bug, else 2 if a file could not be read, else 1 if an expectation is not met, else 3 if something is not
    /// decided, else 0.
    pub fn exit_code(&self) -> u8 {
        self.files
            .iter()
            .map(FileReport::exit_code)
            .max_by_key(|code| match *code {
                Bug::EXIT_CODE => 4,
                2 => 3,
                1 => 2,
                3 => 1,
                _ => 0,
            })
            .unwrap_or(0)
    }

    fn expectations(&self) -> impl Iterator<Item = &Checked> {
        self.files.iter().flat_map(FileReport::expectations)
    }
}

impl FileReport {
    fn expectations(&self) -> &[Checked] {
        match &self.fate {
            Fate::Answered(solved) => &solved.answer.expectations,
            Fate::Unreadable(_) | Fate::Malformed(_) | Fate::Unsupported(_) | Fate::Bug(_) => &[],
        }
    }

    /// Why the file could not be read: file, line, column and what is wrong there.
    pub fn error(&self) -> Option<String> {
        match &self.fate {
            Fate::Unreadable(error) => Some(format!("{}: {error}", self.file)),
            Fate::Malformed(error) => Some(format!("{}:{error}", self.file)),
            Fate::Unsupported(_) | Fate::Bug(_) | Fate::Answered(_) => None,
        }
    }

    /// The bug of spirv-tv that kept the file from an answer.
    pub fn bug(&self) -> Option<&Bug> {
        match &self.fate {
            Fate::Bug(bug) => Some(bug),
            Fate::Unreadable(_) | Fate::Malformed(_) | Fate::Unsupported(_) | Fate::Answered(_) => None,
        }
    }

    fn exit_code(&self) -> u8 {
        match &self.fate {
            Fate::Unreadable(_) | Fate::Malformed(_) => 2,
            Fate::Unsupported(_) => 3,
            Fate::Bug(_) => Bug::EXIT_CODE,
            Fate::Answered(solved) => {
                let checked = &solved.answer.expectations;
                if checked.iter().any(|checked| checked.is_decided() && !checked.is_met()) {
                    1
                } else if checked.iter().any(|checked| !checked.is_decided()) {
                    3
                } else {
                    0
                }
            }
        }
    }
}

/// The report for people. With `quiet` only surprises and the last line.
pub fn text(report: &LitmusReport, quiet: bool, painter: Painter) -> String {
    let mut text = String::new();
    for file in &report.files {
        file_text(&mut text, file, quiet, painter);
    }
    let (met, all) =
        (report.expectations().filter(|checked| is_fine(checked)).count(), report.expectations().count());
    let count = format!("{met} of {all} expectations met");
    let count = if met == all { painter.good(&count) } else { painter.bad(&count) };
    let unread = report.files.iter().filter(|file| file.error().is_some()).count();
    if unread != 0 {
        let all = report.files.len();
        text.push_str(
            &painter.bad(&format!("{unread} of {} could not be read\n", counted(all as u64, "file"))),
        );
    }
    if !quiet {
        text.push_str(&painter.faint(&format!("{}\n", report.choices.title)));
    }
    text.push_str(&format!("{count}\n"));
    text
}

fn is_fine(checked: &Checked) -> bool {
    checked.is_decided() && checked.is_met()
}

fn file_text(text: &mut String, report: &FileReport, quiet: bool, painter: Painter) {
    let file = &report.file;
    let solved = match &report.fate {
        // Told on standard error.
        Fate::Unreadable(_) | Fate::Malformed(_) | Fate::Bug(_) => return,
        Fate::Unsupported(what) => {
            return text.push_str(&format!("{file}: {}: {what}\n", painter.warning("inconclusive")));
        }
        Fate::Answered(solved) => solved,
    };
    let Solved { source, answer, .. } = &**solved;
    if quiet && answer.expectations.iter().all(is_fine) && answer.states.is_empty() {
        return;
    }
    let executions = counted(answer.executions, "execution");
    let early = if answer.ended_early { ", the last of which decides" } else { "" };
    text.push_str(&format!("{}: {executions}{early}\n", painter.heading(file)));
    for checked in &answer.expectations {
        if quiet && is_fine(checked) {
            continue;
        }
        expectation_text(text, solved, checked, painter);
        if let Some(told) = checked.witness.as_ref().filter(|_| !is_fine(checked)) {
            let scene = Scene::of(&told.dispatch, source, true, painter);
            let lines = witness::lines(&scene, &told.witness.events(), &Wanted::default());
            lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        if let Some(why) = &checked.why {
            why.lines().for_each(|line| text.push_str(&format!("    {line}\n")));
        }
    }
    if !answer.states.is_empty() {
        let states = answer.states.len() as u64;
        text.push_str(&format!("  {}\n", counted(states, "final state")));
        for FinalState { state, executions, racy, .. } in &answer.states {
            let races = match racy {
                0 => String::new(),
                _ => format!(", {racy} with a data race"),
            };
            text.push_str(&format!("    {executions} × {}{races}\n", state_text(state)));
        }
    }
    if answer.hanging > 0 {
        let what = format!("no final state: {} waiting for ever", counted(answer.hanging, "execution"));
        text.push_str(&format!("  {}: {what}\n", painter.warning("note")));
    }
    for undefined in &answer.undefined {
        let lines: Vec<String> = undefined.lines.iter().map(ToString::to_string).collect();
        let what = format!("{} (line {}): {}", undefined.kind.name(), lines.join(", "), undefined.detail);
        text.push_str(&format!("  {}: no final state: {what}\n", painter.warning("note")));
    }
    for reason in &answer.incomplete {
        text.push_str(&format!("  {}: {reason}\n", painter.warning("incomplete")));
    }
}

fn expectation_text(text: &mut String, solved: &Solved, checked: &Checked, painter: Painter) {
    let expectation = &solved.test.expectations[checked.index];
    let mark = match (checked.is_decided(), checked.is_met()) {
        (false, _) => painter.warning("undecided"),
        (true, true) => painter.good("met"),
        (true, false) => painter.bad("surprise"),
    };
    let (meeting, all) = (checked.meeting, checked.executions);
    let expected = match expectation.quantifier {
        Quantifier::Exists => "some",
        Quantifier::NotExists => "none",
        Quantifier::ForAll => "all",
    };
    let found = match (solved.answer.ended_early, expectation.quantifier) {
        (false, _) => format!("{meeting} of {}", counted(all, "execution")),
        (true, Quantifier::Exists | Quantifier::NotExists) => "one".to_owned(),
        (true, Quantifier::ForAll) => "one that does not".to_owned(),
    };
    let found = format!("expected {expected}, found {found}");
    text.push_str(&format!("  {mark}: {}: {found}\n", expectation.text));
}

fn state_text(state: &State) -> String {
    state.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
}

fn counted(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// The report as one JSON object.
pub fn json(report: &LitmusReport) -> String {
    let files = report.files.iter().map(file_json).collect();
    super::json::render(&ReportJson { schema: "spirv-tv.litmus/1", files, choices: &report.choices })
}

fn file_json(report: &FileReport) -> FileJson<'_> {
    let mut json = FileJson { file: &report.file, ..FileJson::default() };
    match &report.fate {
        Fate::Unreadable(error) => {
            json.error = Some(ErrorJson { line: None, column: None, message: error.clone() })
        }
        Fate::Malformed(error) => {
            let (line, column) = (Some(error.position.line), Some(error.position.column));
            json.error = Some(ErrorJson { line, column, message: error.to_string() });
        }
        Fate::Unsupported(what) => json.incomplete = vec![what.to_string()],
        Fate::Bug(bug) => json.bug = Some(bug.to_string()),
        Fate::Answered(solved) => {
            let Solved { test, answer, .. } = &**solved;
            json.executions = Some(answer.executions);
            json.expectations = answer
                .expectations
                .iter()
                .map(|checked| ExpectationJson {
                    text: &test.expectations[checked.index].text,
                    expected: checked.expected,
                    found: checked.is_decided().then_some(checked.found),
                    meeting: checked.meeting,
                    executions: checked.executions,
                    why: checked.why.as_deref(),
                })
                .collect();
            json.outcomes = answer
                .states
                .iter()
                .map(|FinalState { state, executions, racy, races }| StateJson {
                    state: state.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
                    executions: *executions,
                    racy: *racy,
                    races: races.iter().map(|(pair, executions)| RaceJson::of(pair, *executions)).collect(),
                })
                .collect();
            json.hanging = answer.hanging;
            json.undefined = answer
                .undefined
                .iter()
                .map(|undefined| UndefinedJson {
                    kind: undefined.kind.name(),
                    detail: &undefined.detail,
                    lines: &undefined.lines,
                })
                .collect();
            json.incomplete = answer.incomplete.iter().map(ToString::to_string).collect();
        }
    }
    json
}

#[derive(Serialize)]
struct ReportJson<'a> {
    schema: &'static str,
    files: Vec<FileJson<'a>>,
    choices: &'a Choices,
}

#[derive(Default, Serialize)]
struct FileJson<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorJson>,
    /// Ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    bug: Option<String>,
    executions: Option<u64>,
    expectations: Vec<ExpectationJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<StateJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undefined: Vec<UndefinedJson<'a>>,
    /// Executions that wait for ever.
    #[serde(skip_serializing_if = "is_none")]
    hanging: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct ErrorJson {
    line: Option<u32>,
    column: Option<u32>,
    message: String,
}

#[derive(Serialize)]
struct ExpectationJson<'a> {
    text: &'a str,
    expected: bool,
    found: Option<bool>,
    meeting: u64,
    executions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct StateJson<'a> {
    state: std::collections::BTreeMap<&'a str, &'a str>,
    executions: u64,
    /// Executions that have a data race.
    racy: u64,
    races: Vec<RaceJson>,
}

/// Two accesses that race, and in how many executions.
#[derive(Serialize)]
struct RaceJson {
    threads: [u32; 2],
    lines: [u32; 2],
    executions: u64,
}

impl RaceJson {
    fn of(pair: &RacingPair, executions: u64) -> Self {
        RaceJson { threads: pair.threads, lines: pair.lines, executions }
    }
}

#[derive(Serialize)]
struct UndefinedJson<'a> {
    kind: &'static str,
    detail: &'a str,
    lines: &'a [u32],
}
