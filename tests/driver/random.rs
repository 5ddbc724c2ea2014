//! Random programs: arithmetic on local variables and a local array, under branches, loops and switches.

use super::case::words;
use super::text::{Scalar, Text, Type, U32};
use super::values::integers;
use spirv_tv::launch::options::BufferSetting;
use spirv_tv::launch::{Contents, LaunchOptions, Size3, Slot, Target};

const VARIABLES: u32 = 5;
const ARRAY: u32 = 8;
const LOCAL_SIZE: u32 = 8;
const WORKGROUPS: u32 = 2;
const RESULTS: u32 = VARIABLES + ARRAY;

/// The text of a program, and its launch.
pub fn program(seed: u64) -> (String, LaunchOptions) {
    let mut program = Program {
        text: Text::default(),
        random: Random(seed),
        variables: Vec::new(),
        array: String::new(),
        budget: 28,
    };
    program.start();
    while program.budget > 0 {
        program.statement(0, None);
    }
    program.end();
    let invocations = WORKGROUPS * LOCAL_SIZE;
    let edges = integers(32);
    let data: Vec<u8> = (0..VARIABLES * invocations)
        .map(|_| match program.random.below(3) {
            0 => edges[program.random.below(edges.len() as u32) as usize] as u32,
            1 => program.random.below(64),
            _ => program.random.next() as u32,
        })
        .flat_map(u32::to_le_bytes)
        .collect();
    let buffer = |binding, contents| BufferSetting {
        target: Target::Slot(Slot { set: 0, binding, element: None }),
        contents,
    };
    let launch = LaunchOptions {
        workgroups: Some(Size3([WORKGROUPS, 1, 1])),
        buffers: vec![
            buffer(0, Contents::Words(words(&data))),
            buffer(1, Contents::Zeros(RESULTS * invocations)),
        ],
        ..LaunchOptions::default()
    };
    (program.text.finish(LOCAL_SIZE), launch)
}

struct Program {
    text: Text,
    random: Random,
    /// Pointers to the local variables, and to the local array.
    variables: Vec<String>,
    array: String,
    /// Statements left.
    budget: u32,
}

/// Where a loop's body may jump to.
#[derive(Clone)]
struct Around {
    merge: String,
    next: String,
}

impl Program {
    fn start(&mut self) {
        let uint = self.text.ty(U32);
        let pointer = self.text.global(&format!("OpTypePointer Function {uint}"));
        let length = self.text.constant(ARRAY);
        let array = self.text.global(&format!("OpTypeArray {uint} {length}"));
        let zeros = self.text.global(&format!("OpConstantNull {array}"));
        let array_pointer = self.text.global(&format!("OpTypePointer Function {array}"));
        self.array = self.text.local(&array_pointer, &zeros);
        self.variables = (0..VARIABLES).map(|_| self.text.local(&pointer, "")).collect();
        for variable in 0..VARIABLES {
            let address = self.element(0, VARIABLES, variable);
            let value = self.text.op(&uint, "OpLoad", &address);
            self.set(variable, &value);
        }
    }

    fn end(&mut self) {
        let uint = self.text.ty(U32);
        for variable in 0..VARIABLES {
            let value = self.get(variable);
            let address = self.element(1, RESULTS, variable);
            self.text.emit(&format!("OpStore {address} {value}"));
        }
        for index in 0..ARRAY {
            let index_id = self.text.constant(index);
            let place = self.place(&index_id);
            let value = self.text.op(&uint, "OpLoad", &place);
            let address = self.element(1, RESULTS, VARIABLES + index);
            self.text.emit(&format!("OpStore {address} {value}"));
        }
    }

    /// The address of the invocation's element of a buffer.
    fn element(&mut self, binding: u32, count: u32, offset: u32) -> String {
        let uint = self.text.ty(U32);
        let id = self.text.built_in("GlobalInvocationId", Type::new(U32, 3));
        let x = self.text.op(&uint, "OpCompositeExtract", &format!("{id} 0"));
        let (count, offset) = (self.text.constant(count), self.text.constant(offset));
        let first = self.text.op(&uint, "OpIMul", &format!("{x} {count}"));
        let index = self.text.op(&uint, "OpIAdd", &format!("{first} {offset}"));
        let buffer = self.text.buffer(binding, U32);
        let pointer = self.text.global(&format!("OpTypePointer StorageBuffer {uint}"));
        let zero = self.text.constant(0);
        self.text.op(&pointer, "OpAccessChain", &format!("{buffer} {zero} {index}"))
    }

    fn place(&mut self, index: &str) -> String {
        let uint = self.text.ty(U32);
        let pointer = self.text.global(&format!("OpTypePointer Function {uint}"));
        let array = self.array.clone();
        self.text.op(&pointer, "OpInBoundsAccessChain", &format!("{array} {index}"))
    }

    fn get(&mut self, variable: u32) -> String {
        let uint = self.text.ty(U32);
        let pointer = self.variables[variable as usize].clone();
        self.text.op(&uint, "OpLoad", &pointer)
    }

    fn set(&mut self, variable: u32, value: &str) {
        let pointer = self.variables[variable as usize].clone();
        self.text.emit(&format!("OpStore {pointer} {value}"));
    }

    /// A variable's value or a constant.
    fn value(&mut self) -> String {
        if self.random.below(4) > 0 {
            let variable = self.random.below(VARIABLES);
            return self.get(variable);
        }
        let edges = integers(32);
        let value = edges[self.random.below(edges.len() as u32) as usize] as u32;
        self.text.constant(value)
    }

    fn binary(&mut self, opcode: &str, a: &str, b: &str) -> String {
        let uint = self.text.ty(U32);
        self.text.op(&uint, opcode, &format!("{a} {b}"))
    }

    /// A value below a power of two.
    fn below(&mut self, limit: u32) -> String {
        let (value, mask) = (self.value(), self.text.constant(limit - 1));
        self.binary("OpBitwiseAnd", &value, &mask)
    }

    fn condition(&mut self) -> String {
        const COMPARISONS: [&str; 6] = [
            "OpIEqual",
            "OpINotEqual",
            "OpULessThan",
            "OpSLessThan",
            "OpUGreaterThanEqual",
            "OpSGreaterThan",
        ];
        let opcode = COMPARISONS[self.random.below(6) as usize];
        let (a, b) = (self.value(), self.value());
        let bools = self.text.ty(Scalar::Bool);
        self.text.op(&bools, opcode, &format!("{a} {b}"))
    }

    fn expression(&mut self) -> String {
        let (a, b) = (self.value(), self.value());
        let uint = self.text.ty(U32);
        match self.random.below(16) {
            0 | 1 => self.binary("OpIAdd", &a, &b),
            2 => self.binary("OpISub", &a, &b),
            3 => self.binary("OpIMul", &a, &b),
            4 => self.binary("OpBitwiseAnd", &a, &b),
            5 => self.binary("OpBitwiseOr", &a, &b),
            6 => self.binary("OpBitwiseXor", &a, &b),
            choice @ 7..=9 => {
                let opcode = ["OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic"]
                    [choice as usize - 7];
                let amount = self.below(32);
                self.binary(opcode, &a, &amount)
            }
            choice @ 10..=11 => {
                let one = self.text.constant(1);
                let divisor = self.binary("OpBitwiseOr", &b, &one);
                self.binary(["OpUDiv", "OpUMod"][choice as usize - 10], &a, &divisor)
            }
            12 => {
                let condition = self.condition();
                self.text.op(&uint, "OpSelect", &format!("{condition} {a} {b}"))
            }
            13 => self.text.op(&uint, "OpBitCount", &a),
            14 => self.text.op(&uint, "OpNot", &a),
            _ => {
                let index = self.below(ARRAY);
                let place = self.place(&index);
                self.text.op(&uint, "OpLoad", &place)
            }
        }
    }

    fn statement(&mut self, depth: u32, around: Option<&Around>) {
        self.budget = self.budget.saturating_sub(1);
        match self.random.below(if depth < 3 { 12 } else { 7 }) {
            0..=4 => {
                let value = self.expression();
                let variable = self.random.below(VARIABLES);
                self.set(variable, &value);
            }
            5 => {
                let (index, value) = (self.below(ARRAY), self.value());
                let place = self.place(&index);
                self.text.emit(&format!("OpStore {place} {value}"));
            }
            6 => self.leave(around),
            7 | 8 => self.branch(depth, around),
            9 => self.switch(depth, around),
            _ => self.repeat(depth),
        }
    }

    fn block(&mut self, depth: u32, around: Option<&Around>) {
        for _ in 0..=self.random.below(3) {
            self.statement(depth + 1, around);
        }
    }

    /// Leaves the loop, or goes on with its next iteration, on a condition.
    fn leave(&mut self, around: Option<&Around>) {
        let Some(around) = around else { return };
        let target = if self.random.below(2) == 0 { &around.merge } else { &around.next };
        let condition = self.condition();
        let stay = self.text.label();
        self.text.emit(&format!("OpSelectionMerge {stay} None"));
        let out = self.text.label();
        self.text.emit(&format!("OpBranchConditional {condition} {out} {stay}"));
        self.text.open(&out);
        self.text.emit(&format!("OpBranch {target}"));
        self.text.open(&stay);
    }

    fn branch(&mut self, depth: u32, around: Option<&Around>) {
        let condition = self.condition();
        let (yes, no, merge) = (self.text.label(), self.text.label(), self.text.label());
        self.text.emit(&format!("OpSelectionMerge {merge} None"));
        self.text.emit(&format!("OpBranchConditional {condition} {yes} {no}"));
        for label in [yes, no] {
            self.text.open(&label);
            self.block(depth, around);
            self.text.emit(&format!("OpBranch {merge}"));
        }
        self.text.open(&merge);
    }

    fn switch(&mut self, depth: u32, around: Option<&Around>) {
        let selector = self.below(8);
        let labels: Vec<String> = (0..4).map(|_| self.text.label()).collect();
        let merge = self.text.label();
        self.text.emit(&format!("OpSelectionMerge {merge} None"));
        let cases: Vec<String> = [1, 2, 5, 6]
            .iter()
            .zip([0, 1, 2, 1])
            .map(|(value, label)| format!("{value} {}", labels[label]))
            .collect();
        self.text.emit(&format!("OpSwitch {selector} {} {}", labels[3], cases.join(" ")));
        for (index, label) in labels.iter().enumerate() {
            self.text.open(label);
            self.block(depth, around);
            // The first case falls through to the second.
            let target = if index == 0 { &labels[1] } else { &merge };
            self.text.emit(&format!("OpBranch {target}"));
        }
        self.text.open(&merge);
    }

    fn repeat(&mut self, depth: u32) {
        let (uint, bools) = (self.text.ty(U32), self.text.ty(Scalar::Bool));
        let before = self.text.label();
        let [header, test, body, next, merge] = std::array::from_fn(|_| self.text.label());
        self.text.emit(&format!("OpBranch {before}"));
        self.text.open(&before);
        self.text.emit(&format!("OpBranch {header}"));
        self.text.open(&header);
        let (zero, one) = (self.text.constant(0), self.text.constant(1));
        let count = self.random.below(5) + 1;
        let limit = self.text.constant(count);
        let advanced = self.text.label();
        let counter = self.text.op(&uint, "OpPhi", &format!("{zero} {before} {advanced} {next}"));
        self.text.emit(&format!("OpLoopMerge {merge} {next} None"));
        self.text.emit(&format!("OpBranch {test}"));
        self.text.open(&test);
        let condition = self.text.op(&bools, "OpULessThan", &format!("{counter} {limit}"));
        self.text.emit(&format!("OpBranchConditional {condition} {body} {merge}"));
        self.text.open(&body);
        let around = Around { merge: merge.clone(), next: next.clone() };
        self.block(depth, Some(&around));
        let variable = self.random.below(VARIABLES);
        let value = self.get(variable);
        let value = self.binary("OpIAdd", &value, &counter);
        self.set(variable, &value);
        self.text.emit(&format!("OpBranch {next}"));
        self.text.open(&next);
        self.text.emit(&format!("{advanced} = OpIAdd {uint} {counter} {one}"));
        self.text.emit(&format!("OpBranch {header}"));
        self.text.open(&merge);
    }
}

/// The splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }
}
