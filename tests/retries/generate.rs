//! Random programs that retry, probe, hand over and publish, as SPIR-V.

use std::fmt::Write;

/// Words of the buffers.
pub const SHARED: u32 = 5;
pub const RESULTS: u32 = 4;

/// The last word of the shared buffer, which is accessed as plain data.
const DATA: u32 = SHARED - 1;

const NONE: u32 = 0;
const ACQUIRE: u32 = 0x4142;
const ACQUIRE_UNSEEN: u32 = 0x142;
const RELEASE: u32 = 0x2144;
const BOTH: u32 = 0x6148;
const VOLATILE: u32 = 0x8000;

const DEVICE: u32 = 1;
const WORKGROUP: u32 = 2;

/// Numbers that follow from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % u64::from(bound)) as u32
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    fn pick(&mut self, options: &[u32]) -> u32 {
        options[self.below(options.len() as u32) as usize]
    }
}

/// A module, and how it is launched.
pub struct Made {
    pub text: String,
    pub workgroups: u32,
    /// Memory that is undefined at first is read.
    pub undefined: bool,
}

/// What a program may have.
#[derive(Clone, Copy)]
struct Frame {
    invocations: u32,
    /// A word of the workgroup's memory, undefined at first, is among the shared ones.
    undefined: bool,
    scopes: [u32; 4],
    has_volatile: bool,
}

struct Body<'r> {
    random: &'r mut Random,
    frame: Frame,
    code: String,
    names: u32,
}

/// A random module of a seed.
pub fn make(seed: u64) -> Made {
    let random = &mut Random(seed);
    let in_workgroup = random.one_in(3);
    let mixed = random.one_in(6);
    let undefined = in_workgroup && random.one_in(3);
    let frame = Frame {
        invocations: 2 + u32::from(!random.one_in(3)),
        undefined,
        scopes: [DEVICE, DEVICE, DEVICE, if mixed { WORKGROUP } else { DEVICE }],
        has_volatile: random.one_in(5),
    };
    let alike = random.one_in(3);
    let phases = if in_workgroup && random.one_in(4) { 2 } else { 1 };
    let steps = if frame.invocations == 2 { 3 } else { 2 };
    let mut body = Body { random, frame, code: String::new(), names: 0 };
    for phase in 0..phases {
        if phase > 0 {
            body.line("OpControlBarrier %workgroup %workgroup %both");
        }
        match alike {
            true => {
                for _ in 0..1 + body.random.below(steps) {
                    body.step(true);
                }
            }
            false => body.each_its_own(steps),
        }
    }
    let code = body.code;
    let size = if in_workgroup { frame.invocations } else { 1 };
    Made {
        text: module(size, &code),
        workgroups: if in_workgroup { 1 } else { frame.invocations },
        undefined,
    }
}

/// A module with this code, in workgroups of such a size: the only one, or each of one invocation.
pub fn module(size: u32, code: &str) -> String {
    let own = if size > 1 { "LocalInvocationId" } else { "WorkgroupId" };
    HEAD.replace("SIZE", &size.to_string()).replace("OWN", own) + code + TAIL
}

impl Body<'_> {
    fn line(&mut self, text: &str) {
        self.code.push_str(text);
        self.code.push('\n');
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn give(&mut self, text: &str) -> String {
        let name = self.name();
        let _ = writeln!(self.code, "{name} = {text}");
        name
    }

    /// Each invocation has steps of its own.
    fn each_its_own(&mut self, steps: u32) {
        let labels: Vec<String> = (0..self.frame.invocations).map(|_| self.name()).collect();
        let merge = self.name();
        let cases: String = labels.iter().enumerate().map(|(i, label)| format!(" {i} {label}")).collect();
        self.line(&format!("OpSelectionMerge {merge} None\nOpSwitch %own {merge}{cases}"));
        for label in labels {
            self.line(&format!("{label} = OpLabel"));
            for _ in 0..1 + self.random.below(steps) {
                self.step(true);
            }
            self.line(&format!("OpBranch {merge}"));
        }
        self.line(&format!("{merge} = OpLabel"));
    }

    /// A pointer to a shared word.
    fn place(&mut self) -> String {
        if self.frame.undefined && self.random.one_in(2) {
            return "%local".to_owned();
        }
        let word = self.random.below(2);
        if self.random.one_in(6) {
            let word = self.give("OpBitwiseAnd %uint %own %c1");
            return self.give(&format!("OpAccessChain %pointer %shared %c0 {word}"));
        }
        self.give(&format!("OpAccessChain %pointer %shared %c0 %c{word}"))
    }

    fn scope(&mut self) -> u32 {
        let scopes = self.frame.scopes;
        self.random.pick(&scopes)
    }

    /// A value to write.
    fn value(&mut self) -> String {
        match self.random.below(6) {
            0 => self.give("OpIAdd %uint %own %c2"),
            1 => self.give("OpLoad %uint %last"),
            2 => {
                let last = self.give("OpLoad %uint %last");
                self.give(&format!("OpIAdd %uint {last} %c1"))
            }
            other => format!("%c{}", other - 3),
        }
    }

    /// Remembers what was read, and mixes it into the result.
    fn note(&mut self, read: &str) {
        self.line(&format!("OpStore %last {read}"));
        let so_far = self.give("OpLoad %uint %result");
        let more = self.give(&format!("OpIMul %uint {so_far} %c5"));
        let sum = self.give(&format!("OpIAdd %uint {more} {read}"));
        self.line(&format!("OpStore %result {sum}"));
    }

    fn volatile(&mut self) -> u32 {
        if self.frame.has_volatile && self.random.one_in(2) {
            VOLATILE
        } else {
            0
        }
    }

    fn load(&mut self, place: &str, scope: u32) -> String {
        let semantics = self.random.pick(&[NONE, NONE, ACQUIRE, ACQUIRE_UNSEEN]) | self.volatile();
        self.give(&format!("OpAtomicLoad %uint {place} %c{scope} %s{semantics}"))
    }

    fn exchange_if(&mut self, place: &str, scope: u32, value: &str, comparator: &str) -> String {
        let pairs = [(NONE, NONE), (ACQUIRE, ACQUIRE), (BOTH, ACQUIRE), (BOTH, NONE), (RELEASE, NONE)];
        let (equal, unequal) = pairs[self.random.below(pairs.len() as u32) as usize];
        let volatile = self.volatile();
        let (equal, unequal) = (equal | volatile, unequal | volatile);
        self.give(&format!(
            "OpAtomicCompareExchange %uint {place} %c{scope} %s{equal} %s{unequal} {value} {comparator}"
        ))
    }

    /// Does something if a condition holds.
    fn if_true(&mut self, condition: &str, then: impl FnOnce(&mut Self)) {
        let (inside, merge) = (self.name(), self.name());
        self.line(&format!("OpSelectionMerge {merge} None"));
        self.line(&format!("OpBranchConditional {condition} {inside} {merge}\n{inside} = OpLabel"));
        then(self);
        self.line(&format!("OpBranch {merge}\n{merge} = OpLabel"));
    }

    /// Turns of a loop until one says that it was the last.
    fn repeat(&mut self, turn: impl FnOnce(&mut Self) -> String) {
        let [header, inside, again, merge] = [(); 4].map(|()| self.name());
        self.line(&format!("OpBranch {header}\n{header} = OpLabel\nOpLoopMerge {merge} {again} None"));
        self.line(&format!("OpBranch {inside}\n{inside} = OpLabel"));
        let ends = turn(self);
        self.line(&format!("OpBranchConditional {ends} {merge} {again}\n{again} = OpLabel"));
        self.line(&format!("OpBranch {header}\n{merge} = OpLabel"));
    }

    fn step(&mut self, may_nest: bool) {
        let place = self.place();
        let scope = self.scope();
        match self.random.below(if may_nest { 13 } else { 7 }) {
            0 | 1 => {
                let read = self.load(&place, scope);
                self.note(&read);
            }
            2 => {
                let value = self.value();
                let semantics = self.random.pick(&[NONE, RELEASE]);
                self.line(&format!("OpAtomicStore {place} %c{scope} %s{semantics} {value}"));
            }
            3 => {
                let value = self.value();
                let semantics = self.random.pick(&[NONE, RELEASE, ACQUIRE, BOTH]);
                let read =
                    self.give(&format!("OpAtomicExchange %uint {place} %c{scope} %s{semantics} {value}"));
                self.note(&read);
            }
            4 => {
                let semantics = self.random.pick(&[NONE, BOTH]);
                let read = self.give(&format!("OpAtomicIAdd %uint {place} %c{scope} %s{semantics} %c1"));
                self.note(&read);
            }
            5 => {
                let (value, comparator) = (self.value(), self.random.below(3));
                let read = self.exchange_if(&place, scope, &value, &format!("%c{comparator}"));
                self.note(&read);
            }
            6 => self.data(),
            7 | 8 => self.retry(&place, scope, true),
            9 => self.retry(&place, scope, false),
            10 => self.probe(scope),
            11 => {
                let semantics = self.random.pick(&[NONE, BOTH]);
                let read = self.give(&format!("OpAtomicExchange %uint {place} %c{scope} %s{semantics} %c1"));
                let expected = self.random.below(2);
                let handed = self.give(&format!("OpIEqual %bool {read} %c{expected}"));
                self.if_true(&handed, |body| body.step(false));
            }
            _ => self.publish(&place, scope),
        }
    }

    /// `old = load(x); compare_exchange(x, old, new)`, until it succeeds or once.
    fn retry(&mut self, place: &str, scope: u32, again: bool) {
        let value = self.value();
        let keeps = self.random.one_in(3);
        let from_old = self.random.one_in(2);
        let turn = |body: &mut Self| {
            let old = body.load(place, scope);
            let new = match from_old {
                true => body.give(&format!("OpIAdd %uint {old} %c1")),
                false => value.clone(),
            };
            let got = body.exchange_if(place, scope, &new, &old);
            if !again || keeps {
                body.note(&got);
            }
            body.line(&format!("OpStore %last {got}"));
            body.give(&format!("OpIEqual %bool {got} {old}"))
        };
        match again {
            true => self.repeat(turn),
            false => drop(turn(self)),
        }
    }

    /// Looks for a free word from some first one on, and takes it.
    fn probe(&mut self, scope: u32) {
        let first = self.random.below(2);
        let key = self.give("OpIAdd %uint %own %c1");
        self.line(&format!("OpStore %slot %c{first}"));
        self.repeat(|body| {
            let slot = body.give("OpLoad %uint %slot");
            let word = body.give(&format!("OpBitwiseAnd %uint {slot} %c3"));
            let place = body.give(&format!("OpAccessChain %pointer %shared %c0 {word}"));
            let got = body.exchange_if(&place, scope, &key, "%c0");
            body.note(&got);
            let next = body.give(&format!("OpIAdd %uint {slot} %c1"));
            body.line(&format!("OpStore %slot {next}"));
            let free = body.give(&format!("OpIEqual %bool {got} %c0"));
            let last = body.give(&format!("OpUGreaterThan %bool {next} %c3"));
            body.give(&format!("OpLogicalOr %bool {free} {last}"))
        });
    }

    /// A plain access.
    fn data(&mut self) {
        let place = self.give(&format!("OpAccessChain %pointer %shared %c0 %c{DATA}"));
        match self.random.one_in(2) {
            true => {
                let read = self.give(&format!("OpLoad %uint {place} NonPrivatePointer"));
                self.note(&read);
            }
            false => {
                let value = self.value();
                self.line(&format!("OpStore {place} {value} NonPrivatePointer"));
            }
        }
    }

    /// Writes data and says so, or reads it where somebody said so.
    fn publish(&mut self, place: &str, scope: u32) {
        let data = self.give(&format!("OpAccessChain %pointer %shared %c0 %c{DATA}"));
        if self.random.one_in(2) {
            self.line(&format!("OpStore {data} %c3 NonPrivatePointer"));
            self.line(&format!("OpAtomicStore {place} %c{scope} %s{RELEASE} %c2"));
            return;
        }
        let read = self.give(&format!("OpAtomicLoad %uint {place} %c{scope} %s{ACQUIRE}"));
        self.note(&read);
        let said = self.give(&format!("OpIEqual %bool {read} %c2"));
        self.if_true(&said, |body| {
            let read = body.give(&format!("OpLoad %uint {data} NonPrivatePointer"));
            body.note(&read);
        });
    }
}

const HEAD: &str = "OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %id %shared %results %local
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
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c2 = OpConstant %uint 2
%workgroup = OpConstant %uint 2
%c3 = OpConstant %uint 3
%c4 = OpConstant %uint 4
%c5 = OpConstant %uint 5
%s0 = OpConstant %uint 0
%s322 = OpConstant %uint 322
%s16706 = OpConstant %uint 16706
%s8516 = OpConstant %uint 8516
%s24904 = OpConstant %uint 24904
%s32768 = OpConstant %uint 32768
%s33090 = OpConstant %uint 33090
%s49474 = OpConstant %uint 49474
%s41284 = OpConstant %uint 41284
%s57672 = OpConstant %uint 57672
%both = OpConstant %uint 24904
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%blocks = OpTypePointer StorageBuffer %block
%pointer = OpTypePointer StorageBuffer %uint
%shared = OpVariable %blocks StorageBuffer
%results = OpVariable %blocks StorageBuffer
%locals = OpTypePointer Workgroup %uint
%local = OpVariable %locals Workgroup
%private = OpTypePointer Function %uint
%main = OpFunction %void None %function
%entry = OpLabel
%result = OpVariable %private Function %c0
%last = OpVariable %private Function %c0
%slot = OpVariable %private Function %c0
%idp = OpAccessChain %input %id %c0
%own = OpLoad %uint %idp
";

const TAIL: &str = "%left = OpLoad %uint %result
%there = OpAccessChain %pointer %results %c0 %own
OpStore %there %left
OpReturn
OpFunctionEnd
";
