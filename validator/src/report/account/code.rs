//! A module's text by lines and ids, with values of its instructions.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::check::Source;
use crate::correspondence::{insts, Inst};
use crate::ir::Line;
use crate::report::typed::Types;
use crate::value::Scalar;

/// A module's text by lines and ids.
pub(in crate::report) struct Code<'t> {
    insts: Vec<Inst<'t>>,
    by_id: HashMap<&'t str, usize, FxBuildHasher>,
    types: &'t Types<'t>,
    module: &'t Source,
}

impl<'t> Code<'t> {
    /// That of a module with its types.
    pub(in crate::report) fn of(module: &'t Source, types: &'t Types<'t>) -> Self {
        let insts: Vec<Inst<'t>> = insts(&module.text).collect();
        let by_id = insts.iter().enumerate().filter_map(|(at, inst)| Some((inst.result?, at))).collect();
        Code { insts, by_id, types, module }
    }

    /// The instruction on a line.
    pub(super) fn on(&self, line: Line) -> Option<&Inst<'t>> {
        let at = self.insts.binary_search_by_key(&line, |inst| inst.line).ok()?;
        self.insts.get(at)
    }

    /// The instruction that an id is the result of.
    pub(super) fn defines(&self, id: &str) -> Option<&Inst<'t>> {
        self.insts.get(*self.by_id.get(id)?)
    }

    /// What is written on a line, and where it comes from.
    pub(super) fn line(&self, line: Line) -> String {
        self.module.cited(line).unwrap_or_default()
    }

    /// What is written on a line.
    pub(super) fn text(&self, line: Line) -> &'t str {
        self.module.line(line).unwrap_or_default()
    }

    /// Where a line comes from, as a comment.
    pub(super) fn place(&self, line: Line) -> String {
        self.module.places.told(line).map_or_else(String::new, |place| format!("  ; {place}"))
    }

    /// The line of the function that an instruction is in.
    pub(super) fn function_of(&self, line: Line) -> Option<Line> {
        let upto = self.insts.partition_point(|inst| inst.line <= line);
        let before = self.insts.get(..upto)?.iter().rev();
        let is_bound = |inst: &&Inst<'t>| matches!(inst.opcode, "OpFunction" | "OpFunctionEnd");
        { before }.find(is_bound).filter(|inst| inst.opcode == "OpFunction").map(|inst| inst.line)
    }

    /// Which parameter of its function is declared on a line, from 0.
    pub(super) fn number_of_parameter(&self, line: Line) -> Option<usize> {
        let function = self.function_of(line)?;
        let own = self.insts.iter().filter(|inst| (function..line).contains(&inst.line));
        Some(own.filter(|inst| inst.opcode == "OpFunctionParameter").count())
    }

    /// The line of the label of the block that a line is in, and the label.
    pub(super) fn block_of(&self, line: Line) -> Option<(Line, &'t str)> {
        let upto = self.insts.partition_point(|inst| inst.line <= line);
        let label = self.insts.get(..upto)?.iter().rfind(|inst| inst.opcode == "OpLabel")?;
        Some((label.line, label.result?))
    }

    /// The line of the merge block of the loop whose header has its label on this line.
    pub(super) fn merge_of_loop(&self, label: Line) -> Option<Line> {
        let behind = self.insts.get(self.insts.partition_point(|inst| inst.line <= label)..)?;
        let own = behind.iter().take_while(|inst| !matches!(inst.opcode, "OpLabel" | "OpFunctionEnd"));
        let merge = { own }.find(|inst| inst.opcode == "OpLoopMerge")?;
        Some(self.defines(merge.operands.first()?)?.line)
    }

    /// The result of the instruction on a line as its type says; `None` for pointers and what is no scalar or vector.
    pub(super) fn value(&self, line: Line, components: &[Scalar]) -> Option<String> {
        let inst = self.on(line)?;
        inst.result?;
        self.types.told(inst.operands.first()?, components)
    }

    /// The value of a scalar constant, where its name does not tell it.
    pub(super) fn constant(&self, id: &str) -> Option<&'t str> {
        let inst = self.defines(id)?;
        let is_scalar = matches!(inst.opcode, "OpConstant" | "OpSpecConstant");
        let value = inst.operands.get(1).filter(|_| is_scalar)?;
        (!id.contains(value)).then_some(value)
    }

    /// The built-in that a variable is.
    pub(super) fn built_in(&self, variable: &str) -> Option<&'t str> {
        let is_its = |inst: &&Inst<'t>| {
            inst.opcode == "OpDecorate"
                && inst.operands.first() == Some(&variable)
                && inst.operands.get(1) == Some(&"BuiltIn")
        };
        self.insts
            .iter()
            .take_while(|inst| inst.opcode != "OpFunction")
            .find(is_its)?
            .operands
            .get(2)
            .copied()
    }

    /// What the types of the text say.
    pub(super) fn types(&self) -> &'t Types<'t> {
        self.types
    }
}
