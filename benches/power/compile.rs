//! The words of a module of the list, with one entry point.

use std::path::Path;

use spirv_tv_toolchain::{optimize, OptimizeOptions};

use crate::catalogue::Entry;
use crate::{glsl, wgsl};

const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const EXECUTION_MODE_ID: u32 = 331;

/// Compiles the entry's file, unless the package did so.
pub fn words(entry: &Entry, root: &Path, scratch: &Path) -> Result<Vec<u32>, String> {
    let source = root.join(&entry.package.folder).join(&entry.file);
    let words = match source.extension().and_then(|extension| extension.to_str()) {
        Some("wgsl") => wgsl::compile(&source, entry, root)?,
        Some("comp") => glsl::compile(&source, entry, scratch)?,
        Some("spv") => {
            let bytes = std::fs::read(&source).map_err(|error| error.to_string())?;
            bytes
                .chunks_exact(4)
                .map(|word| word.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b)))
                .collect()
        }
        _ => return Err("of no known language".to_owned()),
    };
    let mut args = entry.args.iter().skip_while(|arg| *arg != "--entry").skip(1);
    match args.next() {
        Some(name) => alone(&words, name),
        None => Ok(words),
    }
}

/// The instructions of a module, each with all its words.
fn instructions(words: &[u32]) -> Vec<&[u32]> {
    let mut rest = words.get(5..).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(first) = rest.first() {
        let (inst, behind) = rest.split_at(((first >> 16) as usize).clamp(1, rest.len()));
        found.push(inst);
        rest = behind;
    }
    found
}

fn opcode(inst: &[u32]) -> u32 {
    inst.first().map_or(0, |word| word & 0xFFFF)
}

/// The name of an entry point.
fn name(inst: &[u32]) -> String {
    let bytes = inst.iter().skip(3).flat_map(|word| word.to_le_bytes());
    String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<u8>>()).into_owned()
}

/// The module without its other entry points, so that no mistake is planted in what is not checked.
fn alone(words: &[u32], entry: &str) -> Result<Vec<u32>, String> {
    let instructions = instructions(words);
    let others: Vec<u32> = { instructions.iter() }
        .filter(|inst| opcode(inst) == ENTRY_POINT && name(inst) != entry)
        .filter_map(|inst| inst.get(2).copied())
        .collect();
    let mut kept = words.get(..5).unwrap_or_default().to_vec();
    for inst in instructions {
        let target = match opcode(inst) {
            ENTRY_POINT => inst.get(2),
            EXECUTION_MODE | EXECUTION_MODE_ID => inst.get(1),
            _ => None,
        };
        if !target.is_some_and(|id| others.contains(id)) {
            kept.extend(inst);
        }
    }
    let passes = ["--eliminate-dead-functions", "--eliminate-dead-variables"].map(str::to_owned);
    let pruned = optimize(&kept, &passes, &OptimizeOptions::default()).map_err(|error| error.to_string())?;
    Ok(pruned.words)
}

/// The stage of the first entry point.
pub fn stage(words: &[u32]) -> &'static str {
    let instructions = instructions(words);
    let entry = instructions.iter().find(|inst| opcode(inst) == ENTRY_POINT);
    match entry.and_then(|inst| inst.get(1)) {
        Some(0) => "vertex",
        Some(4) => "fragment",
        Some(5) => "compute",
        _ => "other",
    }
}
