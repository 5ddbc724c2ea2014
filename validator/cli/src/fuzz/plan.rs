//! Which cases there are: each follows from the seed and its number alone.

use spirv_tv_toolchain::passes::{Argument, Class, PASSES};

use super::arguments::{DriverArguments, Kind};

/// What is done to a program before it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Nothing.
    None,
    /// Some of its synchronisation is taken away, so that it has more outcomes: does the device show them?
    Weakened,
    /// It is rewritten so many times; what it does stays the same.
    Rewritten(usize),
    /// It is optimised by the bundled spirv-opt with these flags.
    Optimised(Vec<String>),
}

impl Treatment {
    /// It in words, before it is known what exactly is done.
    pub(super) fn name(&self) -> String {
        match self {
            Treatment::None => "as it is".to_owned(),
            Treatment::Weakened => "weakened".to_owned(),
            Treatment::Rewritten(_) => "rewritten".to_owned(),
            Treatment::Optimised(flags) => format!("spirv-opt {}", flags.join(" ")),
        }
    }
}

/// A case before it is made.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// Its name, which is unique.
    pub(super) name: String,
    /// Its kind.
    pub(super) kind: Kind,
    /// What is done to the program.
    pub(super) treatment: Treatment,
    /// What it is made from.
    pub(super) random: fastrand::Rng,
}

/// Every case.
#[derive(Debug)]
pub(super) struct Plan {
    seed: u64,
    kinds: Vec<Kind>,
}

/// The fraction of the golden ratio in 64 bits: neighbouring numbers come far from each other.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Plan {
    /// The cases that the command line asks for.
    pub(super) fn of(arguments: &DriverArguments) -> Plan {
        let mut kinds = match arguments.only.is_empty() {
            true => vec![Kind::Concurrent, Kind::Generated, Kind::Modules],
            false => arguments.only.clone(),
        };
        kinds.retain(|kind| *kind != Kind::Modules || !arguments.modules.is_empty());
        Plan { seed: arguments.seed, kinds }
    }

    /// Whether there are cases of this kind.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The case of a number.
    pub(super) fn case(&self, number: u64) -> Option<Planned> {
        let mut random = fastrand::Rng::with_seed(self.seed.wrapping_add(number.wrapping_mul(GOLDEN)));
        let kind = *self.kinds.get(random.usize(0..self.kinds.len().max(1)))?;
        let is_concurrent = kind == Kind::Concurrent;
        let treatment = match random.u32(0..10) {
            0..=4 => Treatment::None,
            5 | 6 if is_concurrent => Treatment::Weakened,
            5..=7 => Treatment::Rewritten(random.usize(1..4)),
            _ => Treatment::Optimised(flags(&mut random)),
        };
        Some(Planned { name: format!("{}-{number:06}", kind.name()), kind, treatment, random })
    }
}

/// spirv-opt's own lists of passes, or some passes in a random order.
fn flags(random: &mut fastrand::Rng) -> Vec<String> {
    match random.u32(0..4) {
        0 => vec!["-O".to_owned()],
        1 => vec!["-Os".to_owned()],
        _ => {
            // Others change what a module does by design, or take arguments that depend on the module.
            let keeps = |pass: &&spirv_tv_toolchain::passes::Pass| {
                !matches!(pass.class, Class::Changing) && pass.argument == Argument::None
            };
            let passes: Vec<&str> = PASSES.iter().filter(keeps).map(|pass| pass.flag).collect();
            let count = random.usize(1..6);
            let chosen = (0..count).filter_map(|_| passes.get(random.usize(0..passes.len().max(1))));
            chosen.map(|flag| (*flag).to_owned()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_follow_from_seed_and_number() {
        let plan = |seed| Plan { seed, kinds: vec![Kind::Concurrent, Kind::Generated] };
        let told = |plan: &Plan| -> Vec<String> {
            let cases = (0..200).filter_map(|number| plan.case(number));
            cases.map(|case| format!("{} {}", case.name, case.treatment.name())).collect()
        };
        assert_eq!(told(&plan(1)), told(&plan(1)));
        assert_ne!(told(&plan(1)), told(&plan(2)));
        let all = told(&plan(1)).join("\n");
        for part in
            ["concurrent-", "generated-", "as it is", "weakened", "rewritten", "spirv-opt -O", "spirv-opt --"]
        {
            assert!(all.contains(part), "{part}");
        }
        assert!(Plan { seed: 0, kinds: Vec::new() }.case(0).is_none());
    }
}
