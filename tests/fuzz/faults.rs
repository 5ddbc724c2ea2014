//! The faults of broken devices.

use std::collections::BTreeSet;

use spirv_tv_executor::{Case, Execution};
use spirv_tv_mutators::{Module, Mutant, Mutator, WEAKENINGS, WRONG};
use spirv_tv_toolchain::{assemble, disassemble, TargetEnv};

const ENV: TargetEnv = TargetEnv::Vulkan1_3;

/// A fault.
#[derive(Clone, Copy)]
pub struct Fault {
    pub name: &'static str,
    /// What goes wrong, for people.
    pub what: &'static str,
    how: How,
    /// What modules it goes wrong in.
    trigger: Trigger,
    /// Why lavapipe cannot show it; `None` where it can.
    pub hidden: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum How {
    /// One rewrite of the crate of mutators: by the mutator's name, and a part of the mutant's.
    Mutator(&'static str, &'static str),
    /// Lines of the text, changed one by one.
    Lines(fn(&str) -> Option<String>),
    /// The launch.
    Launch(fn(&mut Case)),
    /// What comes of it.
    Answer(fn(&Case, &mut Vec<u8>)),
}

#[derive(Clone, Copy)]
enum Trigger {
    Always,
    /// The text has this.
    With(&'static str),
    /// It has this so many times.
    Times(&'static str, usize),
    /// It has both.
    Both(&'static str, &'static str),
}

impl Trigger {
    fn holds(self, text: &str) -> bool {
        match self {
            Trigger::Always => true,
            Trigger::With(part) => text.contains(part),
            Trigger::Times(part, least) => text.matches(part).count() >= least,
            Trigger::Both(one, other) => text.contains(one) && text.contains(other),
        }
    }
}

const NO_SCOPES: &str = "lavapipe's atomics and barriers reach every thread, whatever their scope";
const STRONG: &str = "x86-64 keeps the order of stores, and that of loads, and LLVM does not move them there";
const LATE: &str = "x86-64 only lets stores be seen late, which no fence of the Vulkan memory model forbids";
const COHERENT: &str = "memory is that of the processor: nothing has to be made available or visible";

const fn mutator(name: &'static str, what: &'static str, mutator: &'static str, part: &'static str) -> Fault {
    Fault { name, what, how: How::Mutator(mutator, part), trigger: Trigger::Always, hidden: None }
}

const fn when(fault: Fault, name: &'static str, what: &'static str, trigger: Trigger) -> Fault {
    Fault { name, what, trigger, ..fault }
}

const fn hidden(fault: Fault, why: &'static str) -> Fault {
    Fault { hidden: Some(why), ..fault }
}

const SPLIT_ADD: Fault =
    mutator("add-split", "an atomic addition is a load and a store", "update-split", "OpAtomicIAdd");
const BARRIER: Fault = mutator("barrier-dropped", "a control barrier is dropped", "barrier-dropped", "");
const ADD: Fault = mutator("add-wrong", "an addition is another operation", "wrong-operator", "OpIAdd");
const STORE: Fault = mutator("store-dropped", "a store is dropped", "store-dropped", "");
const CONSTANT: Fault =
    mutator("constant-wrong", "an operand is a neighbouring constant", "wrong-constant", "");

/// Every fault.
pub const FAULTS: &[Fault] = &[
    SPLIT_ADD,
    mutator("exchange-split", "an atomic exchange is a load and a store", "update-split", "OpAtomicExchange"),
    mutator(
        "compare-exchange-split",
        "a compare-exchange is a load and a store",
        "update-split",
        "OpAtomicCompareExchange",
    ),
    mutator("or-split", "an atomic or is a load and a store", "update-split", "OpAtomicOr"),
    mutator("maximum-split", "an atomic maximum is a load and a store", "update-split", "OpAtomicUMax"),
    when(
        SPLIT_ADD,
        "add-split-in-loops",
        "an atomic addition in a module with a loop is a load and a store",
        Trigger::Both("OpLoopMerge", "OpAtomicIAdd"),
    ),
    when(
        SPLIT_ADD,
        "add-split-of-texels",
        "an atomic addition is a load and a store where there are texel pointers",
        Trigger::With("OpImageTexelPointer"),
    ),
    when(
        SPLIT_ADD,
        "add-split-of-pointers",
        "an atomic addition is a load and a store where there are physical pointers",
        Trigger::With("OpConvertUToPtr"),
    ),
    BARRIER,
    when(
        BARRIER,
        "barrier-dropped-of-two",
        "a control barrier is dropped where there are two",
        Trigger::Times("OpControlBarrier", 2),
    ),
    when(
        BARRIER,
        "barrier-dropped-in-workgroup-memory",
        "a control barrier is dropped where Workgroup memory is used",
        Trigger::Both("OpControlBarrier", " Workgroup"),
    ),
    mutator("load-above-store", "two accesses change places", "swap", ""),
    mutator("load-above-barrier", "a load moves above a barrier", "swap", "OpControlBarrier"),
    STORE,
    when(
        STORE,
        "store-dropped-behind-switch",
        "a store is dropped where there are two switches",
        Trigger::Times("OpSwitch", 2),
    ),
    mutator("atomic-wrong", "an atomic does another operation", "wrong-atomic", ""),
    ADD,
    when(
        ADD,
        "add-wrong-among-many",
        "an addition is another operation where there are twenty",
        Trigger::Times("OpIAdd", 20),
    ),
    mutator("multiplication-wrong", "a multiplication is another operation", "wrong-operator", "OpIMul"),
    mutator("bits-wrong", "a bitwise operation is another one", "wrong-operator", "OpBitwise"),
    mutator("shift-wrong", "a shift goes the other way or fills in other bits", "wrong-operator", "OpShift"),
    mutator("signedness-wrong", "an operation takes the other signedness", "wrong-signedness", ""),
    mutator("bound-wrong", "a comparison includes the bound, or no longer does", "wrong-bound", ""),
    mutator("comparison-wrong", "a comparison is another one", "wrong-comparison", ""),
    mutator("float-wrong", "a float operation is another one", "wrong-operator", "OpF"),
    mutator("ordered-wrong", "a comparison of floats treats NaN the other way", "wrong-nan", ""),
    CONSTANT,
    when(
        CONSTANT,
        "constant-wrong-with-calls",
        "an operand is a neighbouring constant where three functions are called",
        Trigger::Times("OpFunctionCall", 3),
    ),
    mutator("index-wrong", "an index is a neighbouring one", "wrong-index", ""),
    mutator("component-wrong", "another component is taken", "wrong-component", ""),
    mutator("operands-swapped", "the operands of an operation are swapped", "operands-swapped", ""),
    mutator("operation-skipped", "an operation gives its first operand", "operation-skipped", ""),
    mutator("guard-dropped", "what is guarded by a branch is always executed", "guard-dropped", ""),
    mutator("branch-negated", "a branch goes the other way", "branch-negated", ""),
    mutator("cases-swapped", "two cases of a switch are swapped", "cases-swapped", ""),
    mutator("built-in-zero", "a built-in is 0", "built-in-zero", ""),
    mutator("built-in-wrong", "a built-in is another one", "wrong-built-in", ""),
    mutator("function-wrong", "another function is called", "wrong-function", ""),
    Fault {
        name: "fold-wrong",
        what: "a selection is folded to its second value",
        how: How::Lines(|line| {
            let (result, rest) = line.split_once(" = OpSelect ")?;
            let words: Vec<&str> = rest.split_whitespace().collect();
            let [of, _, _, second] = words[..] else { return None };
            Some(format!("{result} = OpCopyObject {of} {second}"))
        }),
        trigger: Trigger::Times("OpSelect", 4),
        hidden: None,
    },
    Fault {
        name: "negation-lost",
        what: "a negation of integers gives its operand",
        how: How::Lines(|line| {
            line.contains(" = OpSNegate ").then(|| line.replace("OpSNegate", "OpCopyObject"))
        }),
        trigger: Trigger::Always,
        hidden: None,
    },
    Fault {
        name: "not-lost",
        what: "a bitwise complement gives its operand",
        how: How::Lines(|line| line.contains(" = OpNot ").then(|| line.replace("OpNot", "OpCopyObject"))),
        trigger: Trigger::Always,
        hidden: None,
    },
    Fault {
        name: "loop-shortened",
        what: "a loop that counts up to a bound stops one turn earlier",
        how: How::Lines(|line| {
            let is_bound = line.contains("OpULessThanEqual ");
            is_bound.then(|| line.replace("OpULessThanEqual ", "OpULessThan "))
        }),
        trigger: Trigger::With("OpLoopMerge"),
        hidden: None,
    },
    Fault {
        name: "workgroup-forgotten",
        what: "the last workgroup is not run where there are several",
        how: How::Launch(|case| case.workgroups[0] = case.workgroups[0].saturating_sub(1).max(1)),
        trigger: Trigger::Always,
        hidden: None,
    },
    Fault {
        name: "write-lost-at-times",
        what: "the last word of a buffer holds 0 in one of eight answers",
        how: How::Answer(|case, bytes| {
            let is_hit = case.words.iter().fold(0_u32, |sum, word| sum.rotate_left(5) ^ word) % 8 == 0;
            let from = bytes.len().saturating_sub(4);
            bytes[from..].iter_mut().filter(|_| is_hit).for_each(|byte| *byte = 0);
        }),
        trigger: Trigger::Always,
        hidden: None,
    },
    Fault {
        name: "bit-flipped",
        what: "a bit of the first word of each buffer is wrong",
        how: How::Answer(|_, bytes| bytes.iter_mut().take(1).for_each(|byte| *byte ^= 4)),
        trigger: Trigger::Always,
        hidden: None,
    },
    hidden(
        mutator("fence-dropped", "a memory barrier is dropped", "barrier-removed", "OpMemoryBarrier"),
        LATE,
    ),
    hidden(mutator("release-dropped", "an atomic does not release", "weaker-order", "OpAtomicStore"), STRONG),
    hidden(mutator("acquire-dropped", "an atomic does not acquire", "weaker-order", "OpAtomicLoad"), STRONG),
    hidden(mutator("atomic-plain", "an atomic is a plain access", "atomic-to-plain", "OpAtomicLoad"), STRONG),
    hidden(mutator("scope-narrow", "an atomic has a narrower scope", "narrower-scope", ""), NO_SCOPES),
    hidden(mutator("private", "an access is private", "non-private", ""), COHERENT),
    hidden(mutator("not-made-visible", "semantics lack a bit", "semantics-bit", ""), COHERENT),
];

/// The fault of a name.
pub fn find(name: &str) -> Option<Fault> {
    FAULTS.iter().find(|fault| fault.name == name).copied()
}

impl Fault {
    /// The module that the device runs in place of this one; `None`: the same.
    pub fn change(&self, words: &[u32]) -> Option<Vec<u32>> {
        let text = disassemble(words).ok()?;
        if !self.trigger.holds(&text) {
            return None;
        }
        match self.how {
            How::Mutator(name, part) => {
                let module = Module::load(words, ENV).ok()?;
                let is_it =
                    |mutant: &Mutant| mutant.name().contains(part) && mutant.module.validate().is_ok();
                let mutators = WEAKENINGS.iter().chain(WRONG);
                let mut chosen = mutators.filter(|mutator| is_named(**mutator, name));
                chosen.find_map(|mutator| mutator.mutants(&module, 0).find(is_it)).map(|it| it.module.words())
            }
            How::Lines(change) => {
                let mut is_changed = false;
                let lines = text.lines().map(|line| match change(line) {
                    Some(other) => {
                        is_changed = true;
                        other
                    }
                    None => line.to_owned(),
                });
                let text: String = lines.map(|line| line + "\n").collect();
                is_changed.then(|| assemble(&text, Some(ENV)).ok()).flatten()
            }
            How::Launch(_) | How::Answer(_) => None,
        }
    }

    /// The launch that the device makes in place of this one.
    pub fn launch(&self, case: &Case) -> Case {
        let mut case = case.clone();
        if let How::Launch(change) = self.how {
            change(&mut case);
        }
        case
    }

    /// What the device answers in place of this.
    pub fn answer(&self, case: &Case, execution: Execution) -> Execution {
        match (self.how, execution) {
            (How::Answer(change), Execution::Finished(mut all)) => {
                for memory in all.iter_mut().flat_map(|one| &mut one.memory).flatten() {
                    change(case, memory);
                }
                Execution::Finished(all)
            }
            (_, execution) => execution,
        }
    }
}

fn is_named(mutator: &dyn Mutator, name: &str) -> bool {
    mutator.name() == name
}

/// Names are names of folders, too.
pub fn names_are_unique() {
    let names: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), FAULTS.len());
    assert!(FAULTS.len() >= 30);
    for fault in FAULTS {
        if let How::Mutator(name, _) = fault.how {
            let known = WEAKENINGS.iter().chain(WRONG).any(|mutator| is_named(*mutator, name));
            assert!(known, "{}: no mutator is called {name}", fault.name);
        }
    }
}
