//! The environment in which many instances of a program run: how they are dealt, and what else the device does meanwhile.

use std::fmt;

/// What stressing workgroups do in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// A write and a write.
    StoreStore,
    /// A write and a read.
    StoreLoad,
    /// A read and a write.
    LoadStore,
    /// A read and a read.
    LoadLoad,
    /// A read-modify-write.
    Update,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 5] =
        [Pattern::StoreStore, Pattern::StoreLoad, Pattern::LoadStore, Pattern::LoadLoad, Pattern::Update];

    const fn name(self) -> &'static str {
        match self {
            Pattern::StoreStore => "ss",
            Pattern::StoreLoad => "sl",
            Pattern::LoadStore => "ls",
            Pattern::LoadLoad => "ll",
            Pattern::Update => "u",
        }
    }
}

/// How many instances run, who plays them, where their locations lie, and who disturbs them.
///
/// Numbers of workgroups, invocations and instances are powers of two, and what deals them are odd factors and offsets
/// modulo these: each is a permutation, whatever the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// Workgroups that play roles: 2 to this power.
    pub workgroups: u32,
    /// Invocations of a workgroup: 2 to this power.
    pub local: u32,
    /// Whether neighbouring workgroups, subgroups and invocations play one instance together; else far ones do.
    pub near: bool,
    /// The factor that shuffles workgroups.
    pub shuffle: u32,
    /// Factors that deal the instances over workgroups, subgroups and invocations.
    pub factors: [u32; 3],
    /// How far the roles of an instance are apart in each, for each step in the number of the role.
    pub offsets: [u32; 3],
    /// The factor that strews the instances over memory.
    pub strew: u32,
    /// Words from one location to the next.
    pub stride: u32,
    /// The locations of an instance lie side by side; else all `x`, then all `y`.
    pub interleaved: bool,
    /// Turns in which an invocation waits for the others of its instance, at most; 0: it does not wait.
    pub spin: u32,
    /// Stressing workgroups.
    pub stress: u32,
    /// Their turns.
    pub stress_turns: u32,
    /// What they do in a turn.
    pub pattern: Pattern,
    /// Words from one stressed place to the next.
    pub stress_stride: u32,
}

/// Words of memory that stressing workgroups work on: 2 to this power.
pub(super) const SCRATCH: u32 = 12;

/// Turns in all that an invocation may take: some devices cut long loops.
const MOST_TURNS: u32 = 1 << 10;

impl Environment {
    /// A random one of at most 2 to the power `most` invocations that play roles, on a device with workgroups of at most
    /// `most_local` invocations and subgroups of `subgroup`, a power of two.
    pub fn random(random: &mut fastrand::Rng, most: u32, most_local: u32, subgroup: u32) -> Environment {
        let largest = most_local.max(1).ilog2().min(8).min(most.saturating_sub(2));
        let least = (subgroup.max(1).ilog2() + 2).min(largest);
        let local = random.u32(least..=largest);
        let stress = [0, 0, 2, 8, 32][random.usize(0..5)];
        let plain = Environment {
            workgroups: most - local,
            local,
            near: random.u32(0..4) == 0,
            shuffle: 1,
            factors: [1; 3],
            offsets: [0; 3],
            strew: 1,
            stride: [1, 4, 16][random.usize(0..3)],
            interleaved: random.bool(),
            spin: [4, 64, 512, MOST_TURNS][random.usize(0..4)],
            stress: 0,
            stress_turns: 0,
            pattern: Pattern::StoreStore,
            stress_stride: 1,
        };
        // Where invocations run one after the other, only those at the same place of their workgroups run at once.
        if random.bool() {
            return plain;
        }
        Environment {
            workgroups: most - local,
            local,
            near: random.u32(0..3) == 0,
            shuffle: [1, 1, 419, 1031][random.usize(0..4)],
            factors: [(); 3].map(|()| [1, 1, 419, 1031, 7][random.usize(0..5)]),
            offsets: [random.u32(0..4), random.u32(0..4), [0, 0, 1, random.u32(0..256)][random.usize(0..4)]],
            strew: [1, 1, 419, 1031, 65_537][random.usize(0..5)],
            stride: [1, 1, 2, 4, 16][random.usize(0..5)],
            interleaved: random.bool(),
            spin: [0, 0, 4, 64, 512][random.usize(0..5)].min(MOST_TURNS),
            stress,
            stress_turns: [16, 64, 256, MOST_TURNS][random.usize(0..4)],
            pattern: Pattern::ALL[random.usize(0..Pattern::ALL.len())],
            stress_stride: [1, 4, 16, 64][random.usize(0..4)],
        }
    }

    /// The invocations that play roles.
    pub const fn invocations(&self) -> u32 {
        1 << (self.workgroups + self.local)
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Environment { workgroups, local, shuffle, factors, offsets, strew, stride, spin, .. } = self;
        let list = |numbers: &[u32; 3]| numbers.map(|number| number.to_string()).join("/");
        write!(
            f,
            "{} workgroups of {}, {}, shuffle {shuffle}, factors {}, offsets {}, strew {strew}, stride {stride}{}, spin {spin}",
            1_u64 << workgroups,
            1_u64 << local,
            if self.near { "near" } else { "far" },
            list(factors),
            list(offsets),
            if self.interleaved { " interleaved" } else { "" },
        )?;
        if self.stress > 0 {
            let Environment { stress, stress_turns, stress_stride, pattern, .. } = self;
            write!(f, ", stress {stress}x{stress_turns}:{}:{stress_stride}", pattern.name())?;
        }
        Ok(())
    }
}
