//! SPIRV-Tools as the programs `spirv-as`, `spirv-dis`, `spirv-val` and `spirv-opt` of the `PATH`. Each call runs one
//! process.

mod message;
mod optimizer;
mod process;
mod text;
mod validator;
mod version;

pub use optimizer::{check_flag, optimize};
pub use text::{assemble, disassemble};
pub use validator::validate;
pub use version::{version, version_details};
