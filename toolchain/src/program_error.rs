//! How a program of SPIRV-Tools fails before it judges a module.

/// Why a program of SPIRV-Tools gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The program is not on the `PATH`.
    #[error("`{program}` is not on the PATH; SPIRV-Tools has it (Debian: `apt-get install spirv-tools`)")]
    Missing {
        /// The program's name.
        program: &'static str,
    },
    /// The program could not be started, or its pipes failed.
    #[error("`{program}` cannot be run: {message}")]
    Failed {
        /// The program's name.
        program: &'static str,
        /// The operating system's own words.
        message: String,
    },
    /// A signal ended the program, a failed assertion for example.
    #[error("`{program}` crashed ({status}): {message}")]
    Crashed {
        /// The program's name.
        program: &'static str,
        /// How it ended, e.g. `signal: 6 (SIGABRT)`.
        status: String,
        /// What it wrote to standard error.
        message: String,
    },
    /// The program succeeded, but what it wrote cannot be read.
    #[error("`{program}` wrote no {expected}")]
    Output {
        /// The program's name.
        program: &'static str,
        /// What it should have written.
        expected: &'static str,
    },
}
