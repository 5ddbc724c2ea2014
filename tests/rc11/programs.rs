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
    Load {
        at: usize,
        mode: Mode,
        register: usize,
    },
    Store {
        at: usize,
        mode: Mode,
        value: Value,
    },
    Add {
        at: usize,
        mode: Mode,
        amount: u32,
        register: usize,
    },
    Exchange {
        at: usize,
        mode: Mode,
        value: Value,
        register: usize,
    },
    CompareExchange {
        at: usize,
        equal: Mode,
        unequal: Mode,
        expected: u32,
        value: u32,
        register: usize,
    },
    Fence(Mode),
    /// Loads until it reads something else than zero.
    Await {
        at: usize,
        mode: Mode,
        register: usize,
    },
    If {
        register: usize,
        equals: u32,
        then: Vec<Step>,
    },
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

/// The same with modes (`p`lain, rela`x`ed, `a`cquire, `r`elease, `b`oth, `s`equentially consistent) and fences (`F`),
/// where each rule of the model makes a difference.
const TUNED: [&str; 18] = [
    // Fences release and acquire.
    "Wxp F.r Wyx | Ryx F.a Rxp",
    "Wxx F.b Wyx | Ryx F.b Rxx",
    "Wxp F.s Wyx | Rya Rxp",
    // Release sequences: an update, a store of the invocation itself.
    "Wxp Wyr | Uyx | Rya Rxp",
    "Wxx Wyr | Uyx | Rya Rxx",
    "Wxp Wyr Wyx | Rya Rxp",
    "Wxx Wyr Wyx | Rya Rxx",
    // psc by sb, rb and mo alone.
    "Wxs Rys | Wys Rxs",
    "Wxs Wys | Wys Rxs",
    "Wxs Wys | Wys Wxs",
    // hb at one location, and around other locations.
    "Wxr | Rxa Rys | Wys Rxs",
    "Wxs | Rxs Rys | Wys Rxs",
    "Wxs Wzr | Rza Rys | Wys Rxs",
    "Wys Wyr | Rya Rxs | Wxs Rys",
    // Fences and longer ways of eco.
    "Wxx | Rxx F.s Ryx | Wyx F.s Rxx",
    "Wxx F.s Ryx | Wyx F.s Rxx",
    "Wxx F.s Wyx | Ryx F.s Rxx",
    "Wxx F.s Ryx | Wys Rxs",
];

/// The same with `A`, an access that awaits a value. What is awaited is always stored.
const AWAITING: [&str; 6] = [
    "Wxp Wyr | Aya Rxp",
    "Wxx Wyr | Ayx F.a Rxx",
    "Wxp Wyx | Aya Rxp",
    "Wxx Wyr | Aya Wzr | Aza Rxx",
    "Wxs Rys | Wys Axs",
    "Wxs Rzs | Wys Axx F.s Rzx | Wzs Rxs",
];

struct Maker<'r> {
    random: &'r mut Random,
    /// Modes of accesses are mostly of this one's strength.
    strength: Mode,
    fences: usize,
    /// Accesses of x are plain.
    plain: bool,
    /// Some invocation awaits a value: all stores are made, and of values that are not zero.
    awaits: bool,
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
        if !known.is_empty() && !self.awaits && self.random.one_in(8) {
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

    fn access(&mut self, (what, at, given): Access, known: &[usize]) -> Step {
        if what == b'F' {
            return Step::Fence(given.unwrap_or(SequentiallyConsistent));
        }
        if what == b'A' {
            return Step::Await { at, mode: given.unwrap_or(Acquire), register: self.fresh() };
        }
        let mut step = self.any_access(what, at, known);
        if let (Some(given), false) = (given, self.random.one_in(12)) {
            match &mut step {
                Step::Load { mode, .. } | Step::Store { mode, .. } => *mode = given,
                Step::Add { mode, .. } | Step::Exchange { mode, .. } if given != Plain => *mode = given,
                _ => {}
            }
        }
        step
    }

    fn any_access(&mut self, what: u8, at: usize, known: &[usize]) -> Step {
        match what {
            b'W' if !self.awaits && self.random.one_in(10) => self.update(at, known),
            b'R' if self.random.one_in(16) => self.update(at, known),
            b'W' => self.store(at, known),
            b'R' => self.load(at),
            _ => self.update(at, known),
        }
    }

    /// Steps for these accesses; those behind a read may hang on what it returns.
    fn steps(&mut self, accesses: &[Access], known: &[usize], nested: bool) -> Vec<Step> {
        let mut known = known.to_vec();
        let mut steps = Vec::new();
        for (position, access) in accesses.iter().enumerate() {
            if position > 0 && self.random.below(10) < self.fences {
                let fences =
                    [Acquire, Release, AcquireRelease, SequentiallyConsistent, SequentiallyConsistent];
                steps.push(Step::Fence(self.random.pick(&fences)));
            }
            let before = self.registers;
            steps.push(self.access(*access, &known));
            known.extend(before..self.registers);
            let rest = &accesses[position + 1..];
            if self.registers > before && !nested && !self.awaits && !rest.is_empty() && self.random.one_in(4)
            {
                let equals = self.random.pick(&[0, 1, 1, 2, 2]);
                let then = self.steps(rest, &known, true);
                steps.push(Step::If { register: before, equals, then });
                return steps;
            }
        }
        steps
    }
}

/// What is done (`W`, `R`, `U` or `F`), at which location, and in which mode, if that is given.
type Access = (u8, usize, Option<Mode>);

/// The accesses of an invocation of a shape.
fn accesses_of(thread: &str) -> Vec<Access> {
    let access = |word: &str| {
        let bytes = word.as_bytes();
        let mode = bytes.get(2).map(|mode| match mode {
            b'p' => Plain,
            b'x' => Relaxed,
            b'a' => Acquire,
            b'r' => Release,
            b'b' => AcquireRelease,
            _ => SequentiallyConsistent,
        });
        (bytes[0], usize::from(bytes[1].saturating_sub(b'x')), mode)
    };
    thread.split_whitespace().map(access).collect()
}

/// The invocations of a shape; at times with one more read.
fn shaped(random: &mut Random, shapes: &[&str]) -> Vec<Vec<Access>> {
    let mut threads: Vec<Vec<Access>> = random.pick(shapes).split('|').map(accesses_of).collect();
    if random.one_in(4) {
        let thread = random.below(threads.len());
        let position = random.below(threads[thread].len() + 1);
        threads[thread].insert(position, (b'R', random.below(LOCATIONS), None));
    }
    threads
}

/// Accesses of as many invocations as are wanted.
fn random_accesses(random: &mut Random, invocations: usize, most: usize) -> Vec<Vec<Access>> {
    let access = |random: &mut Random| (random.pick(b"WWRRRU"), random.pick(&[0, 0, 1, 1, 2]), None);
    let mut thread = |_| (0..1 + random.below(most)).map(|_| access(random)).collect();
    (0..invocations).map(&mut thread).collect()
}

/// The random program of a seed.
pub fn make(seed: u64) -> Program {
    let random = &mut Random(seed);
    let has_barrier = random.one_in(12);
    let invocations = 2 + random.below(2);
    let phases: Vec<Vec<Vec<Access>>> = match (has_barrier, random.below(3)) {
        (true, _) => (0..2).map(|_| random_accesses(random, invocations, 4 - invocations)).collect(),
        (false, 0) => vec![shaped(random, &SHAPES)],
        (false, 1) if random.one_in(6) => vec![shaped(random, &AWAITING)],
        (false, 1) => vec![shaped(random, &TUNED)],
        (false, _) => vec![random_accesses(random, invocations, 6 - invocations)],
    };
    let has_modes = phases[0].iter().flatten().any(|(.., mode)| mode.is_some());
    let awaits = phases[0].iter().flatten().any(|(what, ..)| *what == b'A');
    let alike = !has_modes && random.one_in(10);
    let one_workgroup = has_barrier || random.one_in(3);
    let strength = random.pick(&[Relaxed, AcquireRelease, SequentiallyConsistent, SequentiallyConsistent]);
    let fences = if has_modes { 0 } else { random.pick(&[0, 0, 3, 6]) };
    let plain = random.one_in(4) || has_barrier;
    let mut maker = Maker { random, strength, fences, plain, awaits, registers: 0, values: 0 };
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
