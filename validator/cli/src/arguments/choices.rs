//! Choices that a verdict rests on.

use clap::{Args, ValueEnum};

use super::{BoundArguments, COUNTS};
use crate::CliError;
use spirv_tv::check::{CheckOptions, Floats, Legacy};
use spirv_tv::explore::Races;
use spirv_tv::launch::{LaunchOptions, OutOfBounds};
use spirv_tv::model::memory_model;
use spirv_tv::model::vulkan::{Revision, Variant};

/// Whether something may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

/// A choice of a memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Model {
    Vulkan,
    Opencl,
}

/// A revision of the Vulkan memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RevisionChoice {
    #[value(name = "2024")]
    R2024,
    #[value(name = "2025")]
    R2025,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RaceChoice {
    Undefined,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HangChoice {
    Lenient,
    Strict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutOfBoundsChoice {
    Undefined,
    Robust,
    Robust2,
}

impl From<OutOfBoundsChoice> for OutOfBounds {
    fn from(choice: OutOfBoundsChoice) -> Self {
        match choice {
            OutOfBoundsChoice::Undefined => OutOfBounds::Undefined,
            OutOfBoundsChoice::Robust => OutOfBounds::Robust,
            OutOfBoundsChoice::Robust2 => OutOfBounds::Robust2,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressChoice {
    Fair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EnvironmentChoice {
    Quiet,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReconvergenceChoice {
    Inconclusive,
    Structural,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LegacyChoice {
    Spec,
    Coherent,
}

/// The memory model.
#[derive(Debug, Args)]
pub struct ModelArguments {
    /// Memory model
    #[arg(long, value_enum, default_value_t = Model::Vulkan, help_heading = COUNTS, hide_short_help = true)]
    pub(crate) model: Model,
    /// Revision of the memory model
    #[arg(long, value_enum, default_value_t = RevisionChoice::R2025, help_heading = COUNTS, hide_short_help = true)]
    pub(crate) revision: RevisionChoice,
    /// Without availability and visibility chains
    #[arg(long, help_heading = COUNTS, hide_short_help = true)]
    pub(crate) no_chains: bool,
}

impl ModelArguments {
    /// The memory model, in the variant that was asked for.
    ///
    /// # Errors
    /// A model that is not built.
    pub fn model(&self) -> Result<memory_model::Model, CliError> {
        if self.model == Model::Opencl {
            return Err(CliError::usage("--model opencl is not supported yet by this version"));
        }
        let revision = match self.revision {
            RevisionChoice::R2024 => Revision::R2024,
            RevisionChoice::R2025 => Revision::R2025,
        };
        Ok(Variant { revision, chains: !self.no_chains }.into())
    }
}

/// Choices that the verdict rests on, and bounds of the search.
#[derive(Debug, Args)]
pub struct ChoiceArguments {
    /// A data race makes the run undefined, or its outcomes count
    #[arg(long, value_enum, value_name = "undefined|keep", hide_possible_values = true,
        default_value_t = RaceChoice::Undefined, help_heading = COUNTS)]
    pub(crate) races: RaceChoice,
    /// An endless loop without effects may be removed, or not
    #[arg(long, value_enum, value_name = "lenient|strict", hide_possible_values = true,
        default_value_t = HangChoice::Lenient, help_heading = COUNTS)]
    pub(crate) hang: HangChoice,
    /// Accesses outside of buffers and images are undefined, or do what robust access permits: undefined, robust or
    /// robust2
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true,
        default_value_t = OutOfBoundsChoice::Undefined, help_heading = COUNTS)]
    pub(crate) out_of_bounds: OutOfBoundsChoice,
    /// How floats are compared: bit by bit, by what the environment permits, or within N units in the last place
    #[arg(long, value_name = "exact|spec|ulp:N", default_value = "spec", help_heading = COUNTS)]
    pub(crate) float: String,
    /// How accesses of GLSL450 and Simple modules are read: as declared, or all as coherent
    #[arg(long, value_enum, value_name = "spec|coherent", hide_possible_values = true,
        default_value_t = LegacyChoice::Spec, help_heading = COUNTS)]
    pub(crate) legacy: LegacyChoice,
    /// Where subgroup flow diverges
    #[arg(long, value_enum, value_name = "inconclusive|structural", hide_possible_values = true,
        default_value_t = ReconvergenceChoice::Inconclusive, help_heading = COUNTS, hide_short_help = true)]
    pub(crate) reconvergence: ReconvergenceChoice,
    /// Forward progress
    #[arg(long, value_enum, default_value_t = ProgressChoice::Fair, help_heading = COUNTS, hide_short_help = true)]
    pub(crate) progress: ProgressChoice,
    /// Whether others write memory while the dispatch runs (shared is not supported yet)
    #[arg(long, value_enum, default_value_t = EnvironmentChoice::Quiet, help_heading = COUNTS, hide_short_help = true)]
    pub(crate) environment: EnvironmentChoice,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) bounds: BoundArguments,
}

impl ChoiceArguments {
    /// The options of a check, without those of single subcommands.
    pub fn options(&self, launch: LaunchOptions, target_env: String) -> Result<CheckOptions, CliError> {
        let model = self.model.model()?;
        if self.environment == EnvironmentChoice::Shared {
            return Err(CliError::usage("--environment shared is not supported yet by this version"));
        }
        let floats = self.floats()?;
        Ok(CheckOptions {
            launch,
            model,
            races: match self.races {
                RaceChoice::Undefined => Races::Undefined,
                RaceChoice::Keep => Races::Keep,
            },
            strict_hangs: self.hang == HangChoice::Strict,
            legacy: match self.legacy {
                LegacyChoice::Spec => Legacy::Spec,
                LegacyChoice::Coherent => Legacy::Coherent,
            },
            out_of_bounds: self.out_of_bounds.into(),
            floats,
            structural_reconvergence: self.reconvergence == ReconvergenceChoice::Structural,
            bounds: self.bounds.bounds()?,
            target_env,
            ..CheckOptions::default()
        })
    }

    fn floats(&self) -> Result<Floats, CliError> {
        match self.float.as_str() {
            "spec" => Ok(Floats::Spec),
            "exact" => Ok(Floats::Exact),
            other => match other.strip_prefix("ulp:").map(str::parse) {
                Some(Ok(units)) => Ok(Floats::Ulp(units)),
                _ => Err(CliError::Usage(format!("--float '{other}' is none of exact, spec, ulp:N"))),
            },
        }
    }
}
