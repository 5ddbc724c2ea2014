//! SPIRV-Tools behind one safe interface: assembler, disassembler, validator and optimiser.
//!
//! The C++ library is compiled in by the crate `spirv-tools-sys`; this crate calls its C interface
//! and owns every `unsafe` block of the workspace. The library's assertions are on: an optimiser pass
//! may abort the process, so callers run [`optimize`] in a child process (`spirv_tv::optimise`).

mod context;
mod diagnostic;
mod ffi;
mod optimizer;
pub mod passes;
mod target_env;
mod text;
mod validator;
mod version;

pub use diagnostic::{Diagnostic, Position};
pub use optimizer::{check_flag, optimize, OptimizeError, OptimizeOptions, Optimized};
pub use passes::{find_pass, pass_flags, preset};
pub use target_env::{TargetEnv, UnknownTargetEnv};
pub use text::{assemble, disassemble, disassemble_with, DisassembleOptions};
pub use validator::{validate, UniversalLimit, ValidatorOptions};
pub use version::{spirv_opt_version, spirv_opt_version_details};
