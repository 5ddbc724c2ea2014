//! Where a pass changed something that is executed.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::spirv::Op;
use spirv_tv::correspondence::{changed, Texts};
use spirv_tv::ir::Line;
use spirv_tv::module::Module;

/// Instructions of after to which nothing in before corresponds, and the neighbours of what after lacks, as positions
/// among all instructions in blocks, labels not counted.
pub fn places(before: &Module, after: &Module) -> BTreeSet<usize> {
    let texts = (before.text.as_str(), after.text.as_str());
    let [gone, mut lines] = changed(texts.0, texts.1);
    let kept: BTreeMap<Line, Line> = Texts::of(texts.0, texts.1)
        .matched()
        .counterparts()
        .into_iter()
        .map(|(new, old)| (old, new))
        .collect();
    for function in code(before) {
        for (at, line) in function.iter().enumerate() {
            if !gone.contains(line) {
                continue;
            }
            let (front, behind) = function.split_at(at);
            let stays = |line: &&Line| !gone.contains(line) && kept.contains_key(line);
            let neighbours = front.iter().rev().find(stays).into_iter().chain(behind.iter().find(stays));
            lines.extend(neighbours.filter_map(|line| kept.get(line)));
        }
    }
    let all = code(after).into_iter().flatten().enumerate();
    all.filter(|(_, line)| lines.contains(line)).map(|(position, _)| position).collect()
}

/// The lines of the instructions in the blocks of each function.
fn code(module: &Module) -> Vec<Vec<Line>> {
    let mut functions: Vec<Vec<Line>> = Vec::new();
    for inst in module.instructions() {
        match inst.op() {
            Some(Op::Function) => functions.push(Vec::new()),
            Some(Op::FunctionParameter | Op::FunctionEnd | Op::Label | Op::Line | Op::NoLine) => {}
            _ => functions.last_mut().into_iter().for_each(|function| function.push(inst.line)),
        }
    }
    functions
}
