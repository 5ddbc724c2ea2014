//! What is dispatched, and what memory holds at first.

use std::path::PathBuf;

use clap::Args;

use super::{MEMORY, RUN};
use crate::CliError;
use spirv_tv::launch::acceleration::AccelerationSetting;
use spirv_tv::launch::options::{AliasSetting, BufferSetting, PushPointerSetting};
use spirv_tv::launch::{file, Contents, ImageSetting, LaunchOptions, SamplerSetting, Size3};
use spirv_tv::lower::Specialisation;

/// What is dispatched, on which inputs.
#[derive(Debug, Default, Args)]
pub struct LaunchArguments {
    /// Entry point [default: the only one, or all compute ones]
    #[arg(long, value_name = "NAME", help_heading = RUN)]
    pub(crate) entry: Option<String>,
    /// Number of workgroups [default: 2 if they may communicate, else 1]
    #[arg(long, value_name = "X[,Y,Z]", help_heading = RUN)]
    pub(crate) workgroups: Option<Size3>,
    /// Size of a workgroup, in place of the modules' own
    #[arg(long, value_name = "X[,Y,Z]", help_heading = RUN)]
    pub(crate) local_size: Option<Size3>,
    /// Invocations of a subgroup [default: two subgroups if Subgroup scope appears, else up to 32]
    #[arg(long, value_name = "N", help_heading = RUN)]
    pub(crate) subgroup_size: Option<u32>,
    /// Value of a specialisation constant: ID is a SpecId, %id or name
    #[arg(long, value_name = "ID=VALUE", allow_hyphen_values = true, help_heading = RUN)]
    pub(crate) spec: Vec<Specialisation>,
    /// Read options of these two groups from a TOML file; those of the command line win
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    pub(crate) launch: Option<PathBuf>,
    /// Contents of a buffer. TARGET: SET.BINDING[.ELEMENT], %id or name. SPEC, one of: zeros:WORDS, undef:WORDS,
    /// words:1,2,0xff, floats:1,0.5, halves:1,0.5 (16 bits), bytes:1,0xff, @FILE (its bytes)
    #[arg(long, value_name = "TARGET=SPEC", help_heading = MEMORY)]
    pub(crate) buffer: Vec<BufferSetting>,
    /// Push constants; SPEC as for --buffer
    #[arg(long, value_name = "SPEC", help_heading = MEMORY)]
    pub(crate) push: Option<Contents>,
    /// An image or texel buffer, as in 0.2=rgba8:4x4:zeros. IMAGE is FORMAT:WxH[xD]:SPEC; ,layers=N ,levels=N and
    /// ,samples=N may follow the size; SPEC is zeros, undef, words:1,2,0xff or @FILE
    #[arg(long, value_name = "TARGET=IMAGE", help_heading = MEMORY)]
    pub(crate) image: Vec<ImageSetting>,
    /// A sampler, nearest or linear, and clamp or repeat: 0.3=linear,repeat [default: nearest,clamp]
    #[arg(long, value_name = "TARGET=SAMPLER", help_heading = MEMORY)]
    pub(crate) sampler: Vec<SamplerSetting>,
    /// What rays are traced through: TARGET as for --buffer, or address:N; SPEC is empty or instances
    /// like "mask:0xff opaque triangles:X,Y,Z,…; boxes:X,Y,Z,X,Y,Z" (docs/rays.md)
    #[arg(long, value_name = "TARGET=SPEC", help_heading = MEMORY, hide_short_help = true)]
    pub(crate) acceleration_structure: Vec<AccelerationSetting>,
    /// Two bindings that are the same memory
    #[arg(long, value_name = "S.B=S.B", help_heading = MEMORY, hide_short_help = true)]
    pub(crate) alias: Vec<AliasSetting>,
    /// A physical pointer in the push constants, at this byte offset, into a buffer
    #[arg(long, value_name = "OFFSET=S.B+BYTES", help_heading = MEMORY, hide_short_help = true)]
    pub(crate) push_pointer: Vec<PushPointerSetting>,
    /// Number of automatic inputs for what is not given [default: 3, up to 16 where they are cheap; outcomes: 1]
    #[arg(long, value_name = "N", help_heading = MEMORY)]
    pub(crate) inputs: Option<u32>,
    /// Seed of the automatic inputs [default: 0]
    #[arg(long, value_name = "N", help_heading = MEMORY, hide_short_help = true)]
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
            Some(path) => own.over(file::read(path).map_err(|error| CliError::of_option("--launch", error))?),
            None => own,
        };
        options.check()?;
        Ok(options)
    }
}
