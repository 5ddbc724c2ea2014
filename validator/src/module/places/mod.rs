//! Where instructions come from in the sources that a module was compiled from: OpLine, and the debug information of
//! `NonSemantic.Shader.DebugInfo.100` and `OpenCL.DebugInfo.100`.

mod scopes;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rspirv::spirv::Op;

use super::{Instruction, Module};
use crate::ir::Line;
use scopes::{DebugInst, Scopes};

/// Where the instructions of a module come from, by their lines.
#[derive(Clone, Debug, Default)]
pub struct Places {
    by_line: BTreeMap<Line, Arc<Place>>,
    /// The lines of the sources that are in the module, by the names of their files and their numbers.
    sources: HashMap<String, HashMap<u32, String>>,
}

/// Where an instruction comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the compiler was given it, and the line in it, from 1.
    pub file: Option<(String, u32)>,
    /// The function that it was written in, if that is known and no entry point.
    pub function: Option<String>,
    /// The calls by which it was inlined, the innermost first.
    pub inlined: Vec<Call>,
}

/// A call that was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The file and the line of the call.
    pub at: Option<(String, u32)>,
    /// The function that calls.
    pub caller: Option<String>,
}

/// What holds for the next instructions.
#[derive(Clone, Default)]
struct Current {
    at: Option<(String, u32)>,
    /// The scope, and where it was inlined.
    scope: Option<(u32, Option<u32>)>,
}

impl Places {
    /// Those of a module.
    pub fn of(module: &Module) -> Places {
        let mut scopes = Scopes::default();
        let mut sources = Sources::default();
        let (mut entries, mut names) = (Vec::new(), HashMap::new());
        let (mut by_line, mut current) = (BTreeMap::new(), Current::default());
        let mut function: Option<String> = None;
        let mut last: Option<Arc<Place>> = None;
        for inst in module.instructions() {
            let Some(op) = inst.op() else { continue };
            sources.take_up(op, &inst);
            scopes.take_up(op, &inst);
            match op {
                Op::EntryPoint => entries.extend(inst.word(1)),
                Op::Name => {
                    if let Some((id, (name, _))) = inst.word(0).zip(inst.string(1)) {
                        names.insert(id, name);
                    }
                }
                Op::Function => {
                    current = Current::default();
                    let id = inst.result.filter(|id| !entries.contains(id));
                    function = id.and_then(|id| names.get(&id)).map(|name| plain(name));
                    last = None;
                }
                Op::Line => {
                    current.at = inst.word(0).and_then(|file| scopes.string(file)).zip(inst.word(1));
                    last = None;
                }
                Op::NoLine => {
                    current.at = None;
                    last = None;
                }
                Op::ExtInst if scopes.is_debug(&inst) => {
                    match scopes.inst(&inst) {
                        Some(DebugInst::Line(file, line)) => current.at = Some((file, line)),
                        Some(DebugInst::NoLine) => current.at = None,
                        Some(DebugInst::Scope(scope, inlined)) => current.scope = Some((scope, inlined)),
                        Some(DebugInst::NoScope) => current.scope = None,
                        None => continue,
                    }
                    last = None;
                }
                _ => {
                    let place =
                        last.take().unwrap_or_else(|| Arc::new(scopes.place(&current, function.as_deref())));
                    if *place != Place::default() {
                        by_line.insert(inst.line, place.clone());
                    }
                    last = Some(place);
                    if ends_block(op) {
                        current = Current::default();
                        last = None;
                    }
                }
            }
        }
        Places { by_line, sources: sources.lines(&scopes) }
    }

    /// Where the instruction on a line of the module comes from.
    pub fn at(&self, line: Line) -> Option<&Place> {
        self.by_line.get(&line).map(|place| &**place)
    }

    /// A line of a source, without the space around it, where the source is in the module.
    pub fn source(&self, file: &str, line: u32) -> Option<&str> {
        let text = self.sources.get(file)?.get(&line)?.trim();
        (!text.is_empty()).then_some(text)
    }

    /// What is known of a line of the module, in words: `shader.comp:17 in scale, inlined at shader.comp:30: x = a * b;`.
    pub fn told(&self, line: Line) -> Option<String> {
        let place = self.at(line)?;
        let position = |at: &Option<(String, u32)>| at.as_ref().map(|(file, line)| format!("{file}:{line}"));
        let mut parts: Vec<String> = position(&place.file).into_iter().collect();
        parts.extend(place.function.iter().map(|function| format!("in {function}")));
        let mut told = parts.join(" ");
        for call in &place.inlined {
            let at = position(&call.at).map_or_else(String::new, |at| format!(" at {at}"));
            let caller = call.caller.as_ref().map_or_else(String::new, |caller| format!(" in {caller}"));
            told.push_str(&format!(", inlined{at}{caller}"));
        }
        if let Some(text) = place.file.as_ref().and_then(|(file, line)| self.source(file, *line)) {
            told.push_str(&format!(": {text}"));
        }
        (!told.is_empty()).then_some(told)
    }
}

/// Whether an instruction ends a block, and with it what OpLine and the like say.
fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
            | Op::FunctionEnd
    )
}

/// The name of a function without the parameters that front ends add to it.
fn plain(name: &str) -> String {
    name.split('(').next().unwrap_or(name).to_owned()
}

/// The texts of sources that are in a module.
#[derive(Default)]
struct Sources {
    /// Ids of the files' names, and the texts.
    texts: Vec<(u32, String)>,
    continues: bool,
}

impl Sources {
    fn take_up(&mut self, op: Op, inst: &Instruction<'_>) {
        match op {
            Op::Source => {
                let text = inst.word(2).zip(inst.string(3)).map(|(file, (text, _))| (file, text));
                self.continues = text.is_some();
                self.texts.extend(text);
            }
            Op::SourceContinued => {
                if let Some(((_, text), (more, _))) =
                    self.texts.last_mut().filter(|_| self.continues).zip(inst.string(0))
                {
                    text.push_str(&more);
                }
            }
            _ => {}
        }
    }

    /// By the names of the files and the numbers of the lines.
    fn lines(self, scopes: &Scopes) -> HashMap<String, HashMap<u32, String>> {
        let texts = self.texts.into_iter().chain(scopes.sources());
        let mut lines: HashMap<String, HashMap<u32, String>> = HashMap::new();
        for (file, text) in texts.filter_map(|(file, text)| Some((scopes.string(file)?, text))) {
            let (mut file, mut number) = (file, 1);
            for line in text.lines() {
                match line_directive(line) {
                    Some((next, name)) => {
                        number = next;
                        file = name.map_or(file, str::to_owned);
                    }
                    None => {
                        lines.entry(file.clone()).or_default().insert(number, line.to_owned());
                        number = number.saturating_add(1);
                    }
                }
            }
        }
        lines
    }
}

/// The number and the file that `#line` gives the next line, as OpLine has them. Front ends put it behind remarks of their
/// own, too.
fn line_directive(line: &str) -> Option<(u32, Option<&str>)> {
    let mut words = line.trim().strip_prefix("#line")?.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let name = words.next().and_then(|name| name.strip_prefix('"')?.strip_suffix('"'));
    Some((number, name))
}

#[cfg(test)]
mod tests;
