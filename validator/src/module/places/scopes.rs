//! Debug information in extended instruction sets: lines, and the scopes that instructions were written in.

use std::collections::{BTreeMap, HashMap};

use rspirv::spirv::Op;

use super::{plain, Call, Current, Place};
use crate::module::Instruction;

/// Numbers that `OpenCL.DebugInfo.100` and `NonSemantic.Shader.DebugInfo.100` share.
const FUNCTION: u32 = 20;
const LEXICAL_BLOCK: u32 = 21;
const LEXICAL_BLOCK_DISCRIMINATOR: u32 = 22;
const SCOPE: u32 = 23;
const NO_SCOPE: u32 = 24;
const INLINED_AT: u32 = 25;
const SOURCE: u32 = 35;

/// Numbers of `NonSemantic.Shader.DebugInfo.100` alone.
const SOURCE_CONTINUED: u32 = 102;
const LINE: u32 = 103;
const NO_LINE: u32 = 104;

/// Calls and blocks in each other, beyond which nobody looks.
const DEPTH: usize = 64;

/// An instruction that says where the next ones come from.
pub(super) enum DebugInst {
    Line(String, u32),
    NoLine,
    /// A scope, and where it was inlined.
    Scope(u32, Option<u32>),
    NoScope,
}

/// What a module says of its scopes.
#[derive(Default)]
pub(super) struct Scopes {
    strings: HashMap<u32, String>,
    constants: HashMap<u32, u32>,
    /// Sets of debug information, and whether their operands are all ids.
    sets: HashMap<u32, bool>,
    /// Names of functions, by DebugFunction; the files of what is written in them.
    functions: HashMap<u32, (Option<String>, Option<u32>)>,
    /// The scope around each block.
    parents: HashMap<u32, u32>,
    /// Line, scope of the call, and where that is inlined.
    inlined: HashMap<u32, (Option<u32>, u32, Option<u32>)>,
    /// The file of each DebugSource, with its text.
    sources: BTreeMap<u32, (u32, String)>,
    last_source: Option<u32>,
}

impl Scopes {
    pub(super) fn take_up(&mut self, op: Op, inst: &Instruction<'_>) {
        let Some(id) = inst.result else { return };
        match op {
            Op::String => {
                self.strings.extend(inst.string(0).map(|(text, _)| (id, text)));
            }
            Op::Constant => {
                self.constants.extend(inst.word(0).map(|value| (id, value)));
            }
            Op::ExtInstImport => match inst.string(0) {
                Some((name, _)) if name == "NonSemantic.Shader.DebugInfo.100" => {
                    self.sets.insert(id, true);
                }
                Some((name, _)) if name == "OpenCL.DebugInfo.100" => {
                    self.sets.insert(id, false);
                }
                Some(_) | None => {}
            },
            Op::ExtInst if self.is_debug(inst) => self.take_up_scope(id, inst),
            _ => {}
        }
    }

    fn take_up_scope(&mut self, id: u32, inst: &Instruction<'_>) {
        let operand = |at: usize| inst.word(at + 2);
        match inst.word(1) {
            Some(FUNCTION) => {
                let name = operand(0).and_then(|name| self.string(name)).map(|name| plain(&name));
                self.functions.insert(id, (name, operand(2)));
            }
            Some(LEXICAL_BLOCK) => {
                self.parents.extend(operand(3).map(|parent| (id, parent)));
            }
            Some(LEXICAL_BLOCK_DISCRIMINATOR) => {
                self.parents.extend(operand(2).map(|parent| (id, parent)));
            }
            Some(INLINED_AT) => {
                let line = operand(0).and_then(|line| self.number(inst, line));
                self.inlined.extend(operand(1).map(|scope| (id, (line, scope, operand(2)))));
            }
            Some(SOURCE) => {
                let text = operand(1).and_then(|text| self.strings.get(&text).cloned()).unwrap_or_default();
                self.sources.extend(operand(0).map(|file| (id, (file, text))));
                self.last_source = Some(id);
            }
            Some(SOURCE_CONTINUED) => {
                let more = operand(0).and_then(|text| self.strings.get(&text).cloned());
                let last = self.last_source.and_then(|last| self.sources.get_mut(&last));
                if let Some(((_, text), more)) = last.zip(more) {
                    text.push_str(&more);
                }
            }
            Some(_) | None => {}
        }
    }

    /// Whether this OpExtInst is debug information.
    pub(super) fn is_debug(&self, inst: &Instruction<'_>) -> bool {
        inst.word(0).is_some_and(|set| self.sets.contains_key(&set))
    }

    /// What it says of the instructions behind it.
    pub(super) fn inst(&self, inst: &Instruction<'_>) -> Option<DebugInst> {
        let operand = |at: usize| inst.word(at + 2);
        match inst.word(1)? {
            LINE => {
                let (file, _) = self.sources.get(&operand(0)?)?;
                Some(DebugInst::Line(self.string(*file)?, self.number(inst, operand(1)?)?))
            }
            NO_LINE => Some(DebugInst::NoLine),
            SCOPE => Some(DebugInst::Scope(operand(0)?, operand(1))),
            NO_SCOPE => Some(DebugInst::NoScope),
            _ => None,
        }
    }

    /// A number, which one set gives as a constant and the other as a literal.
    fn number(&self, inst: &Instruction<'_>, word: u32) -> Option<u32> {
        match self.sets.get(&inst.word(0)?)? {
            true => self.constants.get(&word).copied(),
            false => Some(word),
        }
    }

    pub(super) fn string(&self, id: u32) -> Option<String> {
        self.strings.get(&id).cloned()
    }

    /// The texts of sources, by the ids of their files' names.
    pub(super) fn sources(&self) -> impl Iterator<Item = (u32, String)> + '_ {
        self.sources.values().filter(|(_, text)| !text.is_empty()).cloned()
    }

    /// The name of the function that a scope is in, and its file.
    fn function(&self, mut scope: u32) -> Option<(Option<String>, Option<String>)> {
        for _ in 0..DEPTH {
            if let Some((name, source)) = self.functions.get(&scope) {
                let file = source.and_then(|source| self.sources.get(&source));
                return Some((name.clone(), file.and_then(|(file, _)| self.string(*file))));
            }
            scope = *self.parents.get(&scope)?;
        }
        None
    }

    /// Where an instruction comes from, in a function of the module with this name.
    pub(super) fn place(&self, current: &Current, function: Option<&str>) -> Place {
        let Some((scope, mut inlined)) = current.scope else {
            let function = function.map(str::to_owned);
            return Place { file: current.at.clone(), function, inlined: Vec::new() };
        };
        let mut calls = Vec::new();
        while let Some((line, scope, next)) = inlined.and_then(|inlined| self.inlined.get(&inlined)) {
            if calls.len() == DEPTH {
                break;
            }
            let (caller, file) = self.function(*scope).unwrap_or_default();
            calls.push(Call { at: file.zip(*line), caller });
            inlined = *next;
        }
        let written_in = self.function(scope).and_then(|(name, _)| name);
        let written_in = written_in.or_else(|| function.map(str::to_owned));
        Place { file: current.at.clone(), function: written_in, inlined: calls }
    }
}
