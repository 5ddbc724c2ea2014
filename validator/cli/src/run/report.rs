//! What `run` prints.

use serde_json::{json, Value};

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{OutcomesReport, OutcomesRun};
use spirv_tv::report::{self, Painter};
use spirv_tv_executor::Description;

use super::allowed::Allowed;
use super::judge::{Judged, Seen};
use super::verdict::RunVerdict;

/// Words of long memory that are shown.
const BEGINNING: usize = 8;

/// Allowed outcomes that were never seen, and outcomes that are not allowed, as many as are listed in a text.
const LISTED: usize = 10;

/// Words of memory that are named where an outcome is not allowed.
const WORDS: usize = 4;

/// A run with what is allowed and what was seen.
#[derive(Debug)]
pub(super) struct Told<'r> {
    pub(super) run: &'r OutcomesRun,
    pub(super) allowed: Allowed,
    pub(super) judged: Judged,
}

/// Everything that is told.
#[derive(Debug)]
pub(super) struct RunReport<'r> {
    pub(super) report: &'r OutcomesReport,
    pub(super) executor: Description,
    pub(super) runs: Vec<Told<'r>>,
    /// Why something was not run.
    pub(super) reasons: Vec<String>,
    pub(super) verdict: RunVerdict,
}

impl RunReport<'_> {
    /// The verdict with its reason, on one line.
    pub(super) fn line(&self) -> String {
        let (name, verdict) = (&self.executor.name, self.verdict);
        let times: u64 = self.runs.iter().map(|told| told.judged.times()).sum();
        let reason = || {
            let of_runs = self.runs.iter().filter(|told| told.judged.verdict == verdict);
            let all = of_runs.flat_map(|told| &told.judged.reasons).chain(&self.reasons);
            all.map(String::as_str).next().unwrap_or_default()
        };
        match verdict {
            RunVerdict::Refines if times == 1 => format!("{name}: the outcome of 1 run is allowed"),
            RunVerdict::Refines if times == 0 => format!("{name}: {}", reason()),
            RunVerdict::Refines => format!("{name}: every outcome of {} is allowed", runs(times)),
            RunVerdict::Violates => {
                let seen = || {
                    self.runs
                        .iter()
                        .filter(|told| told.judged.verdict == verdict)
                        .flat_map(|told| &told.judged.seen)
                };
                let wrong = seen().filter(|seen| !seen.is_allowed);
                let count: u64 = wrong.clone().map(|seen| u64::from(seen.count)).sum();
                let outcomes = match wrong.count() {
                    1 => "an outcome that is not allowed".to_owned(),
                    several => format!("{several} outcomes that are not allowed"),
                };
                format!("new-outcome, {name} showed {outcomes}, in {count} of {}", runs(times))
            }
            RunVerdict::Inconclusive | RunVerdict::ExecutorFailed | RunVerdict::Vacuous => {
                format!("{name}: {}", reason())
            }
        }
    }

    /// The text for people; with `full` nothing is left out.
    pub(super) fn text(&self, full: bool, painter: Painter) -> String {
        let mut lines = vec![format!("{}: {}", coloured(self.verdict, painter), self.line())];
        lines.extend(
            self.reasons
                .iter()
                .map(|reason| format!("{}: {reason}", coloured(RunVerdict::Inconclusive, painter))),
        );
        for told in &self.runs {
            lines.extend(told.lines(full, painter));
        }
        if self.verdict == RunVerdict::Violates {
            lines.extend(self.executor.notes.iter().map(|note| format!("known of the executor: {note}")));
        }
        let mut all: Vec<&String> = Vec::new();
        self.report.warnings.iter().for_each(|warning| {
            if !all.contains(&warning) {
                all.push(warning)
            }
        });
        lines.extend(all.into_iter().map(|warning| format!("{}: {warning}", painter.warning("warning"))));
        lines.extend(report::outcomes::rests_on(&self.report.choices).iter().map(|line| painter.faint(line)));
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// The object of schema `spirv-tv.run/1`.
    pub(super) fn json(&self) -> Value {
        let unsupported = self.report.unsupported.iter();
        json!({
            "schema": "spirv-tv.run/1",
            "module": self.report.module.name,
            "executor": self.executor.name,
            "verdict": self.verdict.name(),
            "runs": self.runs.iter().map(Told::json).collect::<Vec<_>>(),
            "reasons": self.reasons,
            "unsupported": unsupported
                .map(|one| json!({"line": one.line, "what": one.what}))
                .collect::<Vec<_>>(),
            "warnings": self.report.warnings,
            "choices": report::json::rests_on(&self.report.choices),
        })
    }
}

/// Without what is in the middle of long memory: where it differs from what is allowed is told beside.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let rows = words.chunk_by(|a, b| a.starts_with("0x") == b.starts_with("0x"));
    let short = |row: &[&str]| match row.split_at_checked(BEGINNING) {
        Some((first, rest)) if row[0].starts_with("0x") && rest.len() > BEGINNING => {
            // What follows an object's last word stays.
            let end = rest.last().and_then(|last| last.ends_with(',').then_some(",")).unwrap_or_default();
            format!("{} … ({} words, all with --full){end}", first.join(" "), row.len())
        }
        _ => row.join(" "),
    };
    rows.map(short).collect::<Vec<String>>().join(" ")
}

fn runs(count: u64) -> String {
    match count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    }
}

fn coloured(verdict: RunVerdict, painter: Painter) -> String {
    match verdict {
        RunVerdict::Violates | RunVerdict::ExecutorFailed => painter.bad(verdict.name()),
        RunVerdict::Inconclusive | RunVerdict::Vacuous => painter.warning(verdict.name()),
        RunVerdict::Refines => verdict.name().to_owned(),
    }
}

impl Told<'_> {
    fn lines(&self, full: bool, painter: Painter) -> Vec<String> {
        let Told { run, allowed, judged } = self;
        let dispatch = &run.explored.dispatch;
        let head = format!("{}, input '{}': {}", run.entry, run.input.name, self.size());
        let mut lines = vec![painter.heading(&head)];
        lines.extend(
            judged.reasons.iter().map(|reason| format!("  {}: {reason}", coloured(judged.verdict, painter))),
        );
        let is_written = |object: usize| full || !run.unwritten.contains(&object);
        let shown = |outcome: &Outcome, is_shown: &dyn Fn(usize) -> bool| {
            let text = report::outcomes::outcome(outcome, dispatch, is_shown).join(" ");
            if full {
                text
            } else {
                shortened(&text)
            }
        };
        let (word, them) = match judged.is_open {
            false => ("NOT ALLOWED", "are not allowed"),
            true => ("not found  ", "were not found"),
        };
        let mut wrong = 0;
        for seen in &judged.seen {
            let Seen { outcome, count, is_allowed } = seen;
            if *is_allowed {
                lines.push(format!("  {count:>10}  allowed      {}", shown(outcome, &is_written)));
                continue;
            }
            wrong += 1;
            if wrong > LISTED && !full {
                continue;
            }
            let what = painter.bad(word);
            let changed = |object: usize| is_written(object) || self.is_changed(object, outcome);
            lines.push(format!("  {count:>10}  {what}  {}", shown(outcome, &changed)));
            lines.extend(self.nearest(outcome));
        }
        if wrong > LISTED && !full {
            lines.push(format!("              and {} more that {them} (--full lists them)", wrong - LISTED));
        }
        let never: Vec<&Outcome> = self.never_seen().collect();
        let most = if full { never.len() } else { LISTED };
        for outcome in never.iter().take(most) {
            lines.push(format!("           0  never seen   {}", shown(outcome, &is_written)));
        }
        if never.len() > most {
            lines.push(format!(
                "              and {} more that were never seen (--full lists them)",
                never.len() - most
            ));
        }
        if !allowed.factored.is_empty() {
            let forms = allowed.factored.len();
            let forms = if forms == 1 { "form".to_owned() } else { format!("forms, {forms}") };
            lines.push(format!(
                "              allowed: outcomes in factored {forms} (spirv-tv outcomes tells them)"
            ));
        }
        if allowed.hangs && judged.failure.is_none() && !judged.seen.is_empty() {
            lines.push("           0  never seen   hang".to_owned());
        }
        if !full {
            lines.extend(self.left_out().map(|line| painter.faint(&line)));
        }
        lines
    }

    /// How often it was run, and how much of what is allowed was seen.
    fn size(&self) -> String {
        let Told { allowed, judged, .. } = self;
        let (seen, all) = (judged.seen_listed.len(), allowed.listed.len());
        let part = match judged.times() {
            0 => return "not run to an end".to_owned(),
            times => runs(times),
        };
        match (allowed.factored.is_empty(), &allowed.cut) {
            (false, _) => format!("{part}; there are too many allowed outcomes to be listed"),
            (true, Some(_)) => format!("{part}, {seen} of the {all} outcomes that were found seen"),
            (true, None) => format!("{part}, {seen} of {all} allowed outcomes seen"),
        }
    }

    /// Listed outcomes that were never seen.
    fn never_seen(&self) -> impl Iterator<Item = &Outcome> {
        let was_run = !self.judged.seen.is_empty();
        let all = self.allowed.listed.iter().enumerate().filter(move |_| was_run);
        all.filter(|(index, _)| !self.judged.seen_listed.contains(index)).map(|(_, outcome)| outcome)
    }

    /// Whether an object of the dispatch holds something else than at first.
    fn is_changed(&self, object: usize, outcome: &Outcome) -> bool {
        let objects = &self.run.explored.dispatch.objects;
        let observed = objects.iter().enumerate().filter(|(_, object)| object.observed);
        observed
            .zip(&outcome.memory)
            .any(|((number, known), bytes)| number == object && known.initial != *bytes)
    }

    /// In what an outcome differs from the nearest one that is allowed.
    fn nearest(&self, outcome: &Outcome) -> Option<String> {
        let (nearest, different) = self.allowed.nearest(outcome)?;
        let keys = self.observed();
        let word = |(object, word): &(usize, usize)| {
            let place = |outcome: &Outcome| {
                outcome.memory[*object].chunks(4).nth(*word).map(word_of).unwrap_or_default()
            };
            format!("{}+{} {} instead of {}", keys[*object], word * 4, place(outcome), place(nearest))
        };
        let mut told: Vec<String> = different.iter().take(WORDS).map(word).collect();
        if different.len() > WORDS {
            told.push(format!("and {} words more", different.len() - WORDS));
        }
        Some(format!("              nearest to an allowed one but for {}", told.join(", ")))
    }

    fn observed(&self) -> Vec<&str> {
        let objects = self.run.explored.dispatch.objects.iter();
        objects.filter(|object| object.observed).map(|object| object.key.as_str()).collect()
    }

    fn left_out(&self) -> Option<String> {
        let OutcomesRun { explored, unwritten, .. } = self.run;
        let objects = explored.dispatch.objects.iter().enumerate();
        let keys: Vec<&str> = objects
            .filter(|(number, object)| object.observed && unwritten.contains(number))
            .map(|(_, object)| object.key.as_str())
            .collect();
        let them = if keys.len() == 1 { "it" } else { "them" };
        (!keys.is_empty() && !self.judged.seen.is_empty()).then(|| {
            format!("not shown: {}, which the module never writes (--full shows {them})", keys.join(", "))
        })
    }

    fn json(&self) -> Value {
        let Told { run, allowed, judged } = self;
        let outcome = |outcome: &Outcome| report::json::outcome(outcome, &run.explored.dispatch);
        let seen = judged.seen.iter().map(|seen| {
            let is_allowed = match (seen.is_allowed, judged.is_open) {
                (false, true) => None,
                (is_allowed, _) => Some(is_allowed),
            };
            json!({"count": seen.count, "allowed": is_allowed, "outcome": outcome(&seen.outcome)})
        });
        json!({
            "entry": run.entry,
            "input": report::json::input(&run.input),
            "verdict": judged.verdict.name(),
            "times": judged.times(),
            "seen": seen.collect::<Vec<_>>(),
            "never_seen": self.never_seen().map(outcome).collect::<Vec<_>>(),
            "factored": allowed.factored.len(),
            "hangs": allowed.hangs,
            "cut": allowed.cut,
            "undefined": allowed.undefined,
            "failure": judged.failure.as_ref().map(|failure| {
                json!({"status": failure.name(), "message": failure.to_string()})
            }),
            "reasons": judged.reasons,
        })
    }
}

/// A word as reports have it.
fn word_of(bytes: &[spirv_tv::value::Byte]) -> String {
    let digits = bytes.iter().rev().map(|byte| match byte {
        spirv_tv::value::Byte::Known(value) => format!("{value:02x}"),
        spirv_tv::value::Byte::Undef => "??".to_owned(),
    });
    format!("0x{}", digits.collect::<String>())
}

/// What `--features` prints.
pub(super) fn features(description: &Description, painter: Painter) -> String {
    let Description { name, subgroup_size, capabilities, lacks, limits, notes } = description;
    let mut lines = vec![painter.heading(name)];
    if *subgroup_size > 0 {
        lines.push(format!("subgroups of {subgroup_size}"));
    }
    lines.extend(limits.iter().map(|(what, most)| format!("at most {most} {what}")));
    let list =
        |what: &str, names: &[String]| (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")));
    lines.extend(list("has", capabilities));
    lines.extend(list("lacks", lacks));
    lines.extend(notes.iter().map(|note| format!("note: {note}")));
    lines.into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_memory_is_shown_by_its_beginning() {
        let words = |count: usize| vec!["0x00000001"; count].join(" ");
        let short = format!("terminated: 0.0 = {}, 0.1 = {}", words(2), words(16));
        assert_eq!(shortened(&short), short);
        let long = format!("terminated: 0.0 = {}, 0.1 = 0x??", words(17));
        let expected = format!("terminated: 0.0 = {} … (17 words, all with --full), 0.1 = 0x??", words(8));
        assert_eq!(shortened(&long), expected);
    }
}
