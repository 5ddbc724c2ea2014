//! The `spirv-tv` command.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A search allocates many small states.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    spirv_tv_cli::main()
}
