//! `docs/coverage.md`: every opcode of Shader modules and every GLSL.std.450 instruction, whether it is
//! supported and how it is tested.
//!
//! What is supported is asked of the lowering, opcode by opcode, with a tiny module each. What is compared
//! with the driver is read off the generated modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rspirv::grammar::{self, OperandKind, OperandQuantifier};
use rspirv::spirv::Op;
use serde::Deserialize;
use spirv_tv::lower::{lower, LowerError, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};

use super::case::Findings;

/// Shares of real modules, in percent.
#[derive(Deserialize)]
pub struct Census {
    pub opcodes: BTreeMap<String, f64>,
    pub glsl: BTreeMap<String, f64>,
}

/// One instruction of the table.
pub struct Row {
    /// Without `Op`.
    pub name: String,
    pub supported: bool,
    /// In a module that runs on the driver.
    pub compared: bool,
    /// In a module of the corpus, whose outcomes are written down.
    pub in_corpus: bool,
    pub share: Option<f64>,
}

impl Row {
    pub fn is_tested(&self) -> bool {
        self.compared || self.in_corpus
    }

    fn line(&self) -> String {
        let supported =
            if self.supported { "yes".to_owned() } else { format!("no: {}", why_not(&self.name)) };
        let tested = match (self.compared, self.in_corpus) {
            (true, true) => "driver, corpus",
            (true, false) => "driver",
            (false, true) => "corpus",
            (false, false) => "",
        };
        let share = self.share.map(|share| format!("{share} %")).unwrap_or_default();
        format!("| {} | {supported} | {tested} | {share} |\n", self.name)
    }
}

/// The rows of both tables.
pub struct Coverage {
    pub opcodes: Vec<Row>,
    pub glsl: Vec<Row>,
    /// Opcodes of the census that the grammar does not have.
    pub unknown: Vec<String>,
}

/// Asks the lowering, and joins what the tests have.
pub fn coverage(compared: &Findings, corpus: &Findings, census: &Census) -> Coverage {
    let opcodes: Vec<Row> = grammar::INSTRUCTION_TABLE
        .iter()
        .filter(|instruction| is_for_shaders(instruction))
        .map(|instruction| {
            let number = instruction.opcode as u32;
            let name = instruction.opname.to_owned();
            let is_seen = compared.opcodes.contains(&number) || corpus.opcodes.contains(&number);
            Row {
                supported: is_seen
                    || is_lowered(
                        &probe(instruction.opcode, operands(instruction.operands)),
                        &format!("Op{name}"),
                    ),
                compared: compared.opcodes.contains(&number),
                in_corpus: corpus.opcodes.contains(&number),
                share: census.opcodes.get(&name).copied(),
                name,
            }
        })
        .collect();
    let glsl = grammar::GLSL_STD_450_INSTRUCTION_TABLE
        .iter()
        .map(|instruction| {
            let number = u32::from(instruction.opcode);
            let name = instruction.opname.to_owned();
            let mut words = vec![U32, RESULT, SET, number];
            words.extend(std::iter::repeat_n(ZERO, instruction.operands.len()));
            let told = format!("OpExtInst GLSL.std.450 {name}");
            Row {
                supported: is_lowered(&probe(Op::ExtInst, words), &told),
                compared: compared.extended.contains(&number),
                in_corpus: corpus.extended.contains(&number),
                share: census.glsl.get(&name).copied(),
                name,
            }
        })
        .collect();
    let is_known = |name: &&String| opcodes.iter().any(|row| row.name == **name);
    let unknown = census.opcodes.keys().filter(|name| !is_known(name)).cloned().collect();
    Coverage { opcodes, glsl, unknown }
}

/// The document.
pub fn document(coverage: &Coverage, census: &Census) -> String {
    let mut text = String::from(HEAD);
    for (title, rows) in [("Opcodes", &coverage.opcodes), ("GLSL.std.450", &coverage.glsl)] {
        let supported = rows.iter().filter(|row| row.supported).count();
        let compared = rows.iter().filter(|row| row.compared).count();
        let _ = writeln!(text, "\n## {title}\n");
        let _ = writeln!(
            text,
            "{supported} of {} are supported, {compared} are compared with the driver.\n",
            rows.len()
        );
        text += "| instruction | supported | tested | census |\n| --- | --- | --- | --- |\n";
        rows.iter().for_each(|row| text += &row.line());
    }
    text += UNKNOWN;
    for name in &coverage.unknown {
        let share = census.opcodes.get(name).copied().unwrap_or_default();
        let _ = writeln!(text, "| {name} | {share} % |");
    }
    text
}

const HEAD: &str = "# Coverage

Which instructions spirv-tv executes, and how each is tested. This page is generated:
`COVERAGE=write cargo test -p spirv-tv-cli --test driver coverage`; a test fails where it is not up to date.

- *supported*: the lowering takes the instruction, at least on some types; for a module that uses it on
  other types, the report says what is missing.
- *tested*: *driver*: it is in a module that runs both in the interpreter and on lavapipe, with results that must agree
  (`tests/driver.rs`); *corpus*: it is in a module of `corpus/` whose outcomes or verdict are written down; nothing: neither (unit
  tests of the lowering and of the interpreter are not counted).
- *census*: share of 2,960 compute modules from 30 public repositories that use it; empty under 0.2 % for opcodes.

Opcodes that only Kernel modules can have are left out, and so are those of Intel's extensions for them.
";

const UNKNOWN: &str = "
## Unknown opcodes

Real modules have these, too, but neither the bundled SPIRV-Tools nor rspirv know them. Nothing can take such a module apart:
it is refused (exit code 2), and the message has the number of the opcode and of its first instruction, or of the capability
that comes before it.

| instruction | census |
| --- | --- |
";

/// Why an instruction is not supported.
fn why_not(name: &str) -> &'static str {
    const VENDORS: [&str; 9] = ["NV", "NVX", "AMD", "INTEL", "QCOM", "ARM", "VALVE", "HUAWEI", "AMDX"];
    let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if name == "IMix" {
        "reserved"
    } else if VENDORS.iter().any(|vendor| name.ends_with(vendor)) {
        "an extension of one vendor"
    } else if is(&["InterpolateAt"]) {
        "interpolation at other places of a pixel"
    } else if is(&["Sparse"]) {
        "sparse residency"
    } else if is(&["EmitVertex", "EndPrimitive", "EmitStream", "EndStream", "MeshTasks", "MeshOutputs"]) {
        "geometry and mesh stages"
    } else if is(&["TraceRay", "ExecuteCallable", "Intersection", "TerminateRay", "HitObject"]) {
        "ray tracing stages"
    } else if is(&[
        "TileImage",
        "ColorAttachment",
        "DepthAttachment",
        "StencilAttachment",
        "Interlock",
        "Helper",
        "Demote",
    ]) {
        "fragment stage"
    } else if is(&["Tensor"]) {
        "tensors"
    } else {
        "not built"
    }
}

/// Whether a Shader module may have it.
fn is_for_shaders(instruction: &rspirv::grammar::Instruction) -> bool {
    const KERNEL: [&str; 12] = [
        "Kernel",
        "Addresses",
        "Pipes",
        "DeviceEnqueue",
        "LiteralSampler",
        "NamedBarrier",
        "SubgroupDispatch",
        "PipeStorage",
        "GenericPointer",
        "Linkage",
        "ExpectAssumeKernel",
        "CooperativeMatrixKernel",
    ];
    let is_kernel = |name: &str| {
        let intel = (name.ends_with("INTEL") || name.ends_with("ALTERA")) && name != "IntegerFunctions2INTEL";
        KERNEL.contains(&name) || intel
    };
    let capabilities: Vec<String> =
        instruction.capabilities.iter().map(|capability| format!("{capability:?}")).collect();
    capabilities.is_empty() && !instruction.opname.ends_with("INTEL")
        || capabilities.iter().any(|name| !is_kernel(name))
}

// Ids of every probe.
const SET: u32 = 1;
const MAIN: u32 = 2;
const VOID: u32 = 3;
const FUNCTION: u32 = 4;
const U32: u32 = 5;
const ZERO: u32 = 6;
const LABEL: u32 = 7;
const RESULT: u32 = 8;
const USE: u32 = 9;
const SUBGROUP: u32 = 10;
const BOUND: u32 = 11;

/// Words for the operands: as few as there must be, all of them zeros.
fn operands(grammar: &[rspirv::grammar::LogicalOperand]) -> Vec<u32> {
    let needed = grammar.iter().filter(|operand| operand.quantifier == OperandQuantifier::One);
    needed
        .flat_map(|operand| match operand.kind {
            OperandKind::IdResultType => vec![U32],
            OperandKind::IdResult => vec![RESULT],
            OperandKind::IdScope => vec![SUBGROUP],
            OperandKind::IdRef | OperandKind::IdMemorySemantics => vec![ZERO],
            OperandKind::PairIdRefIdRef => vec![ZERO, ZERO],
            // IAdd of two zeros.
            OperandKind::LiteralSpecConstantOpInteger => vec![Op::IAdd as u32, ZERO, ZERO],
            OperandKind::LiteralInteger => vec![32],
            _ => vec![0],
        })
        .collect()
}

/// Instructions that stand before the types: debug information and decorations.
const SAID: [&str; 12] = [
    "SourceContinued",
    "Source",
    "SourceExtension",
    "String",
    "ModuleProcessed",
    "DecorationGroup",
    "GroupDecorate",
    "GroupMemberDecorate",
    "DecorateId",
    "DecorateString",
    "MemberDecorateString",
    "MemberDecorateIdEXT",
];

/// Instructions that end a block.
const ENDS: [&str; 4] =
    ["IgnoreIntersectionKHR", "TerminateRayKHR", "EmitMeshTasksEXT", "TerminateInvocation"];

/// A module with one instruction that it would not need.
fn probe(opcode: Op, operands: Vec<u32>) -> Vec<u32> {
    let instruction = |opcode: Op, operands: &[u32]| {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | opcode as u32];
        words.extend(operands);
        words
    };
    let probed = instruction(opcode, &operands);
    let name = format!("{opcode:?}");
    let is_type = name.starts_with("Type");
    let is_constant = name.contains("Constant") && operands.first() == Some(&U32);
    let main = u32::from_le_bytes(*b"main");
    let mut words = vec![0x0723_0203, 0x0001_0600, 0, BOUND, 0];
    words.extend(instruction(Op::Capability, &[1]));
    // "GLSL.std.450"
    let set = [*b"GLSL", *b".std", *b".450", [0; 4]].map(u32::from_le_bytes);
    words.extend(instruction(Op::ExtInstImport, &[&[SET], &set[..]].concat()));
    let is_said_about_the_module = SAID.contains(&name.as_str());
    if is_said_about_the_module {
        words.extend(&probed);
    }
    words.extend(instruction(Op::MemoryModel, &[0, 1]));
    words.extend(instruction(Op::EntryPoint, &[5, MAIN, main, 0]));
    words.extend(instruction(Op::ExecutionMode, &[MAIN, 17, 1, 1, 1]));
    words.extend(instruction(Op::TypeVoid, &[VOID]));
    words.extend(instruction(Op::TypeFunction, &[FUNCTION, VOID]));
    words.extend(instruction(Op::TypeInt, &[U32, 32, 0]));
    words.extend(instruction(Op::Constant, &[U32, ZERO, 0]));
    words.extend(instruction(Op::Constant, &[U32, SUBGROUP, 3]));
    if is_type || is_constant {
        words.extend(&probed);
    }
    words.extend(instruction(Op::Function, &[VOID, MAIN, 0, FUNCTION]));
    words.extend(instruction(Op::Label, &[LABEL]));
    if is_type {
        words.extend(instruction(Op::Undef, &[RESULT, USE]));
    } else if is_constant {
        words.extend(instruction(Op::CopyObject, &[U32, USE, RESULT]));
    } else if !is_said_about_the_module {
        words.extend(&probed);
    }
    if !ENDS.contains(&name.as_str()) {
        words.extend(instruction(Op::Return, &[]));
    }
    words.extend(instruction(Op::FunctionEnd, &[]));
    words
}

/// Whether the lowering does anything but name it as unsupported.
fn is_lowered(words: &[u32], name: &str) -> bool {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let Ok(module) = Module::from_words(words.to_vec(), name, &options) else { return false };
    match lower(&module, &LowerOptions::default()) {
        Err(LowerError::Unsupported(list)) => !list.iter().any(|item| {
            let rest = item.what.strip_prefix(name);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        }),
        Ok(_) | Err(_) => true,
    }
}

/// Instructions that many real modules use, and that are not tested as they should be.
pub fn missing(coverage: &Coverage, excused: &BTreeMap<&str, &str>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut unused: BTreeSet<&str> = excused.keys().copied().collect();
    let opcodes = coverage.opcodes.iter().filter(|row| row.share.is_some());
    for row in opcodes.chain(&coverage.glsl) {
        let is_excused = unused.remove(row.name.as_str());
        match (row.supported && row.is_tested(), is_excused) {
            (true, false) | (false, true) => {}
            (true, true) => complaints.push(format!("{} is excused though it is tested", row.name)),
            (false, false) if row.supported => complaints.push(format!("{} is not tested", row.name)),
            (false, false) => complaints.push(format!("{} is not supported", row.name)),
        }
    }
    for name in coverage.unknown.iter().filter(|name| !unused.remove(name.as_str())) {
        complaints.push(format!("{name} is not in the grammar"));
    }
    complaints.extend(
        unused.into_iter().map(|name| format!("{name} is excused, and is no instruction of the census")),
    );
    complaints
}
