//! What `spirv-tv gate` consists of beside the checks themselves.
//!
//! Cases ([`cases`]) go to worker processes ([`pool`]), whose answers are records ([`record`]) with a status
//! ([`status`]). They are appended to a log ([`log`]), held against what is expected ([`expectation`]), and
//! reported ([`report`]).

#![forbid(unsafe_code)]

pub mod fossilize;
pub mod record;
pub mod report;
pub mod results;
pub mod status;

pub use record::{Bucket, Record};
pub use results::{About, Judgement, Remark, Results};
pub use status::{Class, Judged, Status};
