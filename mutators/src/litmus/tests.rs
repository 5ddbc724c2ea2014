//! Every shape makes valid modules, and instances are dealt as the placement says.

use std::collections::BTreeSet;

use spirv_tv_toolchain::{assemble, validate, TargetEnv, ValidatorOptions};

use super::*;
use crate::{Module, Mutants, WEAKENINGS};

const ENV: TargetEnv = TargetEnv::Vulkan1_3;

const CLASSES: [Class; 5] = [Class::Buffer, Class::Workgroup, Class::Texels, Class::Image, Class::Physical];

fn words(text: &str) -> Vec<u32> {
    let words = assemble(text, Some(ENV)).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    validate(&words, &ValidatorOptions::for_env(ENV)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    words
}

/// Random programs of every shape, with random environments.
fn each(times: usize, mut test: impl FnMut(&Program, &Environment, &Many)) {
    let mut random = fastrand::Rng::with_seed(5);
    for shape in catalogue() {
        for _ in 0..times {
            let program = shape.random(&mut random, &CLASSES, true, true);
            let environment = Environment::random(&mut random, 10, 256, 8);
            match many(&program, &environment, 8) {
                Ok(many) => test(&program, &environment, &many),
                Err(why) => panic!("{}: {why}: {environment}", program.name),
            }
        }
    }
}

#[test]
fn every_shape_makes_valid_modules() {
    let mut names = BTreeSet::new();
    each(6, |program, _, many| {
        words(&alone(program).text);
        words(&many.text);
        names.insert(program.name.clone());
    });
    assert!(names.len() > 200, "{}", names.len());
}

/// Of plain accesses either they themselves or what orders them makes available and visible.
#[test]
fn one_side_makes_available() {
    let mut classes = BTreeSet::new();
    each(8, |program, _, _| {
        let text = alone(program).text;
        let by_accesses = program.name.contains("+accesses");
        assert_eq!(text.contains("Available|NonPrivate"), by_accesses, "{text}");
        let constants =
            text.lines().filter_map(|line| line.split_once(" = OpConstant %uint ")?.1.parse().ok());
        let make = constants.filter(|value: &u32| value & 0x6000 != 0).count();
        assert!(!by_accesses || make == 0, "{text}");
        if by_accesses {
            let lines = text.lines().filter(|line| line.contains("Visible|NonPrivate"));
            classes.extend(lines.map(|line| line.split_whitespace().nth(2).unwrap_or_default().to_owned()));
        }
    });
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), ["OpImageRead", "OpLoad"]);
}

#[test]
fn instances_are_dealt_as_the_placement_says() {
    each(4, |program, environment, many| {
        let mut seats = BTreeSet::new();
        for instance in 0..many.instances {
            let players = many.players(instance);
            for (one, seat) in players.iter().enumerate() {
                assert!(seats.insert(*seat), "{}: two roles at {seat:?}: {environment}", program.name);
                for (other, beside) in players.iter().enumerate().skip(one + 1) {
                    let level = match (seat[0] == beside[0], seat[1] == beside[1]) {
                        (false, _) => Level::Workgroup,
                        (true, false) => Level::Subgroup,
                        (true, true) => Level::Invocation,
                    };
                    let wanted = match (program.placement.between(one, other), many.subgroup_size) {
                        // Where nothing tells subgroups apart, a workgroup is one.
                        (Level::Subgroup, None) => Level::Invocation,
                        (wanted, _) => wanted,
                    };
                    assert_eq!(level, wanted, "{}: {one} and {other} of {instance}", program.name);
                }
            }
        }
        let places: BTreeSet<u32> = (0..many.instances).map(|place| many.instance_at(place)).collect();
        assert_eq!(places.len(), many.instances as usize);
    });
}

#[test]
fn cells_are_outcomes() {
    each(1, |program, _, many| {
        for cell in (0..many.cells()).step_by(7) {
            assert_eq!(many.cell(&many.outcome(program, cell)), cell);
        }
    });
}

/// The tested operations are the same in both modules, by name.
#[test]
fn a_mutant_of_one_module_is_there_in_the_other() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut mutants = 0;
    for shape in catalogue() {
        let program = shape.random(&mut random, &CLASSES, true, true);
        let environment = Environment::random(&mut random, 8, 64, 8);
        let Ok(many) = many(&program, &environment, 8) else { continue };
        let names = |text: &str| {
            let module = Module::load(&words(text), ENV).unwrap();
            let found = Mutants::of(&module, WEAKENINGS, 0).valid;
            found.iter().map(crate::Mutant::name).collect::<BTreeSet<String>>()
        };
        let (few, all) = (names(&alone(&program).text), names(&many.text));
        let is_tested = |name: &&String| !all.contains(*name);
        let missing: Vec<&String> = few.iter().filter(is_tested).collect();
        mutants += few.len();
        // What hands over the registers differs.
        assert!(missing.len() * 2 < few.len().max(3), "{}: {missing:?} of {few:?}", program.name);
    }
    assert!(mutants > 200);
}
