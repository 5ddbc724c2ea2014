//! SPIRV-Tools as the programs `spirv-as`, `spirv-dis`, `spirv-val` and `spirv-opt` of the `PATH`. Each call runs one
//! process.

mod optimizer;
mod text;
mod version;

pub use crate::validator_program::validate;
pub use optimizer::{check_flag, optimize};
pub use text::{assemble, disassemble};
pub use version::{version, version_details};
