//! SPIRV-Tools as a C++ library that is compiled in. All `unsafe` blocks of the crate are here.

mod context;
mod diagnostic;
mod ffi;
mod optimizer;
mod text;
mod validator;
mod version;

pub use optimizer::{check_flag, optimize};
pub use text::{assemble, disassemble};
pub use validator::validate;
pub use version::{version, version_details};
