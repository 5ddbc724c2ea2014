//! What `spirv-tv gate` consists of beside the checks themselves.
//!
//! Cases ([`cases`]) go to worker processes ([`pool`]), whose answers are records ([`record`]) with a status
//! ([`status`]). They are appended to a log ([`log`]), held against what is expected ([`expectation`]), and
//! reported ([`report`]).

#![forbid(unsafe_code)]

pub mod cache;
pub mod cases;
pub mod drift;
pub mod error;
pub mod expectation;
pub mod fossilize;
pub mod limited;
pub mod log;
pub mod manifest;
pub mod pool;
mod process;
pub mod program;
pub mod record;
pub mod report;
pub mod results;
pub mod selection;
pub mod service;
pub mod signature;
pub mod status;
#[cfg(target_os = "linux")]
mod supervise;

pub use process::adopt_strays;
pub use record::{Bucket, Record};
pub use results::{About, Judgement, Remark, Results};
pub use status::{Class, Judged, Status};

/// A hash as 64 hexadecimal digits, the same everywhere and in every version.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The hash of a file's content, which is not read into memory as a whole.
///
/// # Errors
/// Where the file cannot be read.
pub fn hash_file(path: &std::path::Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
