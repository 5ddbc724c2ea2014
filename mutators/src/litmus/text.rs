//! A module as text, written piece by piece.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::program::Order;

/// The text of a module that is being written. Everything is named; declarations are made where they are first used.
#[derive(Debug, Default)]
pub(super) struct Text {
    capabilities: BTreeSet<&'static str>,
    decorations: Vec<String>,
    globals: Vec<String>,
    known: BTreeSet<String>,
    interface: Vec<String>,
    functions: String,
    next: u32,
    addressing: Addressing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Addressing {
    #[default]
    Logical,
    Physical,
}

impl Text {
    /// A module with the types that all of them have.
    pub(super) fn new() -> Text {
        let mut text = Text::default();
        text.capability("Shader");
        text.capability("VulkanMemoryModel");
        text.global("%void = OpTypeVoid");
        text.global("%bool = OpTypeBool");
        text.global("%uint = OpTypeInt 32 0");
        text.global("%code = OpTypeFunction %void");
        text
    }

    /// Declares a capability.
    pub(super) fn capability(&mut self, name: &'static str) {
        self.capabilities.insert(name);
    }

    /// Makes it a module with physical pointers to storage buffers.
    pub(super) fn with_pointers(&mut self) {
        self.addressing = Addressing::Physical;
        self.capability("PhysicalStorageBufferAddresses");
        self.capability("Int64");
    }

    /// Adds a decoration.
    pub(super) fn decorate(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.decorations.contains(&line) {
            self.decorations.push(line);
        }
    }

    /// Adds a declaration, once.
    pub(super) fn global(&mut self, line: impl Into<String>) {
        let line = line.into();
        if self.known.insert(line.clone()) {
            self.globals.push(line);
        }
    }

    /// Adds a variable of a storage class, which the entry point names.
    pub(super) fn variable(&mut self, name: &str, class: &str, of: &str, initial: Option<&str>) {
        let pointer = self.pointer(class, of);
        self.global(format!("{name} = OpVariable {pointer} {class} {}", initial.unwrap_or_default()));
        if !self.interface.iter().any(|known| known == name) {
            self.interface.push(name.to_owned());
        }
    }

    /// The type of pointers to `of` in a storage class.
    pub(super) fn pointer(&mut self, class: &str, of: &str) -> String {
        let name = format!("%{class}_{}", of.trim_start_matches('%'));
        self.global(format!("{name} = OpTypePointer {class} {of}"));
        name
    }

    /// A constant of 32 bits.
    pub(super) fn uint(&mut self, value: u32) -> String {
        let name = format!("%u_{value}");
        self.global(format!("{name} = OpConstant %uint {value}"));
        name
    }

    /// A storage buffer of words at a binding of set 0.
    pub(super) fn words(&mut self, name: &str, binding: u32) {
        self.global("%words = OpTypeRuntimeArray %uint");
        self.global("%Words = OpTypeStruct %words");
        self.decorate("OpDecorate %words ArrayStride 4");
        self.decorate("OpDecorate %Words Block");
        self.decorate("OpMemberDecorate %Words 0 Offset 0");
        self.decorate(format!("OpDecorate {name} DescriptorSet 0"));
        self.decorate(format!("OpDecorate {name} Binding {binding}"));
        self.variable(name, "StorageBuffer", "%Words", None);
    }

    /// A name that nothing has.
    pub(super) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%t{}", self.next)
    }

    /// Adds an instruction of a function.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        // A string takes whatever is written.
        let _ = writeln!(self.functions, "{}", line.as_ref());
    }

    /// Adds an instruction with a result, whose name comes back.
    pub(super) fn value(&mut self, rest: impl AsRef<str>) -> String {
        let name = self.fresh();
        self.line(format!("{name} = {}", rest.as_ref()));
        name
    }

    /// Arithmetic on words: `OpIAdd`, two operands.
    pub(super) fn arithmetic(&mut self, op: &str, left: &str, right: &str) -> String {
        self.value(format!("{op} %uint {left} {right}"))
    }

    /// The same with a constant.
    pub(super) fn with_constant(&mut self, op: &str, left: &str, right: u32) -> String {
        let right = self.uint(right);
        self.arithmetic(op, left, &right)
    }

    /// A pointer to a word of a buffer of words.
    pub(super) fn word(&mut self, buffer: &str, index: &str) -> String {
        let (pointer, zero) = (self.pointer("StorageBuffer", "%uint"), self.uint(0));
        self.value(format!("OpAccessChain {pointer} {buffer} {zero} {index}"))
    }

    /// The value of a variable of a word.
    pub(super) fn load(&mut self, variable: &str) -> String {
        self.value(format!("OpLoad %uint {variable}"))
    }

    /// The constant of an order's semantics for these storage classes, whose memory it makes available and visible if it `makes`.
    pub(super) fn semantics(&mut self, order: Order, classes: u32, makes: bool) -> String {
        let [available, visible] = if makes { [0x2000, 0x4000] } else { [0, 0] };
        let bits = match order {
            Order::Relaxed => 0,
            Order::Acquire => 0x2 | classes | visible,
            Order::Release => 0x4 | classes | available,
            Order::AcquireRelease => 0x8 | classes | available | visible,
        };
        self.uint(bits)
    }

    /// Code that runs where a condition holds.
    pub(super) fn when(&mut self, condition: &str, body: impl FnOnce(&mut Text)) {
        let (then, end) = (self.fresh(), self.fresh());
        self.line(format!("OpSelectionMerge {end} None"));
        self.line(format!("OpBranchConditional {condition} {then} {end}"));
        self.line(format!("{then} = OpLabel"));
        body(self);
        self.line(format!("OpBranch {end}"));
        self.line(format!("{end} = OpLabel"));
    }

    /// Code that runs `bound` times, or until it says that it is done: `body` may give a condition to go on. The count is in
    /// a variable of the module, so that the code of a turn may have blocks.
    pub(super) fn repeat(
        &mut self,
        counter: &str,
        bound: &str,
        body: impl FnOnce(&mut Text) -> Option<String>,
    ) {
        let labels: Vec<String> = (0..5).map(|_| self.fresh()).collect();
        let [head, test, turn, next, end] = &labels[..] else { return };
        let zero = self.uint(0);
        self.line(format!("OpStore {counter} {zero}"));
        self.line(format!("OpBranch {head}"));
        self.line(format!("{head} = OpLabel"));
        self.line(format!("OpLoopMerge {end} {next} None"));
        self.line(format!("OpBranch {test}"));
        self.line(format!("{test} = OpLabel"));
        let count = self.load(counter);
        let goes_on = self.value(format!("OpULessThan %bool {count} {bound}"));
        self.line(format!("OpBranchConditional {goes_on} {turn} {end}"));
        self.line(format!("{turn} = OpLabel"));
        match body(self) {
            None => self.line(format!("OpBranch {next}")),
            Some(condition) => self.line(format!("OpBranchConditional {condition} {next} {end}")),
        }
        self.line(format!("{next} = OpLabel"));
        let count = self.load(counter);
        let more = self.with_constant("OpIAdd", &count, 1);
        self.line(format!("OpStore {counter} {more}"));
        self.line(format!("OpBranch {head}"));
        self.line(format!("{end} = OpLabel"));
    }

    /// Begins a function.
    pub(super) fn begin(&mut self, name: &str) {
        self.line(format!("{name} = OpFunction %void None %code"));
        let entry = self.fresh();
        self.line(format!("{entry} = OpLabel"));
    }

    /// Ends a function.
    pub(super) fn end(&mut self) {
        self.line("OpReturn");
        self.line("OpFunctionEnd");
    }

    /// The whole module, with the entry point `%main` and so many invocations in a workgroup.
    pub(super) fn finish(self, local_size: u32) -> String {
        let addressing = match self.addressing {
            Addressing::Logical => "Logical",
            Addressing::Physical => "PhysicalStorageBuffer64",
        };
        let capabilities = self.capabilities.iter().map(|name| format!("OpCapability {name}"));
        let entry = format!("OpEntryPoint GLCompute %main \"main\" {}", self.interface.join(" "));
        let head = [
            format!("OpMemoryModel {addressing} Vulkan"),
            entry,
            format!("OpExecutionMode %main LocalSize {local_size} 1 1"),
        ];
        let lines = capabilities.chain(head).chain(self.decorations).chain(self.globals);
        let mut text: String = lines.map(|line| line + "\n").collect();
        text.push_str(&self.functions);
        text
    }
}
