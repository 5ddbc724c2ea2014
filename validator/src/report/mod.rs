//! Reports: results as JSON for programs ([`json`]) and as text for people ([`text`]).

mod account;
pub mod brief;
mod bucket;
mod choices;
mod diff;
pub mod dot;
mod elision;
mod exercised;
mod exhibits;
mod factored;
pub mod html;
pub mod json;
mod launches;
pub mod litmus;
pub mod outcomes;
mod parts;
mod picture;
mod remarks;
pub mod stats;
mod style;
pub mod text;
mod typed;
mod violation;
mod witness;
mod words;

pub use bucket::{bucket, Bucket};
pub use exercised::text as never_ran;
pub use remarks::warnings;
pub use style::Painter;

#[cfg(test)]
mod tests;
