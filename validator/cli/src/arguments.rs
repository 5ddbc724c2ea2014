//! Options that several subcommands share.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use spirv_tv_toolchain::{TargetEnv, UniversalLimit, ValidatorOptions};

use super::{memory, CliError, Format};
use spirv_tv::check::{Bounds, CheckOptions, Floats, Legacy};
use spirv_tv::explore::{Races, ReductionName, Reductions};
use spirv_tv::launch::acceleration::AccelerationSetting;
use spirv_tv::launch::options::{AliasSetting, BufferSetting, PushPointerSetting};
use spirv_tv::launch::{file, Contents, ImageSetting, LaunchOptions, OutOfBounds, SamplerSetting, Size3};
use spirv_tv::lower::Specialisation;
use spirv_tv::model::memory_model;
use spirv_tv::model::vulkan::{Revision, Variant};
use spirv_tv::module::ReadOptions;

/// What is dispatched, on which inputs.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Launch")]
pub struct LaunchArguments {
    /// Entry point [default: the only one, or all compute ones]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Number of workgroups [default: 2 if they may communicate, else 1]
    #[arg(long, value_name = "X[,Y,Z]")]
    pub(crate) workgroups: Option<Size3>,
    /// Invocations of a subgroup [default: two subgroups if Subgroup scope appears, else up to 32]
    #[arg(long, value_name = "N")]
    pub(crate) subgroup_size: Option<u32>,
    /// Size of a workgroup, in place of the modules' own
    #[arg(long, value_name = "X[,Y,Z]")]
    pub(crate) local_size: Option<Size3>,
    /// Value of a specialisation constant: ID is a SpecId, %id or name
    #[arg(long, value_name = "ID=VALUE", allow_hyphen_values = true)]
    pub(crate) spec: Vec<Specialisation>,
    /// Contents of a buffer: TARGET is SET.BINDING[.ELEMENT], %id or name, SPEC is zeros:WORDS,
    /// words:1,2,0xff, floats:1,0.5, halves:1,0.5 (16 bits), bytes:1,0xff, @FILE or undef:WORDS
    #[arg(long, value_name = "TARGET=SPEC")]
    pub(crate) buffer: Vec<BufferSetting>,
    /// Push constants
    #[arg(long, value_name = "SPEC")]
    pub(crate) push: Option<Contents>,
    /// An image or texel buffer: sizes may be followed by ,layers=N ,levels=N ,samples=N; SPEC is zeros, undef,
    /// words:1,2,0xff or @FILE
    #[arg(long, value_name = "TARGET=FORMAT:WxH[xD]:SPEC")]
    pub(crate) image: Vec<ImageSetting>,
    /// A sampler [default: nearest,clamp]
    #[arg(long, value_name = "TARGET=nearest|linear,clamp|repeat")]
    pub(crate) sampler: Vec<SamplerSetting>,
    /// What rays are traced through: TARGET as for --buffer, or address:N; SPEC is empty or instances
    /// like "mask:0xff opaque triangles:X,Y,Z,…; boxes:X,Y,Z,X,Y,Z" (docs/rays.md)
    #[arg(long, value_name = "TARGET=SPEC")]
    pub(crate) acceleration_structure: Vec<AccelerationSetting>,
    /// Two bindings that are the same memory
    #[arg(long, value_name = "S.B=S.B")]
    pub(crate) alias: Vec<AliasSetting>,
    /// A physical pointer in the push constants, at this byte offset, into a buffer
    #[arg(long, value_name = "OFFSET=S.B+BYTES")]
    pub(crate) push_pointer: Vec<PushPointerSetting>,
    /// Read launch options from a TOML file; those of the command line win
    #[arg(long, value_name = "FILE")]
    pub(crate) launch: Option<PathBuf>,
    /// Number of automatic inputs for what is not given [default: 3, up to 16 where they are cheap;
    /// outcomes: 1]
    #[arg(long, value_name = "N")]
    pub(crate) inputs: Option<u32>,
    /// Seed of the automatic inputs [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

impl LaunchArguments {
    /// The launch options, those of the file included.
    pub fn options(&self) -> Result<LaunchOptions, CliError> {
        let own = LaunchOptions {
            entry: self.entry.clone(),
            workgroups: self.workgroups,
            subgroup_size: self.subgroup_size,
            local_size: self.local_size,
            spec: self.spec.clone(),
            buffers: self.buffer.clone(),
            push: self.push.clone(),
            images: self.image.clone(),
            samplers: self.sampler.clone(),
            acceleration_structures: self.acceleration_structure.clone(),
            aliases: self.alias.clone(),
            push_pointers: self.push_pointer.clone(),
            inputs: self.inputs,
            seed: self.seed,
        };
        let options = match &self.launch {
            Some(path) => own.over(file::read(path)?),
            None => own,
        };
        options.check()?;
        Ok(options)
    }
}

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
#[command(next_help_heading = "Choices and bounds")]
pub struct ModelArguments {
    /// Memory model
    #[arg(long, value_enum, default_value_t = Model::Vulkan)]
    pub(crate) model: Model,
    /// Revision of the memory model
    #[arg(long, value_enum, default_value_t = RevisionChoice::R2025)]
    pub(crate) revision: RevisionChoice,
    /// Without availability and visibility chains
    #[arg(long)]
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

/// Bounds of a search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choices and bounds")]
pub struct BoundArguments {
    /// Failing iterations of one spin loop
    #[arg(long, value_name = "N", default_value_t = Bounds::default().spin_bound)]
    pub(crate) spin_bound: u32,
    /// Instructions of one execution
    #[arg(long, value_name = "N", default_value_t = Bounds::default().max_instructions)]
    pub(crate) max_instructions: u64,
    /// Executions of one search
    #[arg(long, value_name = "N", default_value_t = Bounds::default().max_executions)]
    pub(crate) max_executions: u64,
    /// Memory that the process may hold, in bytes, or with K, M or G [default: 2G, or half of the machine's]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,
    /// Time for the whole command; of litmus tests, for each file
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Hold every judgement of the search against the relations as the model declares them (slow)
    #[arg(long)]
    pub(crate) verify_engine: bool,
    /// Visit, and count, every execution: states from which the same follows are not taken for one (slow)
    #[arg(long)]
    pub(crate) all_executions: bool,
    /// Do without a reduction of the search (slow)
    #[arg(long, value_name = "REDUCTION", hide = true, value_parser = reductions())]
    pub(crate) without: Vec<ReductionName>,
}

impl BoundArguments {
    /// The reductions that searches do without.
    fn without(&self) -> Reductions {
        let merging = self.all_executions.then_some(ReductionName::Merging);
        self.without.iter().copied().chain(merging).fold(Reductions::NONE, Reductions::with)
    }

    /// The bounds.
    ///
    /// # Errors
    /// No threads.
    pub fn bounds(&self) -> Result<Bounds, CliError> {
        if self.jobs == Some(0) {
            return Err(CliError::usage("--jobs 0: at least one thread is needed"));
        }
        Ok(Bounds {
            spin_bound: self.spin_bound,
            max_instructions: self.max_instructions,
            max_executions: self.max_executions,
            max_memory: self.max_memory.unwrap_or_else(memory::default_limit),
            timeout: self.timeout,
            // Arguments come before everything else.
            begun: Some(Instant::now()),
            jobs: self.jobs.unwrap_or(0),
            verify_engine: self.verify_engine,
            without: self.without(),
            ..Bounds::default()
        })
    }
}

/// Parses the name of a reduction.
fn reductions() -> impl TypedValueParser<Value = ReductionName> {
    let names = PossibleValuesParser::new(ReductionName::ALL.map(ReductionName::name));
    names.try_map(|name| ReductionName::named(&name).ok_or("no reduction"))
}

/// Choices that the verdict rests on, and bounds of the search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choices and bounds")]
pub struct ChoiceArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// A data race makes the run undefined, or its outcomes count
    #[arg(long, value_enum, default_value_t = RaceChoice::Undefined)]
    pub(crate) races: RaceChoice,
    /// An endless loop without effects may be removed, or not
    #[arg(long, value_enum, default_value_t = HangChoice::Lenient)]
    pub(crate) hang: HangChoice,
    /// Forward progress
    #[arg(long, value_enum, default_value_t = ProgressChoice::Fair)]
    pub(crate) progress: ProgressChoice,
    /// Whether others write memory while the dispatch runs (shared is not supported yet)
    #[arg(long, value_enum, default_value_t = EnvironmentChoice::Quiet)]
    pub(crate) environment: EnvironmentChoice,
    /// Where subgroup flow diverges
    #[arg(long, value_enum, default_value_t = ReconvergenceChoice::Inconclusive)]
    pub(crate) reconvergence: ReconvergenceChoice,
    /// Accesses outside of buffers and images are undefined, or do what robust access permits
    #[arg(long, value_enum, default_value_t = OutOfBoundsChoice::Undefined)]
    pub(crate) out_of_bounds: OutOfBoundsChoice,
    /// How GLSL450 and Simple modules are read
    #[arg(long, value_enum, default_value_t = LegacyChoice::Spec)]
    pub(crate) legacy: LegacyChoice,
    /// How floats are compared: bit by bit, by what the environment permits, or within N units in the last place
    #[arg(long, value_name = "exact|spec|ulp:N", default_value = "spec")]
    pub(crate) float: String,
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

fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (&text[..end], 1 << 10),
        Some((end, 'M' | 'm')) => (&text[..end], 1 << 20),
        Some((end, 'G' | 'g')) => (&text[..end], 1 << 30),
        Some(_) | None => (text, 1_u64),
    };
    let number: u64 = digits.parse().map_err(|_| "not a number of bytes, K, M or G".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "more bytes than can be counted".to_owned())
}

pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// How modules are read and validated; the names are spirv-val's.
#[derive(Debug, Args)]
#[command(next_help_heading = "Validation")]
pub struct ReadArguments {
    /// Go on where only spirv-val objects
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Environment to assemble and validate for
    #[arg(long, value_name = "ENV")]
    pub(crate) target_env: Option<TargetEnv>,
    #[arg(long)]
    pub(crate) relax_struct_store: bool,
    #[arg(long)]
    pub(crate) relax_logical_pointer: bool,
    #[arg(long)]
    pub(crate) relax_block_layout: bool,
    #[arg(long)]
    pub(crate) uniform_buffer_standard_layout: bool,
    #[arg(long)]
    pub(crate) scalar_block_layout: bool,
    #[arg(long)]
    pub(crate) workgroup_scalar_block_layout: bool,
    #[arg(long)]
    pub(crate) skip_block_layout: bool,
    #[arg(long)]
    pub(crate) before_hlsl_legalization: bool,
    #[arg(long)]
    pub(crate) allow_localsizeid: bool,
    #[arg(long)]
    pub(crate) allow_offset_texture_operand: bool,
    #[arg(long)]
    pub(crate) allow_vulkan_32_bit_bitwise: bool,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_struct_members: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_struct_depth: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_local_variables: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_global_variables: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_switch_branches: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_function_args: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_control_flow_nesting_depth: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_access_chain_indexes: Option<u32>,
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_id_bound: Option<u32>,
}

impl ReadArguments {
    /// The flags of the layout rules and their like, with whether they are given.
    fn flags(&self) -> [(&'static str, bool); 12] {
        [
            ("--lenient", self.lenient),
            ("--relax-struct-store", self.relax_struct_store),
            ("--relax-logical-pointer", self.relax_logical_pointer),
            ("--relax-block-layout", self.relax_block_layout),
            ("--uniform-buffer-standard-layout", self.uniform_buffer_standard_layout),
            ("--scalar-block-layout", self.scalar_block_layout),
            ("--workgroup-scalar-block-layout", self.workgroup_scalar_block_layout),
            ("--skip-block-layout", self.skip_block_layout),
            ("--before-hlsl-legalization", self.before_hlsl_legalization),
            ("--allow-localsizeid", self.allow_localsizeid),
            ("--allow-offset-texture-operand", self.allow_offset_texture_operand),
            ("--allow-vulkan-32-bit-bitwise", self.allow_vulkan_32_bit_bitwise),
        ]
    }

    fn limits(&self) -> [(UniversalLimit, Option<u32>); 9] {
        [
            (UniversalLimit::StructMembers, self.max_struct_members),
            (UniversalLimit::StructDepth, self.max_struct_depth),
            (UniversalLimit::LocalVariables, self.max_local_variables),
            (UniversalLimit::GlobalVariables, self.max_global_variables),
            (UniversalLimit::SwitchBranches, self.max_switch_branches),
            (UniversalLimit::FunctionArguments, self.max_function_args),
            (UniversalLimit::ControlFlowNestingDepth, self.max_control_flow_nesting_depth),
            (UniversalLimit::AccessChainIndexes, self.max_access_chain_indexes),
            (UniversalLimit::IdBound, self.max_id_bound),
        ]
    }

    /// These options as on a command line, to read the same modules again.
    pub fn command_line(&self) -> Vec<String> {
        let environment = self.target_env.map(|environment| format!("--target-env={environment}"));
        let flags = self.flags().into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned());
        let limits = self.limits().into_iter().filter_map(|(limit, value)| {
            let (_, name) = UniversalLimit::ALL.into_iter().find(|(other, _)| *other == limit)?;
            Some(format!("--{name}={}", value?))
        });
        environment.into_iter().chain(flags).chain(limits).collect()
    }

    /// The options for reading modules.
    pub fn options(&self) -> ReadOptions {
        let limits = self.limits();
        ReadOptions {
            lenient: self.lenient,
            is_valid: false,
            assemble_env: self.target_env,
            validator: ValidatorOptions {
                target_env: self.target_env.unwrap_or_default(),
                relax_struct_store: self.relax_struct_store,
                relax_logical_pointer: self.relax_logical_pointer,
                relax_block_layout: self.relax_block_layout,
                uniform_buffer_standard_layout: self.uniform_buffer_standard_layout,
                scalar_block_layout: self.scalar_block_layout,
                workgroup_scalar_block_layout: self.workgroup_scalar_block_layout,
                skip_block_layout: self.skip_block_layout,
                before_hlsl_legalization: self.before_hlsl_legalization,
                allow_localsizeid: self.allow_localsizeid,
                allow_offset_texture_operand: self.allow_offset_texture_operand,
                allow_vulkan_32_bit_bitwise: self.allow_vulkan_32_bit_bitwise,
                limits: limits.into_iter().filter_map(|(limit, value)| Some((limit, value?))).collect(),
            },
        }
    }

    /// The environment's name, for reports.
    pub fn target_env_name(&self) -> String {
        self.target_env.map_or_else(|| "default".to_owned(), |environment| environment.to_string())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// How results are shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Text for people, or one JSON object a check
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// One line a check
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Colours and the progress bar
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
    /// Write a page with pictures of executions, the modules side by side and the report, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Exit with 4 where a result is bounded or vacuous, or scopes are not distinguished
    #[arg(long)]
    pub(crate) strict: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_memory_have_units() {
        assert_eq!(parse_bytes("512"), Ok(512));
        assert_eq!(parse_bytes("2K"), Ok(2048));
        assert_eq!(parse_bytes("8G"), Ok(8 << 30));
        for wrong in ["", "K", "x", "1T", "-1", "99999999999999999999", "99999999999G"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_bytes("8G"), Ok(Bounds::default().max_memory));
    }

    #[test]
    fn times_are_finite_and_not_negative() {
        assert_eq!(parse_seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "-1", "inf", "NaN", "x"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
