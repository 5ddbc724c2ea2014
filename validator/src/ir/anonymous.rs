//! Programs without what tells two of the same meaning apart: ids, names and lines.

use super::{Block, Entry, Function, Inst, Line, Local, Program, Variable};

/// A program without ids, names and lines. Those of equal meaning but for their ids are equal; every field that
/// is not known to be such a word counts.
#[derive(Debug)]
pub struct Anonymous {
    program: Program,
    /// The lines that were taken out, in the order of the program.
    lines: Vec<Line>,
}

impl Anonymous {
    /// Takes a program's ids, names and lines out.
    pub fn new(program: &Program) -> Self {
        let mut program = program.clone();
        let mut lines = Vec::new();
        let mut take = |line: &mut Line| lines.push(std::mem::take(line));
        // What specialisation constants came to stands in the constant pool, and inputs in the dispatch.
        program.spec_constants.clear();
        program.harvested.clear();
        let Entry { line, local_size_specialised, local_size_spec_ids, .. } = &mut program.entry;
        take(line);
        *local_size_specialised = false;
        *local_size_spec_ids = [None; 3];
        if let Some(inexact) = &mut program.modes.floats.always_inexact {
            take(&mut inexact.line);
        }
        for Variable { id, name, type_name, line, .. } in &mut program.variables {
            *id = 0;
            *name = None;
            *type_name = None;
            take(line);
        }
        for Function { name, id, code, blocks, locals, definitions, line, .. } in &mut program.functions {
            *name = None;
            *id = 0;
            definitions.clear();
            take(line);
            code.iter_mut().for_each(|Inst { line, .. }| take(line));
            locals.iter_mut().for_each(|Local { line, .. }| take(line));
            for Block { label, line, .. } in blocks {
                *label = 0;
                take(line);
            }
        }
        Anonymous { program, lines }
    }

    /// Whether both programs are the same, but for ids, names and lines.
    pub fn is_same(&self, other: &Anonymous) -> bool {
        self.program == other.program
    }

    /// The lines that were taken out. The places of two programs that are the same lie alike.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}
