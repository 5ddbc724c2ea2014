//! Programs with loops as SPIR-V text. Registers are Function variables; in the end every invocation stores them to
//! words of its own in the buffer `results` (binding 0.1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::program::{Action, Condition, Loop, Number, Program, Statement, Step};
use crate::model::{Scope, Semantics};
use crate::program::{Instruction, Location, Space, Update, Value, BUFFER_WORDS, WORKGROUP_WORDS};
use crate::render::{scope_number, semantics_mask};

/// Words of the results; at least one.
pub fn results_length(program: &Program) -> usize {
    (program.shape.threads() * program.reads().len()).max(1)
}

/// The program's text, valid for Vulkan 1.3.
pub fn render(program: &Program) -> String {
    let mut writer = Writer {
        program,
        body: String::new(),
        constants: BTreeSet::from([0, 1, program.shape.local_size as u32, results_length(program) as u32]),
        ids: 0,
        current: BTreeMap::new(),
    };
    writer.constants.extend([BUFFER_WORDS as u32, WORKGROUP_WORDS as u32]);
    writer.statements(&program.code, None);
    writer.results();
    writer.text()
}

const VOLATILE: u32 = 0x8000;

struct Writer<'p> {
    program: &'p Program,
    body: String,
    constants: BTreeSet<u32>,
    ids: usize,
    /// Registers that the present block gave values.
    current: BTreeMap<Number, String>,
}

impl Writer<'_> {
    fn constant(&mut self, value: u32) -> String {
        self.constants.insert(value);
        format!("%c{value}")
    }

    fn fresh(&mut self) -> String {
        self.ids += 1;
        format!("%t{}", self.ids)
    }

    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn label(&mut self, label: &str) {
        self.current.clear();
        self.line(&format!("{label} = OpLabel"));
    }

    fn statements(&mut self, statements: &[Statement], within: Option<usize>) {
        for together in statements.chunk_by(|a, b| a.only() == b.only()) {
            let only = together[0].only().filter(|&only| within != Some(only));
            let Some(only) = only else {
                together.iter().for_each(|statement| self.statement(statement, within));
                continue;
            };
            let (is_this, constant) = (self.fresh(), self.constant(only as u32));
            self.line(&format!("{is_this} = OpIEqual %bool %thread {constant}"));
            self.selection(&is_this, |writer| {
                together.iter().for_each(|statement| writer.statement(statement, Some(only)));
            });
        }
    }

    fn selection(&mut self, condition: &str, then: impl FnOnce(&mut Self)) {
        let (inside, end) = (self.fresh(), self.fresh());
        self.line(&format!("OpSelectionMerge {end} None"));
        self.line(&format!("OpBranchConditional {condition} {inside} {end}"));
        self.label(&inside);
        then(self);
        self.line(&format!("OpBranch {end}"));
        self.label(&end);
    }

    fn statement(&mut self, statement: &Statement, within: Option<usize>) {
        match statement {
            Statement::Step(step) => match step.guard {
                None => self.step(step),
                Some(guard) => {
                    let condition = self.condition(guard);
                    self.selection(&condition, |writer| writer.step(step));
                }
            },
            Statement::Loop(looped) => self.looped(looped, within),
        }
    }

    fn looped(&mut self, looped: &Loop, within: Option<usize>) {
        let (head, body, next, merge) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.line(&format!("OpBranch {head}"));
        self.label(&head);
        self.line(&format!("OpLoopMerge {merge} {next} None"));
        self.line(&format!("OpBranch {body}"));
        self.label(&body);
        self.statements(&looped.body, within.or(looped.only));
        match looped.exit {
            None => self.line(&format!("OpBranch {next}")),
            Some(exit) => {
                let condition = self.condition(exit);
                self.line(&format!("OpBranchConditional {condition} {merge} {next}"));
            }
        }
        self.label(&next);
        self.line(&format!("OpBranch {head}"));
        self.label(&merge);
    }

    fn register(&mut self, number: Number) -> String {
        if let Some(value) = self.current.get(&number) {
            return value.clone();
        }
        if !self.program.reads().contains(&number) {
            return self.constant(0);
        }
        let loaded = self.fresh();
        self.line(&format!("{loaded} = OpLoad %uint %register{number}"));
        loaded
    }

    fn condition(&mut self, condition: Condition) -> String {
        match condition {
            Condition::Undefined => "%undefined".to_owned(),
            Condition::Register { number, equals, negated } => {
                let (value, equals, holds) = (self.register(number), self.constant(equals), self.fresh());
                let compare = if negated { "OpINotEqual" } else { "OpIEqual" };
                self.line(&format!("{holds} = {compare} %bool {value} {equals}"));
                holds
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match &step.action {
            Action::Divide(number) => {
                let (value, difference, quotient) = (self.register(*number), self.fresh(), self.fresh());
                self.line(&format!("{difference} = OpISub %uint %c1 {value}"));
                self.line(&format!("{quotient} = OpUDiv %uint %c1 {difference}"));
            }
            Action::Control(barrier) => {
                let (execution, scope) = (self.scope(barrier.execution), self.scope(barrier.scope));
                let semantics = self.constant(semantics_mask(barrier.semantics));
                self.line(&format!("OpControlBarrier {execution} {scope} {semantics}"));
            }
            Action::Memory { instruction, volatile } => self.instruction(step.number, instruction, *volatile),
        }
    }

    fn scope(&mut self, scope: Scope) -> String {
        self.constant(scope_number(scope))
    }

    fn pointer(&mut self, place: Location) -> String {
        let (pointer, word) = (self.fresh(), self.constant(place.word as u32));
        let (class, base) = match place.space {
            Space::Buffer | Space::Alias => ("storage", "%buffer %c0"),
            Space::Workgroup => ("workgroup", "%local"),
        };
        self.line(&format!("{pointer} = OpAccessChain %{class}_uint {base} {word}"));
        pointer
    }

    fn value(&mut self, value: Value) -> String {
        match value {
            Value::Constant(constant) => self.constant(constant),
            Value::Sum { read, add: 0 } => self.register(read),
            Value::Sum { read, add } => {
                let (value, add, sum) = (self.register(read), self.constant(add), self.fresh());
                self.line(&format!("{sum} = OpIAdd %uint {value} {add}"));
                sum
            }
        }
    }

    fn operands(&mut self, non_private: bool, made: &str, scope: Option<Scope>, volatile: bool) -> String {
        let mut operands = Vec::new();
        if volatile {
            operands.push("Volatile".to_owned());
        }
        if non_private || scope.is_some() {
            operands.push("NonPrivatePointer".to_owned());
        }
        if let Some(scope) = scope {
            let scope = self.scope(scope);
            operands.push(format!("{made} {scope}"));
        }
        match operands.is_empty() {
            true => String::new(),
            false => format!(" {}", operands.join("|")),
        }
    }

    fn keep(&mut self, number: Number, value: String) {
        self.line(&format!("OpStore %register{number} {value}"));
        self.current.insert(number, value);
    }

    fn instruction(&mut self, number: Number, instruction: &Instruction, volatile: bool) {
        match *instruction {
            Instruction::Barrier { scope, semantics } => {
                let (scope, semantics) = (self.scope(scope), self.constant(semantics_mask(semantics)));
                self.line(&format!("OpMemoryBarrier {scope} {semantics}"));
            }
            Instruction::Load { place, non_private, visible } => {
                let pointer = self.pointer(place);
                let operands = self.operands(non_private, "MakePointerVisible", visible, volatile);
                let loaded = self.fresh();
                self.line(&format!("{loaded} = OpLoad %uint {pointer}{operands}"));
                self.keep(number, loaded);
            }
            Instruction::Store { place, value, non_private, available } => {
                let value = self.value(value);
                let pointer = self.pointer(place);
                let operands = self.operands(non_private, "MakePointerAvailable", available, volatile);
                self.line(&format!("OpStore {pointer} {value}{operands}"));
            }
            Instruction::Atomic { place, update, scope, semantics } => {
                self.atomic(number, place, update, (scope, semantics), volatile);
            }
        }
    }

    fn mask(&mut self, semantics: Semantics, volatile: bool) -> String {
        self.constant(semantics_mask(semantics) | if volatile { VOLATILE } else { 0 })
    }

    fn atomic(
        &mut self,
        number: Number,
        place: Location,
        update: Update,
        (scope, semantics): (Scope, Semantics),
        volatile: bool,
    ) {
        let pointer = self.pointer(place);
        let (scope, mask) = (self.scope(scope), self.mask(semantics, volatile));
        let operation = match update {
            Update::Store(value) => {
                let value = self.value(value);
                self.line(&format!("OpAtomicStore {pointer} {scope} {mask} {value}"));
                return;
            }
            Update::Load => format!("OpAtomicLoad %uint {pointer} {scope} {mask}"),
            Update::Exchange(value) => {
                let value = self.value(value);
                format!("OpAtomicExchange %uint {pointer} {scope} {mask} {value}")
            }
            // What changes nothing may be written in several ways.
            Update::Add(0) if number % 2 == 1 => format!("OpAtomicOr %uint {pointer} {scope} {mask} %c0"),
            Update::Add(add) => {
                let add = self.constant(add);
                format!("OpAtomicIAdd %uint {pointer} {scope} {mask} {add}")
            }
            Update::CompareExchange { comparator, value, unequal } => {
                let (value, unequal) = (self.value(value), self.mask(unequal, volatile));
                let comparator = self.constant(comparator);
                format!(
                    "OpAtomicCompareExchange %uint {pointer} {scope} {mask} {unequal} {value} {comparator}"
                )
            }
        };
        let old = self.fresh();
        self.line(&format!("{old} = {operation}"));
        self.keep(number, old);
    }

    /// Each invocation stores its registers to words of its own.
    fn results(&mut self) {
        let reads = self.program.reads();
        let words = self.constant(reads.len() as u32);
        self.line(&format!("%own = OpIMul %uint %thread {words}"));
        for (position, number) in reads.into_iter().enumerate() {
            let value = self.register(number);
            let (position, index, pointer) = (self.constant(position as u32), self.fresh(), self.fresh());
            self.line(&format!("{index} = OpIAdd %uint %own {position}"));
            self.line(&format!("{pointer} = OpAccessChain %storage_uint %results %c0 {index}"));
            self.line(&format!("OpStore {pointer} {value}"));
        }
    }

    fn text(self) -> String {
        let local = self.program.uses_workgroup_memory();
        let mut text = String::new();
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a string");
        line("OpCapability Shader");
        line("OpCapability VulkanMemoryModel");
        line("OpCapability VulkanMemoryModelDeviceScope");
        line("OpMemoryModel Logical Vulkan");
        let interface = if local { " %local" } else { "" };
        line(&format!(
            "OpEntryPoint GLCompute %main \"main\" %local_index %workgroup_id %buffer %results{interface}"
        ));
        line(&format!("OpExecutionMode %main LocalSize {} 1 1", self.program.shape.local_size));
        for decoration in [
            "%local_index BuiltIn LocalInvocationIndex",
            "%workgroup_id BuiltIn WorkgroupId",
            "%Words ArrayStride 4",
            "%Buffer Block",
            "%ResultWords ArrayStride 4",
            "%Results Block",
            "%buffer DescriptorSet 0",
            "%buffer Binding 0",
            "%results DescriptorSet 0",
            "%results Binding 1",
        ] {
            line(&format!("OpDecorate {decoration}"));
        }
        line("OpMemberDecorate %Buffer 0 Offset 0");
        line("OpMemberDecorate %Results 0 Offset 0");
        for (name, declared) in [
            ("void", "Void"),
            ("void_fn", "Function %void"),
            ("bool", "Bool"),
            ("uint", "Int 32 0"),
            ("uint3", "Vector %uint 3"),
        ] {
            line(&format!("%{name} = OpType{declared}"));
        }
        for constant in &self.constants {
            line(&format!("%c{constant} = OpConstant %uint {constant}"));
        }
        line("%undefined = OpUndef %bool");
        line(&format!("%Words = OpTypeArray %uint %c{BUFFER_WORDS}"));
        line("%Buffer = OpTypeStruct %Words");
        line(&format!("%ResultWords = OpTypeArray %uint %c{}", results_length(self.program)));
        line("%Results = OpTypeStruct %ResultWords");
        for (class, pointee) in [("StorageBuffer", "Buffer"), ("StorageBuffer", "Results")] {
            line(&format!("%storage_{pointee} = OpTypePointer {class} %{pointee}"));
        }
        line("%storage_uint = OpTypePointer StorageBuffer %uint");
        line("%input_uint = OpTypePointer Input %uint");
        line("%input_uint3 = OpTypePointer Input %uint3");
        line("%function_uint = OpTypePointer Function %uint");
        line("%local_index = OpVariable %input_uint Input");
        line("%workgroup_id = OpVariable %input_uint3 Input");
        line("%buffer = OpVariable %storage_Buffer StorageBuffer");
        line("%results = OpVariable %storage_Results StorageBuffer");
        if local {
            line(&format!("%Local = OpTypeArray %uint %c{WORKGROUP_WORDS}"));
            line("%workgroup_Local = OpTypePointer Workgroup %Local");
            line("%workgroup_uint = OpTypePointer Workgroup %uint");
            line("%zeros = OpConstantNull %Local");
            line("%local = OpVariable %workgroup_Local Workgroup %zeros");
        }
        line("%main = OpFunction %void None %void_fn");
        line("%entry = OpLabel");
        for number in self.program.reads() {
            line(&format!("%register{number} = OpVariable %function_uint Function %c0"));
        }
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
