//! Launches: what is dispatched, and on which inputs.
//!
//! [`LaunchOptions`] are the options of the user, from the command line or from a file ([`mod@file`]).
//! [`Launch::resolve`] resolves them against the module *before*: names become descriptor slots, and missing
//! options get the defaults of `defaults`. [`inputs::inputs`] makes the initial contents, and
//! [`build_dispatch`] lays out both for one lowered program.

pub mod acceleration;
mod build;
pub(crate) mod contents;
pub(crate) mod defaults;
mod dimensions;
mod error;
pub mod file;
mod generator;
pub(crate) mod image_options;
pub(crate) mod images;
pub mod inputs;
mod interface;
pub mod kept;
pub mod options;
pub mod patch;
pub(crate) mod physical;
mod quad;
pub(crate) mod recipe;
pub mod repair;
mod resolve;
pub(crate) mod scopes;
mod shortened;
pub(crate) mod slot;
pub mod solver;
pub(crate) mod target;
pub mod trial;
mod typed;
mod uses;
pub(crate) mod values;

pub use build::build_dispatch;
pub use contents::Contents;
pub use error::LaunchError;
pub use image_options::{ImageContents, ImageSetting, SamplerSetting};
pub use inputs::{Input, Trial};
pub use options::{LaunchOptions, Size3};
pub use resolve::{given_specialisation, Launch, Observe, OutOfBounds};
pub use scopes::mentions_subgroups;
pub use slot::Slot;
pub use target::Target;
