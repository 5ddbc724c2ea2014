//! Abstract programs as SPIR-V text. Every thread stores what it reads to words of its own in the
//! buffer `results` (binding 0.1), with plain private stores.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::model::{Scope, Semantics};
use super::program::{
    compared_words, Instruction, Location, Program, Space, Step, Update, Value, BUFFER_WORDS, IMAGE, OUTPUT,
    SECOND_WORD, UNIFORM, WORKGROUP, WORKGROUP_WORDS,
};

/// The program's text, valid for Vulkan 1.3.
pub fn render(program: &Program) -> String {
    let mut writer =
        Writer { program, body: String::new(), constants: BTreeSet::new(), ids: 0, results: 0, shift: None };
    writer.constants.extend([0, 1, (BUFFER_WORDS / 2) as u32, (WORKGROUP_WORDS / 2) as u32]);
    writer.constants.extend([program.shape.local_size as u32, results_length(program)]);
    writer.phases();
    writer.text()
}

/// Length of the results buffer in words; at least one.
pub fn results_length(program: &Program) -> u32 {
    program.result_words().max(1) as u32
}

struct Writer<'p> {
    program: &'p Program,
    body: String,
    constants: BTreeSet<u32>,
    ids: usize,
    /// Results given to reads so far, over the threads before the present one.
    results: usize,
    /// How many words behind the given ones the results of the present thread lie, where several run the same code.
    shift: Option<String>,
}

pub const fn scope_number(scope: Scope) -> u32 {
    match scope {
        Scope::Device => 1,
        Scope::Workgroup => 2,
        Scope::Subgroup => 3,
        Scope::Invocation => 4,
        Scope::QueueFamily => 5,
    }
}

pub fn semantics_mask(semantics: Semantics) -> u32 {
    let order = match (semantics.acquire, semantics.release) {
        (false, false) => 0,
        (true, false) => 0x2,
        (false, true) => 0x4,
        (true, true) => 0x8,
    };
    let bit = |set: bool, mask: u32| if set { mask } else { 0 };
    order
        | bit(semantics.classes & UNIFORM != 0, 0x40)
        | bit(semantics.classes & WORKGROUP != 0, 0x100)
        | bit(semantics.classes & IMAGE != 0, 0x800)
        | bit(semantics.classes & OUTPUT != 0, 0x1000)
        | bit(semantics.make_available, 0x2000)
        | bit(semantics.make_visible, 0x4000)
}

impl Writer<'_> {
    fn constant(&mut self, value: u32) -> String {
        self.constants.insert(value);
        format!("%c{value}")
    }

    fn scope(&mut self, scope: Scope) -> String {
        self.constant(scope_number(scope))
    }

    fn semantics(&mut self, semantics: Semantics) -> String {
        self.constant(semantics_mask(semantics))
    }

    fn fresh(&mut self) -> String {
        self.ids += 1;
        format!("%t{}", self.ids)
    }

    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn phases(&mut self) {
        // Where the results of each thread's reads lie, in order of its instructions.
        let threads = self.program.shape.threads();
        let words = |instruction: &Instruction| match (instruction.reads(), instruction.place()) {
            (true, Some(place)) => place.words,
            _ => 0,
        };
        let mut first_result = vec![0; threads + 1];
        for thread in 0..threads {
            let read: usize = self.program.thread(thread).map(|step| words(&step.instruction)).sum();
            first_result[thread + 1] = first_result[thread] + read;
        }
        let mut given = first_result.clone();
        for (number, phase) in self.program.phases.iter().enumerate() {
            let mut rendered = vec![false; threads];
            for thread in 0..threads {
                if phase.threads[thread].is_empty() || rendered[thread] {
                    continue;
                }
                let alike: Vec<usize> = (thread..threads)
                    .filter(|&other| phase.threads[other] == phase.threads[thread])
                    .filter(|&other| {
                        given[other] - first_result[other] == given[thread] - first_result[thread]
                    })
                    .collect();
                alike.iter().for_each(|&other| rendered[other] = true);
                let condition = self.is_one_of(&alike);
                self.shift = (alike.len() > 1).then(|| self.shift_of(&alike, &first_result));
                self.line(&format!("OpSelectionMerge %end_{number}_{thread} None"));
                self.line(&format!(
                    "OpBranchConditional {condition} %code_{number}_{thread} %end_{number}_{thread}"
                ));
                self.line(&format!("%code_{number}_{thread} = OpLabel"));
                for step in &phase.threads[thread] {
                    self.results = given[thread];
                    self.step(step, first_result[thread]);
                    alike.iter().for_each(|&other| given[other] += words(&step.instruction));
                }
                self.shift = None;
                self.line(&format!("OpBranch %end_{number}_{thread}"));
                self.line(&format!("%end_{number}_{thread} = OpLabel"));
            }
            if let Some(barrier) = phase.barrier {
                let execution = self.scope(barrier.execution);
                let scope = self.scope(barrier.scope);
                let semantics = self.semantics(barrier.semantics);
                self.line(&format!("OpControlBarrier {execution} {scope} {semantics}"));
            }
        }
    }

    /// Whether the present thread is one of these.
    fn is_one_of(&mut self, threads: &[usize]) -> String {
        let mut any: Option<String> = None;
        for &thread in threads {
            let (is_this, constant) = (self.fresh(), self.constant(thread as u32));
            self.line(&format!("{is_this} = OpIEqual %bool %thread {constant}"));
            any = Some(match any {
                None => is_this,
                Some(others) => {
                    let either = self.fresh();
                    self.line(&format!("{either} = OpLogicalOr %bool {others} {is_this}"));
                    either
                }
            });
        }
        any.expect("there is one")
    }

    /// How far the results of the present one of these threads lie behind those of the first.
    fn shift_of(&mut self, threads: &[usize], first_result: &[usize]) -> String {
        let mut shift = self.constant(0);
        for thread in &threads[1..] {
            let (is_this, chosen) = (self.is_one_of(&[*thread]), self.fresh());
            let own = self.constant((first_result[*thread] - first_result[threads[0]]) as u32);
            self.line(&format!("{chosen} = OpSelect %uint {is_this} {own} {shift}"));
            shift = chosen;
        }
        shift
    }

    fn pointer(&mut self, place: Location, wide: bool) -> String {
        let pointer = self.fresh();
        let pair = self.constant(place.word as u32 / 2);
        let component = self.constant(place.word as u32 % 2);
        if wide {
            self.line(&format!("{pointer} = OpAccessChain %storage_ulong %wide %c0 {pair}"));
            return pointer;
        }
        let (class, base) = match place.space {
            Space::Buffer => ("storage", "%buffer %c0"),
            Space::Alias => ("storage", "%alias %c0"),
            Space::Workgroup => ("workgroup", "%local"),
        };
        if place.words == 2 {
            self.line(&format!("{pointer} = OpAccessChain %{class}_uint2 {base} {pair}"));
        } else {
            self.line(&format!("{pointer} = OpAccessChain %{class}_uint {base} {pair} {component}"));
        }
        pointer
    }

    fn result_pointer(&mut self, index: usize) -> String {
        let pointer = self.fresh();
        let mut index = self.constant(index as u32);
        if let Some(shift) = self.shift.clone() {
            let shifted = self.fresh();
            self.line(&format!("{shifted} = OpIAdd %uint {index} {shift}"));
            index = shifted;
        }
        self.line(&format!("{pointer} = OpAccessChain %storage_uint %results %c0 {index}"));
        pointer
    }

    fn keep(&mut self, value: &str) {
        let pointer = self.result_pointer(self.results);
        self.line(&format!("OpStore {pointer} {value}"));
        self.results += 1;
    }

    fn value(&mut self, value: Value, first_result: usize) -> String {
        let known = self.results - first_result;
        match value {
            Value::Constant(constant) => self.constant(constant),
            Value::Sum { add, .. } if known == 0 => self.constant(add),
            Value::Sum { read, add } => {
                let pointer = self.result_pointer(first_result + read % known);
                let (loaded, sum) = (self.fresh(), self.fresh());
                self.line(&format!("{loaded} = OpLoad %uint {pointer}"));
                let add = self.constant(add);
                self.line(&format!("{sum} = OpIAdd %uint {loaded} {add}"));
                sum
            }
        }
    }

    /// Memory operands of a plain access.
    fn operands(&mut self, non_private: bool, operation: &str, scope: Option<Scope>) -> String {
        match (non_private, scope) {
            (false, None) => String::new(),
            (true, None) => " NonPrivatePointer".to_owned(),
            (_, Some(scope)) => {
                let scope = self.scope(scope);
                format!(" NonPrivatePointer|{operation} {scope}")
            }
        }
    }

    fn step(&mut self, step: &Step, first_result: usize) {
        let known = self.results - first_result;
        let guard = step.guard.filter(|_| known > 0);
        let Some(guard) = guard else { return self.instruction(&step.instruction, first_result) };
        let pointer = self.result_pointer(first_result + guard.read % known);
        let (loaded, condition) = (self.fresh(), self.fresh());
        let (then, end) = (self.fresh(), self.fresh());
        let equals = self.constant(guard.equals);
        self.line(&format!("{loaded} = OpLoad %uint {pointer}"));
        self.line(&format!("{condition} = OpIEqual %bool {loaded} {equals}"));
        self.line(&format!("OpSelectionMerge {end} None"));
        self.line(&format!("OpBranchConditional {condition} {then} {end}"));
        self.line(&format!("{then} = OpLabel"));
        self.instruction(&step.instruction, first_result);
        self.line(&format!("OpBranch {end}"));
        self.line(&format!("{end} = OpLabel"));
    }

    fn instruction(&mut self, instruction: &Instruction, first_result: usize) {
        match *instruction {
            Instruction::Barrier { scope, semantics } => {
                let (scope, semantics) = (self.scope(scope), self.semantics(semantics));
                self.line(&format!("OpMemoryBarrier {scope} {semantics}"));
            }
            Instruction::Load { place, non_private, visible } => {
                let pointer = self.pointer(place, false);
                let operands = self.operands(non_private, "MakePointerVisible", visible);
                let loaded = self.fresh();
                if place.words == 2 {
                    self.line(&format!("{loaded} = OpLoad %uint2 {pointer}{operands}"));
                    self.keep_pair(&loaded);
                } else {
                    self.line(&format!("{loaded} = OpLoad %uint {pointer}{operands}"));
                    self.keep(&loaded);
                }
            }
            Instruction::Store { place, value, non_private, available } => {
                let mut stored = self.value(value, first_result);
                if place.words == 2 {
                    stored = self.pair(&stored);
                }
                let pointer = self.pointer(place, false);
                let operands = self.operands(non_private, "MakePointerAvailable", available);
                self.line(&format!("OpStore {pointer} {stored}{operands}"));
            }
            Instruction::Atomic { place, update, scope, semantics } => {
                self.atomic(place, update, scope, semantics, first_result);
            }
        }
    }

    fn atomic(
        &mut self,
        place: Location,
        update: Update,
        scope: Scope,
        semantics: Semantics,
        first_result: usize,
    ) {
        let wide = place.words == 2;
        let pointer = self.pointer(place, wide);
        let (scope, semantics) = (self.scope(scope), self.semantics(semantics));
        let value_type = if wide { "%ulong" } else { "%uint" };
        let operands = match update {
            Update::Store(value) => {
                let value = self.atomic_value(value, wide, first_result);
                self.line(&format!("OpAtomicStore {pointer} {scope} {semantics} {value}"));
                return;
            }
            Update::Load => format!("OpAtomicLoad {value_type} {pointer} {scope} {semantics}"),
            Update::Exchange(value) => {
                let value = self.atomic_value(value, wide, first_result);
                format!("OpAtomicExchange {value_type} {pointer} {scope} {semantics} {value}")
            }
            Update::Add(add) => {
                let mut add = self.constant(add);
                if wide {
                    let narrow = std::mem::replace(&mut add, self.fresh());
                    self.line(&format!("{add} = OpUConvert %ulong {narrow}"));
                }
                format!("OpAtomicIAdd {value_type} {pointer} {scope} {semantics} {add}")
            }
            Update::CompareExchange { comparator, value, unequal } => {
                let value = self.atomic_value(value, wide, first_result);
                let unequal = self.semantics(unequal);
                let compared: Vec<String> = compared_words(comparator, place.words)
                    .into_iter()
                    .map(|word| self.constant(word))
                    .collect();
                let comparator = match &compared[..] {
                    [low, high] => {
                        let pair = self.fresh();
                        self.line(&format!("{pair} = OpCompositeConstruct %uint2 {low} {high}"));
                        self.cast("%ulong", &pair)
                    }
                    _ => compared.concat(),
                };
                format!(
                    "OpAtomicCompareExchange {value_type} {pointer} {scope} {semantics} {unequal} {value} {comparator}"
                )
            }
        };
        let old = self.fresh();
        self.line(&format!("{old} = {operands}"));
        if wide {
            let pair = self.cast("%uint2", &old);
            self.keep_pair(&pair);
        } else {
            self.keep(&old);
        }
    }

    fn atomic_value(&mut self, value: Value, wide: bool, first_result: usize) -> String {
        let value = self.value(value, first_result);
        if !wide {
            return value;
        }
        let pair = self.pair(&value);
        self.cast("%ulong", &pair)
    }

    /// The pair of words that is written where the first is `value`.
    fn pair(&mut self, value: &str) -> String {
        let more = self.constant(SECOND_WORD);
        let (second, pair) = (self.fresh(), self.fresh());
        self.line(&format!("{second} = OpIAdd %uint {value} {more}"));
        self.line(&format!("{pair} = OpCompositeConstruct %uint2 {value} {second}"));
        pair
    }

    fn cast(&mut self, to: &str, value: &str) -> String {
        let cast = self.fresh();
        self.line(&format!("{cast} = OpBitcast {to} {value}"));
        cast
    }

    fn keep_pair(&mut self, pair: &str) {
        for component in 0..2 {
            let word = self.fresh();
            self.line(&format!("{word} = OpCompositeExtract %uint {pair} {component}"));
            self.keep(&word);
        }
    }

    fn text(self) -> String {
        let uses = |space| self.program.uses(space);
        let alias = uses(Space::Alias);
        let wide = self.program.uses_wide_atomics();
        let mut text = String::new();
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a string");
        line("OpCapability Shader");
        line("OpCapability VulkanMemoryModel");
        line("OpCapability VulkanMemoryModelDeviceScope");
        if wide {
            line("OpCapability Int64");
            line("OpCapability Int64Atomics");
        }
        line("OpMemoryModel Logical Vulkan");
        let interface = [("%alias", alias), ("%wide", wide), ("%local", uses(Space::Workgroup))]
            .iter()
            .filter(|(_, used)| *used)
            .map(|(name, _)| format!(" {name}"))
            .collect::<String>();
        line(&format!(
            "OpEntryPoint GLCompute %main \"main\" %local_index %workgroup_id %buffer %results{interface}"
        ));
        line(&format!("OpExecutionMode %main LocalSize {} 1 1", self.program.shape.local_size));
        line("OpDecorate %local_index BuiltIn LocalInvocationIndex");
        line("OpDecorate %workgroup_id BuiltIn WorkgroupId");
        line("OpDecorate %Pairs ArrayStride 8");
        line("OpDecorate %Buffer Block");
        line("OpMemberDecorate %Buffer 0 Offset 0");
        line("OpDecorate %Words ArrayStride 4");
        line("OpDecorate %Results Block");
        line("OpMemberDecorate %Results 0 Offset 0");
        let mut buffers = vec![("buffer", 0), ("results", 1)];
        if alias || wide {
            line("OpDecorate %buffer Aliased");
        }
        if alias {
            buffers.push(("alias", 2));
            line("OpDecorate %alias Aliased");
        }
        if wide {
            // Another variable of the same binding: the same reference.
            buffers.push(("wide", 0));
            line("OpDecorate %wide Aliased");
            line("OpDecorate %WidePairs ArrayStride 8");
            line("OpDecorate %Wide Block");
            line("OpMemberDecorate %Wide 0 Offset 0");
        }
        for (name, binding) in buffers {
            line(&format!("OpDecorate %{name} DescriptorSet 0"));
            line(&format!("OpDecorate %{name} Binding {binding}"));
        }
        line("%void = OpTypeVoid");
        line("%void_fn = OpTypeFunction %void");
        line("%bool = OpTypeBool");
        line("%uint = OpTypeInt 32 0");
        line("%uint2 = OpTypeVector %uint 2");
        line("%uint3 = OpTypeVector %uint 3");
        for constant in &self.constants {
            line(&format!("%c{constant} = OpConstant %uint {constant}"));
        }
        line(&format!("%Pairs = OpTypeArray %uint2 %c{}", BUFFER_WORDS / 2));
        line("%Buffer = OpTypeStruct %Pairs");
        line(&format!("%Words = OpTypeArray %uint %c{}", results_length(self.program)));
        line("%Results = OpTypeStruct %Words");
        line("%storage_Buffer = OpTypePointer StorageBuffer %Buffer");
        line("%storage_Results = OpTypePointer StorageBuffer %Results");
        line("%storage_uint = OpTypePointer StorageBuffer %uint");
        line("%storage_uint2 = OpTypePointer StorageBuffer %uint2");
        line("%input_uint = OpTypePointer Input %uint");
        line("%input_uint3 = OpTypePointer Input %uint3");
        line("%local_index = OpVariable %input_uint Input");
        line("%workgroup_id = OpVariable %input_uint3 Input");
        line("%buffer = OpVariable %storage_Buffer StorageBuffer");
        line("%results = OpVariable %storage_Results StorageBuffer");
        if alias {
            line("%alias = OpVariable %storage_Buffer StorageBuffer");
        }
        if wide {
            line("%ulong = OpTypeInt 64 0");
            line(&format!("%WidePairs = OpTypeArray %ulong %c{}", BUFFER_WORDS / 2));
            line("%Wide = OpTypeStruct %WidePairs");
            line("%storage_Wide = OpTypePointer StorageBuffer %Wide");
            line("%storage_ulong = OpTypePointer StorageBuffer %ulong");
            line("%wide = OpVariable %storage_Wide StorageBuffer");
        }
        if uses(Space::Workgroup) {
            line(&format!("%Local = OpTypeArray %uint2 %c{}", WORKGROUP_WORDS / 2));
            line("%workgroup_Local = OpTypePointer Workgroup %Local");
            line("%workgroup_uint = OpTypePointer Workgroup %uint");
            line("%workgroup_uint2 = OpTypePointer Workgroup %uint2");
            line("%zeros = OpConstantNull %Local");
            line("%local = OpVariable %workgroup_Local Workgroup %zeros");
        }
        line("%main = OpFunction %void None %void_fn");
        line("%entry = OpLabel");
        line("%id = OpLoad %uint %local_index");
        line("%groups = OpLoad %uint3 %workgroup_id");
        line("%group = OpCompositeExtract %uint %groups 0");
        line(&format!("%first = OpIMul %uint %group %c{}", self.program.shape.local_size));
        line("%thread = OpIAdd %uint %first %id");
        text.push_str(&self.body);
        text.push_str("OpReturn\nOpFunctionEnd\n");
        text
    }
}
