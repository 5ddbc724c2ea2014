//! What runs a compute dispatch and says what memory holds afterwards.
//!
//! An [`Executor`] takes a [`Case`]: a module, how it is launched, and what memory holds at first. It answers with an
//! [`Execution`]: the different contents that memory had at the end, with how often each came, or how the run failed.
//! `docs/executor.md` describes the protocol by which a program is an executor: [`folder`] reads and writes its files,
//! [`serve`](mod@serve) is the side of the executor, and `program` (with the feature `programs`) the other one.

#![forbid(unsafe_code)]

pub mod case;
mod execution;
pub mod folder;
#[cfg(feature = "programs")]
pub mod program;
pub mod serve;

pub use case::Case;
pub use execution::{Description, Execution, Observation};
pub use serve::serve;

/// What runs cases.
///
/// A case with a module that the executor has not run before costs as much as compiling it; each repetition
/// ([`Case::times`]) costs a dispatch, and what is read back. Whoever runs many thousand cases keeps one executor: it may
/// hold a device or a process.
pub trait Executor {
    /// What it is and what it can do.
    ///
    /// # Errors
    /// How asking it failed.
    fn describe(&self) -> Result<Description, Execution>;

    /// Runs a case as often as is wanted, or less often, where that takes too long: whoever asks counts. Whatever happens is an answer: an executor that crashed, hung or lost its device is ready for the next
    /// case.
    fn execute(&self, case: &Case) -> Execution;
}
