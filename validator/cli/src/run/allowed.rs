//! The outcomes that a module allows, as `outcomes --format json` prints them (docs/json.md).

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use spirv_tv::behaviour::{End, Outcome};
use spirv_tv::compare::admits;
use spirv_tv::dispatch::Dispatch;
use spirv_tv::value::Byte;

use super::factored::{Factored, FactoredJson};

/// The schema of what is read.
const SCHEMA: &str = "spirv-tv.outcomes/1";

/// What `outcomes` printed of a module.
#[derive(Debug, Deserialize)]
pub(super) struct OutcomesFile {
    schema: String,
    #[serde(flatten)]
    first: RunJson,
    #[serde(default)]
    runs: Vec<RunJson>,
    choices: ChoicesJson,
}

#[derive(Debug, Deserialize)]
struct ChoicesJson {
    /// One, or a list.
    launch: Value,
    #[serde(default)]
    floats: String,
}

/// A run of one entry point on one input.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RunJson {
    #[serde(default)]
    entry: Option<String>,
    #[serde(default)]
    input: Value,
    complete: bool,
    bounded: bool,
    bound: Option<String>,
    stopped: Option<String>,
    undecided: Vec<String>,
    undefined: Vec<UndefinedJson>,
    outcomes: Vec<OutcomeJson>,
    #[serde(default)]
    factored: Vec<FactoredJson>,
    #[serde(default)]
    open_floats: Vec<PlaceJson>,
}

#[derive(Debug, Deserialize)]
struct UndefinedJson {
    kind: String,
    detail: String,
    lines: Vec<LineJson>,
}

#[derive(Debug, Deserialize)]
struct LineJson {
    line: u64,
}

#[derive(Debug, Deserialize)]
struct PlaceJson {
    line: u64,
    what: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct OutcomeJson {
    end: String,
    memory: BTreeMap<String, Vec<String>>,
}

impl OutcomesFile {
    /// Reads what `outcomes` printed.
    ///
    /// # Errors
    /// It is something else.
    pub(super) fn read(text: &str) -> Result<OutcomesFile, String> {
        let file: OutcomesFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match file.schema == SCHEMA {
            true => Ok(file),
            false => Err(format!("the schema is '{}' and not {SCHEMA}", file.schema)),
        }
    }

    /// The runs, in order.
    pub(super) fn runs(&self) -> Vec<&RunJson> {
        match self.runs.is_empty() {
            // Without an input nothing was run.
            true if self.first.input.is_null() => Vec::new(),
            true => vec![&self.first],
            false => self.runs.iter().collect(),
        }
    }

    /// The invocations of a subgroup in the first launch.
    pub(super) fn subgroup_size(&self) -> Option<u32> {
        list(&self.choices.launch).first()?.get("subgroup_size")?.as_u64()?.try_into().ok()
    }

    /// Why the outcomes are none of this launch; `None` where they are.
    pub(super) fn is_of_other(&self, launches: &Value) -> Option<String> {
        let (ours, theirs) = (list(launches), list(&self.choices.launch));
        if ours.len() != theirs.len() {
            return Some(format!("it has {} launches, and there are {}", theirs.len(), ours.len()));
        }
        let different = ours.iter().zip(theirs).find_map(|(ours, theirs)| {
            let (ours, theirs) = (ours.as_object()?, theirs.as_object()?);
            let field = ours.iter().find(|(name, value)| theirs.get(*name) != Some(value))?;
            let other = theirs.get(field.0).unwrap_or(&Value::Null);
            Some(format!("its launch has the {} {other}, and this one has {}", field.0, field.1))
        });
        different
    }

    /// Whether floats were to be compared bit by bit.
    pub(super) fn is_exact(&self) -> bool {
        self.choices.floats == "exact"
    }
}

/// A list, or the one that stands for a list of one.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::Array(all) => all,
        one => std::slice::from_ref(one),
    }
}

impl RunJson {
    /// Why this is no run of this entry point on this input; `None` where it is.
    pub(super) fn is_of_other(&self, entry: &str, input: &Value) -> Option<String> {
        if self.entry.as_deref().is_some_and(|own| own != entry) {
            return Some(format!("it has the entry point {} where {entry} comes", self.entry.as_deref()?));
        }
        let name = |input: &Value| input.get("name").and_then(Value::as_str).unwrap_or("?").to_owned();
        (self.input != *input).then(|| match name(&self.input) == name(input) {
            true => format!("on input '{}' memory holds something else at first", name(input)),
            false => format!("it has the input '{}' where '{}' comes", name(&self.input), name(input)),
        })
    }
}

/// The outcomes of one entry point on one input.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// Those that are listed, each once, without volatile traces, which no executor shows.
    pub(super) listed: Vec<Outcome>,
    /// Listed outcomes without undefined bytes, by what memory holds.
    known: HashMap<Vec<Vec<Byte>>, usize>,
    /// Listed outcomes with undefined bytes.
    open: Vec<usize>,
    /// Those that are in factored form.
    pub(super) factored: Vec<Factored>,
    /// Whether the module may run for ever.
    pub(super) hangs: bool,
    /// Undefined behaviours, in words.
    pub(super) undefined: Vec<String>,
    /// Why outcomes may be missing.
    pub(super) cut: Option<String>,
    /// Float operations that ran, and whose results the environment leaves open, in words.
    pub(super) open_floats: Vec<String>,
}

impl Allowed {
    /// The outcomes of a run, told in the objects of a dispatch.
    ///
    /// # Errors
    /// They are of other objects.
    pub(super) fn of(run: &RunJson, dispatch: &Dispatch) -> Result<Allowed, String> {
        let mut allowed = Allowed::default();
        for json in &run.outcomes {
            match outcome(json, dispatch)? {
                outcome if outcome.end == End::Hang => allowed.hangs = true,
                outcome => allowed.add(outcome),
            }
        }
        allowed.factored =
            run.factored.iter().map(|json| Factored::of(json, dispatch)).collect::<Result<_, _>>()?;
        let undefined = run.undefined.iter().map(|undefined| {
            let lines: Vec<String> = undefined.lines.iter().map(|place| place.line.to_string()).collect();
            let at = match &lines[..] {
                [] => String::new(),
                [line] => format!(", line {line}"),
                lines => format!(", lines {}", lines.join(" and ")),
            };
            format!("{}{at}: {}", undefined.kind, undefined.detail)
        });
        allowed.undefined = undefined.collect();
        let cut = run.bound.clone().or_else(|| run.stopped.clone());
        allowed.cut = match (run.undecided.first(), run.bounded || !run.complete) {
            (Some(why), _) => Some(why.clone()),
            (None, true) => {
                Some(format!("the search was cut: {}", cut.as_deref().unwrap_or("it is not complete")))
            }
            (None, false) => None,
        };
        let open = run.open_floats.iter().map(|place| format!("{} (line {})", place.what, place.line));
        allowed.open_floats = open.collect();
        Ok(allowed)
    }

    fn add(&mut self, outcome: Outcome) {
        if self.listed.contains(&outcome) {
            return;
        }
        match outcome.memory.iter().flatten().any(|byte| *byte == Byte::Undef) {
            true => self.open.push(self.listed.len()),
            false => drop(self.known.insert(outcome.memory.clone(), self.listed.len())),
        }
        self.listed.push(outcome);
    }

    /// Which of the listed outcomes admit this one; and whether it is one of those in factored form.
    pub(super) fn admitting(&self, outcome: &Outcome) -> (Vec<usize>, bool) {
        let known = self.known.get(&outcome.memory).copied();
        let open =
            self.open.iter().copied().filter(|index| differences(&self.listed[*index], outcome).is_empty());
        (
            known.into_iter().chain(open).collect(),
            self.factored.iter().any(|factored| factored.admits(outcome)),
        )
    }

    /// Where the outcome differs from the listed one that is nearest to it.
    pub(super) fn nearest(&self, outcome: &Outcome) -> Option<(&Outcome, Vec<(usize, usize)>)> {
        let all = self.listed.iter().chain(self.factored.iter().map(|factored| &factored.first));
        all.map(|listed| (listed, differences(listed, outcome))).min_by_key(|(_, different)| different.len())
    }
}

/// The words in which memory is not admitted: by observed object, and number of the word there.
fn differences(allowed: &Outcome, seen: &Outcome) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (object, (allowed, seen)) in allowed.memory.iter().zip(&seen.memory).enumerate() {
        if allowed == seen {
            continue;
        }
        let words = allowed.chunks(4).zip(seen.chunks(4)).enumerate();
        let is_other = |(_, (allowed, seen)): &(usize, (&[Byte], &[Byte]))| {
            allowed.len() != seen.len()
                || allowed.iter().zip(*seen).any(|(allowed, seen)| !admits(*allowed, *seen))
        };
        all.extend(words.filter(is_other).map(|(word, _)| (object, word)));
    }
    all
}

/// An outcome in the objects of a dispatch, without its traces.
///
/// # Errors
/// It is of other objects, or what stands there are no words.
pub(super) fn outcome(json: &OutcomeJson, dispatch: &Dispatch) -> Result<Outcome, String> {
    match json.end.as_str() {
        "hang" => return Ok(Outcome::hang(Vec::new())),
        "terminated" => {}
        other => return Err(format!("an outcome ends with '{other}'")),
    }
    let mut memory = Vec::new();
    for object in dispatch.objects.iter().filter(|object| object.observed) {
        let words = json.memory.get(&object.key).ok_or_else(|| format!("an outcome lacks {}", object.key))?;
        let bytes = bytes(words)?;
        if bytes.len() != object.initial.len() {
            let (theirs, ours) = (bytes.len(), object.initial.len());
            return Err(format!("{} has {theirs} bytes in an outcome, and {ours} here", object.key));
        }
        memory.push(bytes);
    }
    Ok(Outcome { end: End::Terminated, memory, volatile: Vec::new(), remarks: Vec::new() })
}

/// The bytes of words as reports have them.
///
/// # Errors
/// They are no words.
pub(super) fn bytes(words: &[String]) -> Result<Vec<Byte>, String> {
    let mut bytes = Vec::with_capacity(words.len() * 4);
    for word in words {
        let wrong = || format!("'{word}' is no word");
        let digits = word.strip_prefix("0x").filter(|digits| digits.is_ascii()).ok_or_else(wrong)?;
        if digits.is_empty() || digits.len() > 8 || digits.len() % 2 != 0 {
            return Err(wrong());
        }
        for at in (0..digits.len()).step_by(2).rev() {
            bytes.push(match &digits[at..at + 2] {
                "??" => Byte::Undef,
                pair => Byte::Known(u8::from_str_radix(pair, 16).map_err(|_| wrong())?),
            });
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
