//! The words of a module of the list, with one entry point.

use std::path::Path;

use rspirv::binary::Assemble;
use rspirv::dr::{load_words, Instruction, Operand};
use rspirv::spirv::ExecutionModel;
use spirv_tv_toolchain::{optimize, OptimizeOptions};

use crate::catalogue::Entry;
use crate::{glsl, wgsl};

/// Compiles the entry's file, unless the package did so.
pub fn words(entry: &Entry, root: &Path, scratch: &Path) -> Result<Vec<u32>, String> {
    let source = root.join(&entry.package.folder).join(&entry.file);
    let words = match source.extension().and_then(|extension| extension.to_str()) {
        Some("wgsl") => wgsl::compile(&source, entry, root)?,
        Some("comp") => glsl::compile(&source, entry, scratch)?,
        Some("spv") => read(&source).map_err(|error| error.to_string())?,
        _ => return Err("of no known language".to_owned()),
    };
    let mut args = entry.args.iter().skip_while(|arg| *arg != "--entry").skip(1);
    match args.next() {
        Some(name) => alone(&words, name),
        None => Ok(words),
    }
}

/// The words in a file.
pub fn read(path: &Path) -> std::io::Result<Vec<u32>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.chunks_exact(4).map(|word| word.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b))).collect())
}

/// The module without its other entry points, so that no mistake is planted in what is not checked.
fn alone(words: &[u32], entry: &str) -> Result<Vec<u32>, String> {
    let mut module = load_words(words).map_err(|error| error.to_string())?;
    let is_wanted =
        |inst: &Instruction| inst.operands.get(2) == Some(&Operand::LiteralString(entry.to_owned()));
    module.entry_points.retain(is_wanted);
    let function = module.entry_points.first().and_then(|inst| inst.operands.get(1)).cloned();
    module.execution_modes.retain(|inst| inst.operands.first() == function.as_ref());
    let passes = ["--eliminate-dead-functions", "--eliminate-dead-variables"].map(str::to_owned);
    let pruned = optimize(&module.assemble(), &passes, &OptimizeOptions::default())
        .map_err(|error| error.to_string())?;
    Ok(pruned.words)
}

/// The stage of the first entry point.
pub fn stage(words: &[u32]) -> &'static str {
    let module = load_words(words).ok();
    let first = module.as_ref().and_then(|module| module.entry_points.first()?.operands.first());
    match first {
        Some(Operand::ExecutionModel(ExecutionModel::Vertex)) => "vertex",
        Some(Operand::ExecutionModel(ExecutionModel::Fragment)) => "fragment",
        Some(Operand::ExecutionModel(ExecutionModel::GLCompute)) => "compute",
        _ => "other",
    }
}
