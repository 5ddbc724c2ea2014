use super::{generator, Generator, GENERATORS};
use spirv_tv_toolchain::{disassemble, validate, TargetEnv, ValidatorOptions};

/// Seeds of each generator whose programs are validated.
const SEEDS: std::ops::Range<u64> = 0..60;

fn of_all(test: impl Fn(&dyn Generator, u64)) {
    for generator in GENERATORS {
        SEEDS.for_each(|seed| test(*generator, seed));
    }
}

#[test]
fn programs_are_valid() {
    let options = ValidatorOptions::for_env(TargetEnv::Vulkan1_3);
    of_all(|generator, seed| {
        let program = generator.generate(seed);
        if let Err(message) = validate(&program.words, &options) {
            let text = disassemble(&program.words).unwrap_or_default();
            panic!("{} {seed}: {message}\n{text}", generator.name());
        }
    });
}

#[test]
fn the_seed_decides() {
    for generator in GENERATORS {
        assert_eq!(generator.generate(3), generator.generate(3), "{}", generator.name());
        assert_ne!(generator.generate(3).words, generator.generate(4).words, "{}", generator.name());
    }
}

#[test]
fn names_are_unique_and_found() {
    for (index, one) in GENERATORS.iter().enumerate() {
        assert!(GENERATORS[..index].iter().all(|other| other.name() != one.name()), "{}", one.name());
        assert_eq!(generator(one.name()).map(Generator::name), Some(one.name()));
        assert!(!one.about().is_empty());
    }
    assert!(generator("no such name").is_none());
}
