//! Random small programs of groups of invocations that each have words of their own, as assembly text.

use std::fmt::Write;

/// One step of an invocation. `last` is what it loaded last.
#[derive(Clone, Debug)]
pub enum Step {
    /// Relaxed atomics of a word, at Device scope; what is read is kept.
    Load(u32),
    Store(u32, u32),
    Add(u32),
    Exchange(u32, u32),
    /// Stores `last` and this.
    StoreLast(u32, u32),
    /// Plain accesses.
    PlainLoad(u32),
    PlainStore(u32, u32),
    VolatileLoad(u32),
    VolatileStore(u32, u32),
    /// Reads a word until it is this.
    Await(u32, u32),
    /// Divides by `last`, which is undefined if that is 0.
    Divide,
    /// Stores to this word, and `last` words behind it.
    StoreBehind(u32),
    /// Only if `last` is this.
    If(u32, Box<Step>),
    /// A control barrier of the workgroup, with acquire-release semantics.
    Barrier,
}

/// A program: the steps of each invocation, and how many of them a workgroup has. Barriers stand at the same place in
/// all invocations of a workgroup.
#[derive(Clone, Debug)]
pub struct Program {
    pub local_size: usize,
    pub threads: Vec<Vec<Step>>,
}

/// Numbers that depend on a seed alone.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u32) -> u32 {
        // Xorshift; a seed of 0 would stay 0.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as u32 % bound
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

/// A step on the words from `first` on.
fn step(random: &mut Random, first: u32, words: u32) -> Step {
    let word = first + random.below(words);
    let value = 1 + random.below(2);
    match random.below(40) {
        0..=11 => Step::Load(word),
        12..=21 => Step::Store(word, value),
        22..=23 => Step::Add(word),
        24..=25 => Step::Exchange(word, value),
        26..=27 => Step::StoreLast(word, value),
        28 => Step::PlainLoad(word),
        29 => Step::PlainStore(word, value),
        30..=31 => Step::VolatileLoad(word),
        32 => Step::VolatileStore(word, value),
        33 => Step::Await(word, value),
        34 => Step::If(1, Box::new(Step::Divide)),
        _ => Step::If(value, Box::new(Step::Store(word, 3))),
    }
}

/// Two invocations that do something else in some executions than in others.
fn pattern(random: &mut Random, first: u32) -> [Vec<Step>; 2] {
    let (a, b) = (first, first + 1);
    let only_if = |value, step| Step::If(value, Box::new(step));
    match random.below(8) {
        // Store buffering, message passing, load buffering.
        0 | 1 => [vec![Step::Store(a, 1), Step::Load(b)], vec![Step::Store(b, 1), Step::Load(a)]],
        2 => [vec![Step::Store(a, 1), Step::Store(b, 1)], vec![Step::Load(b), Step::Load(a)]],
        3 => [vec![Step::Load(a), Step::Store(b, 1)], vec![Step::Load(b), Step::Store(a, 1)]],
        4 => [vec![Step::VolatileStore(a, 1)], vec![Step::VolatileLoad(a), Step::VolatileLoad(a)]],
        // What may hang, fault or race.
        5 => [vec![Step::Store(a, 1)], vec![Step::Load(a), only_if(0, Step::Await(b, 1))]],
        6 => [vec![Step::Store(a, 1)], vec![Step::Load(a), only_if(1, Step::Divide)]],
        _ => {
            let plain = vec![Step::PlainStore(b, 1), Step::Store(a, 1)];
            [plain, vec![Step::Load(a), only_if(1, Step::PlainLoad(b))]]
        }
    }
}

impl Program {
    /// A program of 2 to 4 groups of words.
    pub fn random(seed: u64) -> Program {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let groups = 2 + random.below(3);
        let words = 2;
        // Workgroups of two that have barriers, or of one.
        let local_size = if random.chance(30) { 2 } else { 1 };
        let barriers = local_size == 2 && random.chance(50);
        let mut threads = Vec::new();
        for group in 0..groups {
            let first = group * words;
            let members = if local_size == 2 || random.chance(90) { 2 } else { 1 };
            let mut own: Vec<Vec<Step>> = vec![Vec::new(); members];
            for phase in 0..1 + u32::from(barriers) {
                let pattern = random.chance(60).then(|| pattern(&mut random, first));
                for (thread, steps) in own.iter_mut().enumerate() {
                    match &pattern {
                        Some(pattern) => steps.extend(pattern[thread].iter().cloned()),
                        None => {
                            let count = 1 + random.below(3);
                            steps.extend((0..count).map(|_| step(&mut random, first, words)));
                        }
                    }
                    if phase == 0 && barriers {
                        steps.push(Step::Barrier);
                    }
                }
            }
            // Now and then one meets another group, perhaps only in some executions.
            if random.chance(15) {
                let other = random.below(groups) * words;
                let value = random.below(3);
                let rare = match random.below(3) {
                    0 => Step::If(value, Box::new(Step::Store(other, 1))),
                    1 => Step::If(value, Box::new(Step::Load(other))),
                    _ => Step::StoreBehind(first + 1),
                };
                let thread = random.below(members as u32) as usize;
                own[thread].push(rare);
            }
            threads.extend(own);
        }
        Program { local_size, threads }
    }

    /// Its arguments of a launch.
    pub fn args(&self) -> Vec<String> {
        let workgroups = (self.threads.len() / self.local_size).to_string();
        let results = self.results().max(1);
        let args = [
            "--workgroups",
            &workgroups,
            "--buffer",
            "0.0=zeros:16",
            "--buffer",
            &format!("0.1=zeros:{results}"),
        ];
        args.into_iter().map(str::to_owned).collect()
    }

    /// Words that its loads keep.
    fn results(&self) -> usize {
        self.threads.iter().flatten().map(Step::results).sum()
    }

    pub fn text(&self) -> String {
        let mut writer = Writer { body: String::new(), next: 0, results: 0 };
        writer.line("%last = OpVariable %function_uint Function %c0");
        writer.line("%ids = OpLoad %uint3 %invocation");
        writer.line("%id = OpCompositeExtract %uint %ids 0");
        let barriers = self.threads.iter().flatten().any(|step| matches!(step, Step::Barrier));
        if barriers {
            // All invocations of a workgroup come to one instruction: the phases are switches of their own.
            for phase in 0..2 {
                writer.line(&format!("OpSelectionMerge %end{phase} None"));
                let cases: String = (0..self.threads.len())
                    .map(|thread| format!(" {thread} %phase{phase}_{thread}"))
                    .collect();
                writer.line(&format!("OpSwitch %id %end{phase}{cases}"));
                for (thread, steps) in self.threads.iter().enumerate() {
                    writer.line(&format!("%phase{phase}_{thread} = OpLabel"));
                    let mut phases = steps.split(|step| matches!(step, Step::Barrier));
                    phases.nth(phase).into_iter().flatten().for_each(|step| writer.step(step));
                    writer.line(&format!("OpBranch %end{phase}"));
                }
                writer.line(&format!("%end{phase} = OpLabel"));
                if phase == 0 {
                    writer.line("OpControlBarrier %c2 %c2 %semantics");
                }
            }
        } else {
            let cases: String =
                (0..self.threads.len()).map(|thread| format!(" {thread} %thread{thread}")).collect();
            writer.line("OpSelectionMerge %end None");
            writer.line(&format!("OpSwitch %id %end{cases}"));
            for (thread, steps) in self.threads.iter().enumerate() {
                writer.line(&format!("%thread{thread} = OpLabel"));
                steps.iter().for_each(|step| writer.step(step));
                writer.line("OpBranch %end");
            }
            writer.line("%end = OpLabel");
        }
        HEADER.replace("LOCAL", &self.local_size.to_string()) + &writer.body + "OpReturn\nOpFunctionEnd\n"
    }
}

impl Step {
    fn results(&self) -> usize {
        match self {
            Step::Load(_)
            | Step::Add(_)
            | Step::Exchange(..)
            | Step::PlainLoad(_)
            | Step::VolatileLoad(_)
            | Step::Divide => 1,
            Step::Store(..)
            | Step::StoreLast(..)
            | Step::PlainStore(..)
            | Step::VolatileStore(..)
            | Step::Await(..)
            | Step::StoreBehind(_)
            | Step::Barrier => 0,
            Step::If(_, step) => step.results(),
        }
    }
}

const HEADER: &str = "OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %invocation %shared %results
OpExecutionMode %main LocalSize LOCAL 1 1
OpDecorate %invocation BuiltIn GlobalInvocationId
OpDecorate %Words ArrayStride 4
OpDecorate %Shared Block
OpMemberDecorate %Shared 0 Offset 0
OpDecorate %Results Block
OpMemberDecorate %Results 0 Offset 0
OpDecorate %shared DescriptorSet 0
OpDecorate %shared Binding 0
OpDecorate %results DescriptorSet 0
OpDecorate %results Binding 1
%void = OpTypeVoid
%void_fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c2 = OpConstant %uint 2
%c3 = OpConstant %uint 3
%c4 = OpConstant %uint 4
%c5 = OpConstant %uint 5
%c6 = OpConstant %uint 6
%c7 = OpConstant %uint 7
%c8 = OpConstant %uint 8
%c9 = OpConstant %uint 9
%c10 = OpConstant %uint 10
%c11 = OpConstant %uint 11
%c12 = OpConstant %uint 12
%c13 = OpConstant %uint 13
%c14 = OpConstant %uint 14
%c15 = OpConstant %uint 15
%volatile = OpConstant %uint 0x8000
%semantics = OpConstant %uint 0x6048
%Words = OpTypeRuntimeArray %uint
%Shared = OpTypeStruct %Words
%Results = OpTypeStruct %Words
%storage_Shared = OpTypePointer StorageBuffer %Shared
%storage_Results = OpTypePointer StorageBuffer %Results
%storage_uint = OpTypePointer StorageBuffer %uint
%input_uint3 = OpTypePointer Input %uint3
%function_uint = OpTypePointer Function %uint
%shared = OpVariable %storage_Shared StorageBuffer
%results = OpVariable %storage_Results StorageBuffer
%invocation = OpVariable %input_uint3 Input
%main = OpFunction %void None %void_fn
%entry = OpLabel
";

struct Writer {
    body: String,
    next: u32,
    /// Words that loads kept so far.
    results: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.body, "{line}").expect("writing to a string");
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%x{}", self.next)
    }

    fn set(&mut self, operation: &str) -> String {
        let id = self.fresh();
        self.line(&format!("{id} = {operation}"));
        id
    }

    fn pointer(&mut self, word: u32) -> String {
        self.set(&format!("OpAccessChain %storage_uint %shared %c0 %c{word}"))
    }

    fn last(&mut self) -> String {
        self.set("OpLoad %uint %last")
    }

    fn keep(&mut self, value: &str) {
        let index = self.fresh();
        // Constants come before functions: the index is counted up.
        self.line(&format!("{index} = OpIAdd %uint %c0 %c{}", self.results % 16));
        let index = match self.results / 16 {
            0 => index,
            more => {
                let sixteens = self.set("OpIAdd %uint %c15 %c1");
                let base = self.set(&format!("OpIMul %uint {sixteens} %c{more}"));
                self.set(&format!("OpIAdd %uint {base} {index}"))
            }
        };
        let pointer = self.set(&format!("OpAccessChain %storage_uint %results %c0 {index}"));
        self.line(&format!("OpStore {pointer} {value}"));
        self.line(&format!("OpStore %last {value}"));
        self.results += 1;
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Load(word) => {
                let pointer = self.pointer(*word);
                let value = self.set(&format!("OpAtomicLoad %uint {pointer} %c1 %c0"));
                self.keep(&value);
            }
            Step::Store(word, value) => {
                let pointer = self.pointer(*word);
                self.line(&format!("OpAtomicStore {pointer} %c1 %c0 %c{value}"));
            }
            Step::Add(word) => {
                let pointer = self.pointer(*word);
                let value = self.set(&format!("OpAtomicIAdd %uint {pointer} %c1 %c0 %c1"));
                self.keep(&value);
            }
            Step::Exchange(word, value) => {
                let pointer = self.pointer(*word);
                let value = self.set(&format!("OpAtomicExchange %uint {pointer} %c1 %c0 %c{value}"));
                self.keep(&value);
            }
            Step::StoreLast(word, more) => {
                let (pointer, last) = (self.pointer(*word), self.last());
                let value = self.set(&format!("OpIAdd %uint {last} %c{more}"));
                self.line(&format!("OpAtomicStore {pointer} %c1 %c0 {value}"));
            }
            Step::PlainLoad(word) => {
                let pointer = self.pointer(*word);
                let value = self.set(&format!("OpLoad %uint {pointer} NonPrivatePointer"));
                self.keep(&value);
            }
            Step::PlainStore(word, value) => {
                let pointer = self.pointer(*word);
                self.line(&format!("OpStore {pointer} %c{value} NonPrivatePointer"));
            }
            Step::VolatileLoad(word) => {
                let pointer = self.pointer(*word);
                let value = self.set(&format!("OpAtomicLoad %uint {pointer} %c1 %volatile"));
                self.keep(&value);
            }
            Step::VolatileStore(word, value) => {
                let pointer = self.pointer(*word);
                self.line(&format!("OpAtomicStore {pointer} %c1 %volatile %c{value}"));
            }
            Step::Await(word, value) => self.wait(*word, *value),
            Step::Divide => {
                let last = self.last();
                let divisor = self.set(&format!("OpISub %uint {last} %c1"));
                let value = self.set(&format!("OpUDiv %uint %c6 {divisor}"));
                self.keep(&value);
            }
            Step::StoreBehind(word) => {
                let last = self.last();
                let index = self.set(&format!("OpIAdd %uint {last} %c{word}"));
                let pointer = self.set(&format!("OpAccessChain %storage_uint %shared %c0 {index}"));
                self.line(&format!("OpAtomicStore {pointer} %c1 %c0 %c1"));
            }
            Step::If(value, step) => {
                let last = self.last();
                let holds = self.set(&format!("OpIEqual %bool {last} %c{value}"));
                let (then, end) = (self.fresh(), self.fresh());
                self.line(&format!("OpSelectionMerge {end} None"));
                self.line(&format!("OpBranchConditional {holds} {then} {end}"));
                self.line(&format!("{then} = OpLabel"));
                self.step(step);
                self.line(&format!("OpBranch {end}"));
                self.line(&format!("{end} = OpLabel"));
            }
            Step::Barrier => unreachable!("phases are split at barriers"),
        }
    }

    fn wait(&mut self, word: u32, value: u32) {
        let pointer = self.pointer(word);
        let (header, body, more, end) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.line(&format!("OpBranch {header}"));
        self.line(&format!("{header} = OpLabel"));
        self.line(&format!("OpLoopMerge {end} {more} None"));
        self.line(&format!("OpBranch {body}"));
        self.line(&format!("{body} = OpLabel"));
        let read = self.set(&format!("OpAtomicLoad %uint {pointer} %c1 %c0"));
        let holds = self.set(&format!("OpIEqual %bool {read} %c{value}"));
        self.line(&format!("OpBranchConditional {holds} {end} {more}"));
        self.line(&format!("{more} = OpLabel"));
        self.line(&format!("OpBranch {header}"));
        self.line(&format!("{end} = OpLabel"));
    }
}
