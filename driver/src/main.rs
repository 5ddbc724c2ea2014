//! `spirv-tv-runner`: an executor on a Vulkan device.

use std::process::ExitCode;

fn main() -> ExitCode {
    spirv_tv_driver::runner::main(std::env::args_os().skip(1))
}
