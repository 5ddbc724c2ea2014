//! Programs as strategies of proptest.

use proptest::prelude::{any, Strategy};
use proptest::sample::select;

use super::{Generator, Program, GENERATORS};

/// The programs of a generator, each with its seed. They do not shrink: programs of other seeds are no smaller.
pub fn programs(generator: &'static dyn Generator) -> impl Strategy<Value = (u64, Program)> {
    any::<u64>().no_shrink().prop_map(move |seed| (seed, generator.generate(seed))).boxed()
}

/// The programs of all generators, each with the name of its generator and its seed.
pub fn any_program() -> impl Strategy<Value = (&'static str, u64, Program)> {
    let generators: Vec<usize> = (0..GENERATORS.len()).collect();
    (select(generators), any::<u64>()).no_shrink().prop_map(|(index, seed)| {
        let generator = GENERATORS[index];
        (generator.name(), seed, generator.generate(seed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest, ProptestConfig};
    use spirv_tv_toolchain::{validate, TargetEnv, ValidatorOptions};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_seed_gives_a_valid_program((name, seed, program) in any_program()) {
            let valid = validate(&program.words, &ValidatorOptions::for_env(TargetEnv::Vulkan1_3));
            prop_assert!(valid.is_ok(), "{name} {seed}: {valid:?}");
            prop_assert!(program.buffers.iter().all(|buffer| buffer.bytes.len() % 4 == 0), "{name} {seed}");
        }

        #[test]
        fn a_seed_gives_the_same_program_again((seed, program) in programs(GENERATORS[0])) {
            prop_assert_eq!(GENERATORS[0].generate(seed), program);
        }
    }
}
