//! Launches: what is dispatched, on which inputs.
//!
//! [`LaunchOptions`] is what the user said, on the command line or in a file ([`file`]).
//! [`Launch::resolve`] settles it against the module *before*: names become descriptor slots,
//! what is missing gets the defaults of [`defaults`]. [`inputs::inputs`] makes the initial
//! contents, and [`build_dispatch`] lays both out for one lowered program.

pub mod acceleration;
mod build;
pub mod contents;
pub mod defaults;
mod error;
pub mod file;
pub mod image_options;
pub mod images;
pub mod inputs;
mod interface;
pub mod options;
pub mod physical;
mod resolve;
pub mod scopes;
pub mod slot;
pub mod target;
pub mod trial;
mod values;

pub use build::build_dispatch;
pub use contents::Contents;
pub use error::LaunchError;
pub use image_options::{ImageContents, ImageSetting, SamplerSetting};
pub use inputs::{Input, Trial};
pub use options::{LaunchOptions, Size3};
pub use resolve::{given_specialisation, Launch, Observe};
pub use slot::Slot;
pub use target::Target;
