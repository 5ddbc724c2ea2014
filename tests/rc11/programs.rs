//! Random small programs: shapes of litmus tests with random modes, and steps that are wholly random.

/// How an access or a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Plain,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

use Mode::{Acquire, AcquireRelease, Plain, Relaxed, Release, SequentiallyConsistent};

/// A value that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Constant(u32),
    Register(usize),
}

/// A step of an invocation. What is read goes to a register, and to the register's word of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Load { at: usize, mode: Mode, register: usize },
    Store { at: usize, mode: Mode, value: Value },
    Add { at: usize, mode: Mode, amount: u32, register: usize },
    Exchange { at: usize, mode: Mode, value: Value, register: usize },
    CompareExchange { at: usize, equal: Mode, unequal: Mode, expected: u32, value: u32, register: usize },
    Fence(Mode),
    If { register: usize, equals: u32, then: Vec<Step> },
}

/// Shared locations.
pub const LOCATIONS: usize = 3;

/// Registers of an invocation.
pub const REGISTERS: usize = 6;

/// By phase, with control barriers in between, and by invocation.
#[derive(Clone, Debug)]
pub struct Program {
    pub phases: Vec<Vec<Vec<Step>>>,
    pub one_workgroup: bool,
}

impl Program {
    pub fn invocations(&self) -> usize {
        self.phases[0].len()
    }
}

/// Numbers that follow from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }
}

/// Invocations with their accesses: `W`, `R` and `U` (an update) of the locations x, y and z.
const SHAPES: [&str; 20] = [
    "Wx Ry | Wy Rx",
    "Wx Ry | Wy Rx",
    "Wx Wy | Ry Rx",
    "Wx Wy | Ry Rx",
    "Rx Wy | Ry Wx",
    "Wx Wy | Wy Wx",
    "Wx Wy | Ry Wx",
    "Wx Wy | Wy Rx",
    "Wx | Rx Wy | Ry Rx",
    "Wx | Rx Ry | Wy Rx",
    "Wx Wy | Ry Wz | Rz Rx",
    "Wx Wy | Uy | Ry Rx",
    "Wx Wy Wy | Ry Rx",
    "Wx Wx | Rx Rx",
    "Ux | Ux | Rx",
    "Wx Ux | Ux Rx",
    "Wx Wx Ry | Wy Wy Rx",
    "Wx Ry Wy | Wy Rx Ry",
    "Wx Wy | Ry Wy | Wy Rx",
    "Wx Rz Wx | Rx Ry | Wy Rx",
];

struct Maker<'r> {
    random: &'r mut Random,
    /// Modes of accesses are mostly of this one's strength.
    strength: Mode,
    fences: usize,
    /// Accesses of x are plain.
    plain: bool,
    registers: usize,
    values: u32,
}

impl Maker<'_> {
    fn strength(&mut self) -> Mode {
        let strong = self.strength;
        let weak = self.random.pick(&[Relaxed, Relaxed, AcquireRelease, SequentiallyConsistent]);
        if self.random.one_in(3) {
            weak
        } else {
            strong
        }
    }

    fn is_plain(&mut self, at: usize) -> bool {
        match at {
            0 => self.plain && !self.random.one_in(8),
            _ => self.random.one_in(40),
        }
    }

    fn mode(&mut self, at: usize, strongest: Mode) -> Mode {
        if self.is_plain(at) {
            return Plain;
        }
        match self.strength() {
            AcquireRelease => strongest,
            other => other,
        }
    }

    fn fresh(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    /// A value that no other write has, or what was read before.
    fn value(&mut self, known: &[usize]) -> Value {
        if !known.is_empty() && self.random.one_in(8) {
            return Value::Register(self.random.pick(known));
        }
        self.values += 1;
        Value::Constant(self.values)
    }

    fn store(&mut self, at: usize, known: &[usize]) -> Step {
        Step::Store { at, mode: self.mode(at, Release), value: self.value(known) }
    }

    fn load(&mut self, at: usize) -> Step {
        Step::Load { at, mode: self.mode(at, Acquire), register: self.fresh() }
    }

    fn update(&mut self, at: usize, known: &[usize]) -> Step {
        let strongest = self.random.pick(&[Acquire, Release, AcquireRelease, AcquireRelease]);
        let mode = match self.strength() {
            AcquireRelease => strongest,
            other => other,
        };
        let register = self.fresh();
        match self.random.below(4) {
            0 => Step::Exchange { at, mode, value: self.value(known), register },
            1 => {
                let unequal = match mode {
                    SequentiallyConsistent => self.random.pick(&[SequentiallyConsistent, Acquire, Relaxed]),
                    Acquire | AcquireRelease => self.random.pick(&[Acquire, Relaxed]),
                    Plain | Relaxed | Release => Relaxed,
                };
                self.values += 1;
                let expected = self.random.below(2) as u32;
                Step::CompareExchange { at, equal: mode, unequal, expected, value: self.values, register }
            }
            _ => Step::Add { at, mode, amount: 1, register },
        }
    }

    fn access(&mut self, what: u8, at: usize, known: &[usize]) -> Step {
        match what {
            b'W' if self.random.one_in(10) => self.update(at, known),
            b'R' if self.random.one_in(16) => self.update(at, known),
            b'W' => self.store(at, known),
            b'R' => self.load(at),
            _ => self.update(at, known),
        }
    }

    /// Steps for these accesses; those behind a read may hang on what it returns.
    fn steps(&mut self, accesses: &[(u8, usize)], known: &[usize], nested: bool) -> Vec<Step> {
        let mut known = known.to_vec();
        let mut steps = Vec::new();
        for (position, (what, at)) in accesses.iter().enumerate() {
            if position > 0 && self.random.below(10) < self.fences {
                let fences = [Acquire, Release, AcquireRelease, SequentiallyConsistent, SequentiallyConsistent];
                steps.push(Step::Fence(self.random.pick(&fences)));
            }
            let before = self.registers;
            steps.push(self.access(*what, *at, &known));
            known.extend(before..self.registers);
            let rest = &accesses[position + 1..];
            if self.registers > before && !nested && !rest.is_empty() && self.random.one_in(4) {
                let equals = self.random.pick(&[0, 1, 1, 2, 2]);
                let then = self.steps(rest, &known, true);
                steps.push(Step::If { register: before, equals, then });
                return steps;
            }
        }
        steps
    }
}

/// The accesses of an invocation of a shape.
fn accesses_of(thread: &str) -> Vec<(u8, usize)> {
    let access = |word: &str| (word.as_bytes()[0], usize::from(word.as_bytes()[1] - b'x'));
    thread.split_whitespace().map(access).collect()
}

/// Accesses of as many invocations as are wanted.
fn random_accesses(random: &mut Random, invocations: usize, most: usize) -> Vec<Vec<(u8, usize)>> {
    let access = |random: &mut Random| (random.pick(b"WWRRRU"), random.pick(&[0, 0, 1, 1, 2]));
    let mut thread = |_| (0..1 + random.below(most)).map(|_| access(random)).collect();
    (0..invocations).map(&mut thread).collect()
}

/// The random program of a seed.
pub fn make(seed: u64) -> Program {
    let random = &mut Random(seed);
    let has_barrier = random.one_in(12);
    let shaped = !random.one_in(3);
    let invocations = 2 + random.below(2);
    let phases: Vec<Vec<Vec<(u8, usize)>>> = match (has_barrier, shaped) {
        (true, _) => (0..2).map(|_| random_accesses(random, invocations, 4 - invocations)).collect(),
        (false, true) => vec![random.pick(&SHAPES).split('|').map(accesses_of).collect()],
        (false, false) => vec![random_accesses(random, invocations, 6 - invocations)],
    };
    let alike = random.one_in(10);
    let one_workgroup = has_barrier || random.one_in(3);
    let strength = random.pick(&[Relaxed, AcquireRelease, SequentiallyConsistent, SequentiallyConsistent]);
    let fences = random.pick(&[0, 0, 3, 6]);
    let plain = random.one_in(4) || has_barrier;
    let mut maker = Maker { random, strength, fences, plain, registers: 0, values: 0 };
    let mut all = Vec::new();
    let mut registers = vec![0; phases[0].len()];
    for phase in &phases {
        let mut made: Vec<Vec<Step>> = Vec::new();
        for (index, accesses) in phase.iter().enumerate() {
            if let (true, Some(first)) = (alike, made.first().cloned()) {
                registers[index] = registers[0];
                made.push(first);
                continue;
            }
            maker.registers = registers[index];
            made.push(maker.steps(accesses, &[], false));
            registers[index] = maker.registers;
        }
        all.push(made);
    }
    Program { phases: all, one_workgroup }
}
