//! Without the feature `bundled` the programs on the PATH do what the library does. Each test is skipped where
//! SPIRV-Tools is not installed.

#![cfg(not(feature = "bundled"))]

use spirv_tv_toolchain::{
    assemble, check_flag, disassemble, optimize, spirv_opt_version, validate, OptimizeError, OptimizeOptions,
    Position, ProgramError, ValidatorOptions,
};

const BUSY: &str = include_str!("busy.spvasm");

/// Whether SPIRV-Tools is installed.
fn installed() -> bool {
    let version = spirv_opt_version();
    if let Err(ProgramError::Missing { program }) = &version {
        eprintln!("skipped: {program} is not installed");
        return false;
    }
    assert!(version.expect("a version").starts_with("v20"));
    true
}

#[test]
fn modules_are_assembled_validated_optimised_and_disassembled() {
    if !installed() {
        return;
    }
    let words = assemble(BUSY, None).expect("it assembles");
    assert_eq!(validate(&words, &ValidatorOptions::default()), Ok(()));
    let options =
        OptimizeOptions { validate: Some(ValidatorOptions::default()), ..OptimizeOptions::default() };
    let optimized = optimize(&words, &["-O".to_owned()], &options).expect("the optimiser runs");
    assert_ne!(optimized.words, words);
    assert!(disassemble(&optimized.words).expect("a module").contains("OpEntryPoint"));
}

#[test]
fn errors_keep_their_positions() {
    if !installed() {
        return;
    }
    let error = assemble("OpCapability Shader\n  OpNonsense\n", None).expect_err("it does not assemble");
    assert_eq!(error.position, Position::Text { line: 2, column: 3 });
    assert_eq!(error.program, None);
    let words = assemble("OpCapability Shader\nOpCapability Shader\n", None).expect("it assembles");
    let error = validate(&words, &ValidatorOptions::default()).expect_err("it has no memory model");
    assert!(!error.message.starts_with("error"), "{error}");
}

#[test]
fn wrong_flags_and_options_of_the_program_are_refused() {
    if !installed() {
        return;
    }
    assert_eq!(check_flag("--ccp"), Ok(()));
    for flag in ["--nonsense", "--loop-fission=0", "-o", "ccp"] {
        assert!(matches!(check_flag(flag), Err(OptimizeError::Flag { .. })), "{flag}");
    }
}
