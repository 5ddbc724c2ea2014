//! Programs as SPIR-V.

use crate::programs::{Mode, Program, Step, Value, REGISTERS};

/// The module of a program. What is read is stored to the results at once.
pub fn module(program: &Program) -> String {
    let mut renderer = Renderer { code: String::new(), names: 0, thread: 0 };
    for (number, phase) in program.phases.iter().enumerate() {
        if number > 0 {
            renderer.line("OpControlBarrier %c2 %c2 %s72");
        }
        let merge = format!("%merge{number}");
        let labels: Vec<String> =
            (0..phase.len()).map(|thread| format!("%thread{number}_{thread}")).collect();
        let cases: String =
            labels.iter().enumerate().map(|(index, label)| format!(" {index} {label}")).collect();
        renderer.line(&format!("OpSelectionMerge {merge} None\nOpSwitch %own {merge}{cases}"));
        for (thread, steps) in phase.iter().enumerate() {
            renderer.thread = thread;
            renderer.line(&format!("{} = OpLabel", labels[thread]));
            steps.iter().for_each(|step| renderer.step(step));
            renderer.line(&format!("OpBranch {merge}"));
        }
        renderer.line(&format!("{merge} = OpLabel"));
    }
    let (size, own) = match program.one_workgroup {
        true => (program.invocations(), "LocalInvocationId"),
        false => (1, "WorkgroupId"),
    };
    head(size, own) + &renderer.code + "OpReturn\nOpFunctionEnd\n"
}

struct Renderer {
    code: String,
    names: usize,
    thread: usize,
}

fn semantics(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain | Mode::Relaxed => "%s0",
        Mode::Acquire => "%s66",
        Mode::Release => "%s68",
        Mode::AcquireRelease => "%s72",
        Mode::SequentiallyConsistent => "%s80",
    }
}

impl Renderer {
    fn line(&mut self, text: &str) {
        self.code.push_str(text);
        self.code.push('\n');
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn pointer(&mut self, buffer: &str, word: usize) -> String {
        let name = self.name();
        self.line(&format!("{name} = OpAccessChain %pointer {buffer} %c0 %c{word}"));
        name
    }

    fn value(&self, value: Value) -> String {
        match value {
            Value::Constant(constant) => format!("%c{constant}"),
            Value::Register(register) => self.register(register),
        }
    }

    fn register(&self, register: usize) -> String {
        format!("%r{}_{register}", self.thread)
    }

    /// An instruction whose result is a register.
    fn read(&mut self, register: usize, instruction: &str) {
        let name = self.register(register);
        self.line(&format!("{name} = {instruction}"));
        self.store_result(register);
    }

    fn store_result(&mut self, register: usize) {
        let name = self.register(register);
        let place = self.pointer("%results", self.thread * REGISTERS + register);
        self.line(&format!("OpStore {place} {name}"));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Load { at, mode, register } => {
                let place = self.pointer("%shared", *at);
                match mode {
                    Mode::Plain => self.read(*register, &format!("OpLoad %uint {place}")),
                    mode => {
                        let semantics = semantics(*mode);
                        self.read(*register, &format!("OpAtomicLoad %uint {place} %c1 {semantics}"));
                    }
                }
            }
            Step::Store { at, mode, value } => {
                let (place, value) = (self.pointer("%shared", *at), self.value(*value));
                match mode {
                    Mode::Plain => self.line(&format!("OpStore {place} {value}")),
                    mode => self.line(&format!("OpAtomicStore {place} %c1 {} {value}", semantics(*mode))),
                }
            }
            Step::Add { at, mode, amount, register } => {
                let (place, semantics) = (self.pointer("%shared", *at), semantics(*mode));
                self.read(*register, &format!("OpAtomicIAdd %uint {place} %c1 {semantics} %c{amount}"));
            }
            Step::Exchange { at, mode, value, register } => {
                let (place, value, semantics) =
                    (self.pointer("%shared", *at), self.value(*value), semantics(*mode));
                self.read(*register, &format!("OpAtomicExchange %uint {place} %c1 {semantics} {value}"));
            }
            Step::CompareExchange { at, equal, unequal, expected, value, register } => {
                let (place, equal, unequal) =
                    (self.pointer("%shared", *at), semantics(*equal), semantics(*unequal));
                let operands = format!("{place} %c1 {equal} {unequal} %c{value} %c{expected}");
                self.read(*register, &format!("OpAtomicCompareExchange %uint {operands}"));
            }
            Step::Fence(mode) => self.line(&format!("OpMemoryBarrier %c1 {}", semantics(*mode))),
            Step::Await { at, mode, register } => {
                let (place, value, again) =
                    (self.pointer("%shared", *at), self.register(*register), self.name());
                self.line(&format!("OpBranch {again}_loop\n{again}_loop = OpLabel"));
                self.line(&format!("OpLoopMerge {again}_merge {again}_continue None"));
                self.line(&format!("OpBranch {again}_body\n{again}_body = OpLabel"));
                self.line(&format!("{value} = OpAtomicLoad %uint {place} %c1 {}", semantics(*mode)));
                self.line(&format!("{again} = OpIEqual %bool {value} %c0"));
                self.line(&format!("OpBranchConditional {again} {again}_continue {again}_merge"));
                self.line(&format!("{again}_continue = OpLabel\nOpBranch {again}_loop"));
                self.line(&format!("{again}_merge = OpLabel"));
                self.store_result(*register);
            }
            Step::If { register, equals, then } => {
                let condition = self.name();
                let (inside, merge) = (format!("{condition}_then"), format!("{condition}_merge"));
                let value = self.register(*register);
                self.line(&format!("{condition} = OpIEqual %bool {value} %c{equals}"));
                self.line(&format!("OpSelectionMerge {merge} None"));
                self.line(&format!("OpBranchConditional {condition} {inside} {merge}"));
                self.line(&format!("{inside} = OpLabel"));
                then.iter().for_each(|step| self.step(step));
                self.line(&format!("OpBranch {merge}"));
                self.line(&format!("{merge} = OpLabel"));
            }
        }
    }
}

/// Everything before the code of the entry point.
fn head(size: usize, own: &str) -> String {
    let constant = |value| format!("%c{value} = OpConstant %uint {value}\n");
    let constants: String = (0..24).map(constant).collect();
    HEAD.replace("SIZE", &size.to_string()).replace("OWN", own).replace("CONSTANTS\n", &constants)
}

const HEAD: &str = "OpCapability Shader
OpExtension \"SPV_KHR_storage_buffer_storage_class\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize SIZE 1 1
OpDecorate %id BuiltIn OWN
OpDecorate %words ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %shared DescriptorSet 0
OpDecorate %shared Binding 0
OpDecorate %results DescriptorSet 0
OpDecorate %results Binding 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%vector = OpTypeVector %uint 3
%inputs = OpTypePointer Input %vector
%input = OpTypePointer Input %uint
%id = OpVariable %inputs Input
CONSTANTS
%s0 = OpConstant %uint 0
%s66 = OpConstant %uint 66
%s68 = OpConstant %uint 68
%s72 = OpConstant %uint 72
%s80 = OpConstant %uint 80
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%blocks = OpTypePointer StorageBuffer %block
%pointer = OpTypePointer StorageBuffer %uint
%shared = OpVariable %blocks StorageBuffer
%results = OpVariable %blocks StorageBuffer
%main = OpFunction %void None %function
%entry = OpLabel
%place = OpAccessChain %input %id %c0
%own = OpLoad %uint %place
";
