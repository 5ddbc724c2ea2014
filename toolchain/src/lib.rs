//! SPIRV-Tools behind one safe interface: assembler, disassembler, validator and optimiser.
//!
//! With the feature `bundled` (the default) the C++ library is compiled in by the crate `spirv-tools-sys`.
//! The library's assertions are on: an optimiser pass may abort the process, so callers run [`optimize`] in a
//! child process (`spirv_tv::optimise`).
//!
//! Without that feature the crate runs the programs `spirv-as`, `spirv-dis`, `spirv-val` and `spirv-opt` of the
//! `PATH`, through pipes, and forbids `unsafe`. What a program says is then what its version says: an older one
//! does not know some passes, options and environments, and its own message tells so. A program that is
//! missing or crashes is a [`ProgramError`].
//!
//! ```
//! use spirv_tv_toolchain::{assemble, disassemble, optimize, OptimizeOptions};
//!
//! let words = assemble("OpCapability Shader\nOpMemoryModel Logical GLSL450\n", None)?;
//! let optimized = optimize(&words, &["-O".to_owned()], &OptimizeOptions::default())?;
//! assert!(disassemble(&optimized.words)?.contains("OpCapability Shader"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(feature = "bundled"), forbid(unsafe_code))]

#[cfg(feature = "bundled")]
mod bundled;
mod diagnostic;
mod message;
mod optimizer;
pub mod passes;
mod process;
mod program_error;
#[cfg(not(feature = "bundled"))]
mod programs;
mod target_env;
mod text;
mod validator;
mod validator_program;
mod version;

#[cfg(feature = "bundled")]
use bundled as backend;
#[cfg(not(feature = "bundled"))]
use programs as backend;

pub use diagnostic::{Diagnostic, Position};
pub use optimizer::{check_flag, optimize, OptimizeError, OptimizeOptions, Optimized};
pub use passes::{find_pass, pass_flags, preset};
pub use program_error::ProgramError;
pub use target_env::{TargetEnv, UnknownTargetEnv};
pub use text::{assemble, disassemble, disassemble_with, DisassembleOptions};
pub use validator::{validate, UniversalLimit, Validator, ValidatorOptions};
pub use version::{spirv_opt_version, spirv_opt_version_details};
