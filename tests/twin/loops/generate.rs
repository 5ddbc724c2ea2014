//! Random programs with loops, each from a seed.

use super::program::{Action, Condition, Loop, Number, Program, Statement, Step};
use crate::model::{Scope, Semantics};
use crate::program::{
    ControlBarrier, Instruction, Location, Shape, Space, Update, Value, BUFFER_WORDS, UNIFORM, WORKGROUP,
};

/// A source of choices (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// So many times of a hundred.
    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these, by weight.
    fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let mut at = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for &(weight, choice) in choices {
            if at < weight {
                return choice;
            }
            at -= weight;
        }
        unreachable!("the weights are summed up")
    }
}

/// What accesses of a program are like.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// Relaxed atomics alone: nothing races.
    Relaxed,
    /// Atomics that acquire and release.
    Synchronising,
    /// Plain accesses too.
    Mixed,
}

struct Generator {
    dice: Dice,
    shape: Shape,
    style: Style,
    words: usize,
    number: Number,
    /// Reads that the present invocation has made so far.
    known: Vec<Number>,
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let shape = |workgroups, local_size, subgroup_size| Shape { workgroups, local_size, subgroup_size };
    let shape = dice.weighted(&[
        (14, shape(1, 1, 1)),
        (36, shape(2, 1, 1)),
        (14, shape(1, 2, 1)),
        (12, shape(1, 2, 2)),
        (16, shape(3, 1, 1)),
        (8, shape(1, 3, 1)),
    ]);
    let style = dice.weighted(&[(5, Style::Relaxed), (3, Style::Synchronising), (3, Style::Mixed)]);
    let words = dice.weighted(&[(3, 1), (5, 2), (1, 3)]);
    let mut generator = Generator { dice, shape, style, words, number: 0, known: Vec::new() };
    let code = generator.code();
    let mut initial = [0; BUFFER_WORDS];
    if generator.dice.percent(15) {
        initial[generator.dice.below(words)] = 1;
    }
    Program { shape, initial, code }
}

impl Generator {
    fn code(&mut self) -> Vec<Statement> {
        if self.shape.threads() > 1 && self.dice.percent(18) {
            return (0..self.shape.threads()).flat_map(|thread| self.passes_on(thread)).collect();
        }
        // All run the same code, with barriers, or everybody code of its own.
        if self.shape.local_size > 1 && self.dice.percent(50) || self.dice.percent(8) {
            return self.thread(None);
        }
        (0..self.shape.threads())
            .flat_map(|thread| {
                self.known.clear();
                self.thread(Some(thread))
            })
            .collect()
    }

    /// A read, something in between, and a store to where the next one reads: load buffering.
    fn passes_on(&mut self, thread: usize) -> Vec<Statement> {
        self.known.clear();
        self.words = self.words.max(2);
        let place = |word| Location { space: Space::Buffer, word, words: 1 };
        let (from, to) = (place(thread % self.words), place((thread + 1) % self.words));
        let memory = |instruction| Action::Memory { instruction, volatile: false };
        let load = self.atomic(from, Update::Load);
        let mut code = vec![self.numbered(Some(thread), None, memory(load))];
        let read = self.number - 1;
        match self.dice.below(8) {
            0..=2 => code.push(self.numbered(Some(thread), None, Action::Divide(read))),
            3 => code.push(self.looped(Some(thread), false)),
            4 => code.push(self.step(Some(thread), true)),
            _ => {}
        }
        let value = match self.dice.percent(40) {
            true => Value::Sum { read, add: 0 },
            false => Value::Constant(1),
        };
        let guard =
            self.dice.percent(20).then_some(Condition::Register { number: read, equals: 1, negated: false });
        let store = self.atomic(to, Update::Store(value));
        code.push(self.numbered(Some(thread), guard, memory(store)));
        if self.dice.percent(20) {
            code.push(self.looped(Some(thread), false));
        }
        code
    }

    /// Straight code, loops, straight code.
    fn thread(&mut self, only: Option<usize>) -> Vec<Statement> {
        let threads = if only.is_some() { self.shape.threads() } else { 1 };
        let mut code = Vec::new();
        let before = self.dice.weighted(&[(5, 0), (4, 1), (if threads < 3 { 2 } else { 0 }, 2)]);
        for _ in 0..before {
            code.push(self.step(only, true));
        }
        let loops = self.dice.weighted(&[
            (if threads == 1 { 1 } else { 4 }, 0),
            (9, 1),
            (if threads < 3 { 1 } else { 0 }, 2),
        ]);
        for _ in 0..loops {
            code.push(self.looped(only, threads < 3));
        }
        let after = self.dice.weighted(&[(5, 0), (4, 1), (if threads < 3 && loops == 0 { 4 } else { 0 }, 2)]);
        for _ in 0..after {
            code.push(self.step(only, true));
        }
        code
    }

    fn looped(&mut self, only: Option<usize>, may_nest: bool) -> Statement {
        let mut body = Vec::new();
        let steps = self.dice.weighted(&[(1, 0), (9, 1), (6, 2), (1, 3)]);
        for position in 0..steps {
            body.push(if position == 0 && self.dice.percent(70) {
                self.poll(only)
            } else {
                self.step(only, false)
            });
        }
        if only.is_none() && self.dice.percent(60) {
            let at = self.dice.below(body.len() + 1);
            let barrier = self.control();
            body.insert(at, self.numbered(None, None, barrier));
        }
        if may_nest && self.dice.percent(7) {
            let inner = self.looped(only, false);
            body.insert(self.dice.below(body.len() + 1), inner);
        }
        let exit = match self.dice.below(20) {
            0..=2 => None,
            3..=5 => Some(Condition::Undefined),
            _ => Some(self.compared()),
        };
        Statement::Loop(Loop { only, body, exit })
    }

    /// A comparison with what was read last, or before.
    fn compared(&mut self) -> Condition {
        let number = match self.known.len() {
            0 => return Condition::Undefined,
            count if self.dice.percent(80) => self.known[count - 1],
            count => self.known[self.dice.below(count)],
        };
        let equals = self.dice.weighted(&[(3, 0), (6, 1), (2, 2)]);
        Condition::Register { number, equals, negated: self.dice.percent(30) }
    }

    fn numbered(&mut self, only: Option<usize>, guard: Option<Condition>, action: Action) -> Statement {
        let step = Step { number: self.number, only, guard, action };
        self.number += 1;
        if step.reads() {
            self.known.push(step.number);
        }
        Statement::Step(step)
    }

    fn place(&mut self) -> Location {
        let local = self.shape.local_size > 1 && self.dice.percent(12);
        let space = if local { Space::Workgroup } else { Space::Buffer };
        let words = if local { 1 } else { self.words };
        Location { space, word: self.dice.below(words), words: 1 }
    }

    fn semantics(&mut self, acquire: bool, release: bool) -> Semantics {
        let relaxed = match self.style {
            Style::Relaxed => 100,
            Style::Synchronising => 15,
            Style::Mixed => 40,
        };
        if !(acquire || release) || self.dice.percent(relaxed) {
            return Semantics::default();
        }
        let made = self.dice.percent(80);
        Semantics {
            acquire,
            release,
            classes: UNIFORM | WORKGROUP,
            make_available: release && made,
            make_visible: acquire && made,
        }
    }

    fn atomic(&mut self, place: Location, update: Update) -> Instruction {
        let (reads, writes) = match update {
            Update::Load => (true, false),
            Update::Store(_) => (false, true),
            Update::Exchange(_) | Update::Add(_) | Update::CompareExchange { .. } => (true, true),
        };
        let scope =
            self.dice.weighted(&[(12, Scope::Device), (2, Scope::QueueFamily), (1, Scope::Workgroup)]);
        let semantics = self.semantics(reads, writes);
        Instruction::Atomic { place, update, scope, semantics }
    }

    fn value(&mut self, in_loop: bool) -> Value {
        match self.known.last() {
            Some(&read) if self.dice.percent(30) => {
                Value::Sum { read, add: u32::from(!in_loop && self.dice.percent(30)) }
            }
            _ => Value::Constant(self.dice.weighted(&[(1, 0), (6, 1), (3, 2)])),
        }
    }

    /// What a loop may wait with.
    fn poll(&mut self, only: Option<usize>) -> Statement {
        let place = self.place();
        let plain = match self.style {
            Style::Relaxed | Style::Synchronising => 6,
            Style::Mixed => 40,
        };
        let instruction = if self.dice.percent(plain) {
            self.load(place)
        } else {
            let unequal = Semantics::default();
            let compare = Update::CompareExchange { comparator: 2, value: Value::Constant(1), unequal };
            let update = self.dice.weighted(&[
                (12, Update::Load),
                (3, Update::Add(0)),
                (1, Update::Add(1)),
                (1, compare),
                (1, Update::Exchange(Value::Constant(1))),
            ]);
            self.atomic(place, update)
        };
        let volatile = self.dice.percent(12);
        self.numbered(only, None, Action::Memory { instruction, volatile })
    }

    fn load(&mut self, place: Location) -> Instruction {
        let non_private = self.dice.percent(75);
        let visible = (non_private && self.dice.percent(40)).then_some(Scope::Device);
        Instruction::Load { place, non_private, visible }
    }

    fn control(&mut self) -> Action {
        let semantics = match self.dice.percent(75) {
            true => Semantics {
                acquire: true,
                release: true,
                classes: UNIFORM | WORKGROUP,
                make_available: true,
                make_visible: true,
            },
            false => Semantics::default(),
        };
        Action::Control(ControlBarrier { execution: Scope::Workgroup, scope: Scope::Workgroup, semantics })
    }

    /// Anything.
    fn step(&mut self, only: Option<usize>, outside: bool) -> Statement {
        let (thread, guard) = (
            // Of code that all share, some is for one of them.
            only.or_else(|| self.dice.percent(45).then(|| self.dice.below(self.shape.threads()))),
            (!self.known.is_empty() && self.dice.percent(if outside { 20 } else { 10 })).then(|| match self
                .dice
                .percent(12)
            {
                true => Condition::Undefined,
                false => self.compared(),
            }),
        );
        let place = self.place();
        let plain = match self.style {
            Style::Relaxed => 4,
            Style::Synchronising => 25,
            Style::Mixed => 55,
        };
        let is_plain = self.dice.percent(plain);
        #[derive(Clone, Copy)]
        enum Sort {
            Read,
            Write,
            Update,
            Fence,
            Divide,
            Control,
        }
        let divide = if self.known.is_empty() { 0 } else { 3 };
        let control = if only.is_none() && guard.is_none() && thread.is_none() { 5 } else { 0 };
        let sort = self.dice.weighted(&[
            (8, Sort::Read),
            (10, Sort::Write),
            (2, Sort::Update),
            (1, Sort::Fence),
            (divide, Sort::Divide),
            (control, Sort::Control),
        ]);
        let instruction = match sort {
            Sort::Divide => {
                let number = self.known[self.known.len() - 1];
                return self.numbered(thread, guard, Action::Divide(number));
            }
            Sort::Control => {
                let barrier = self.control();
                return self.numbered(None, None, barrier);
            }
            Sort::Read if is_plain => self.load(place),
            Sort::Read => self.atomic(place, Update::Load),
            Sort::Write if is_plain => {
                let non_private = self.dice.percent(75);
                let available = (non_private && self.dice.percent(40)).then_some(Scope::Device);
                Instruction::Store { place, value: self.value(!outside), non_private, available }
            }
            Sort::Write => {
                let value = self.value(!outside);
                self.atomic(place, Update::Store(value))
            }
            Sort::Update => {
                let value = self.value(!outside);
                let unequal = Semantics::default();
                let comparator = self.dice.below(2) as u32;
                let update = self.dice.weighted(&[
                    (2, Update::Add(u32::from(outside))),
                    (2, Update::Exchange(value)),
                    (1, Update::CompareExchange { comparator, value, unequal }),
                ]);
                self.atomic(place, update)
            }
            Sort::Fence => {
                let mut semantics = self.semantics(true, true);
                if semantics == Semantics::default() {
                    let classes = UNIFORM | WORKGROUP;
                    semantics = Semantics { acquire: true, release: true, classes, ..semantics };
                }
                Instruction::Barrier { scope: Scope::Device, semantics }
            }
        };
        let volatile = instruction.place().is_some() && self.dice.percent(5);
        self.numbered(thread, guard, Action::Memory { instruction, volatile })
    }
}
