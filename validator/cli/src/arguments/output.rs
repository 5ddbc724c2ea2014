//! How results are shown.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::SHOW;
use crate::Format;

/// When something is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// How results are shown.
#[derive(Debug, Args)]
pub struct OutputArguments {
    /// Text for people, or one JSON object a check; jsonl: opt prints each as soon as it is known
    #[arg(long, value_enum, value_name = "text|json|jsonl", hide_possible_values = true,
        default_value_t = Format::Text, help_heading = SHOW)]
    pub(crate) format: Format,
    /// One line a check
    #[arg(long, short, help_heading = SHOW)]
    pub(crate) quiet: bool,
    /// Colours and the progress line
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true,
        default_value_t = ColorChoice::Auto, help_heading = SHOW)]
    pub(crate) color: ColorChoice,
    /// Write a page with pictures of executions, the modules side by side and the report, for a browser
    #[arg(long, value_name = "FILE", help_heading = SHOW)]
    pub(crate) html: Option<PathBuf>,
    /// Exit with 4 where a result is bounded, vacuous or otherwise qualified
    #[arg(long, help_heading = SHOW)]
    pub(crate) strict: bool,
}
