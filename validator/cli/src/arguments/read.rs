//! How modules are read and validated.

use std::path::PathBuf;

use clap::Args;
use spirv_tv_toolchain::{TargetEnv, UniversalLimit, Validator, ValidatorOptions};

use super::{READ, SHOW};
use spirv_tv::module::ReadOptions;

/// How modules are read and validated; the names are spirv-val's.
#[derive(Debug, Args)]
pub struct ReadArguments {
    /// Go on where only spirv-val objects
    #[arg(long, help_heading = READ)]
    pub(crate) lenient: bool,
    /// Validate nothing: for modules of newer versions, whose validator you ran yourself
    #[arg(long, conflicts_with_all = ["spirv_val", "lenient"], help_heading = READ)]
    pub(crate) no_val: bool,
    /// Validate with this spirv-val instead of the bundled one
    #[arg(long, value_name = "PATH", help_heading = READ)]
    pub(crate) spirv_val: Option<PathBuf>,
    /// Write the texts whose lines reports cite: disassemblies, and modules given as text
    #[arg(long, value_name = "DIR", help_heading = SHOW)]
    pub(crate) emit_asm: Option<PathBuf>,
    /// Environment to assemble and validate for, such as vulkan1.3
    #[arg(long, value_name = "ENV", help_heading = READ)]
    pub(crate) target_env: Option<TargetEnv>,
    /// A struct may be stored as another struct type with matching members
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) relax_struct_store: bool,
    /// Variables may hold pointers, and functions return them, under logical addressing
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) relax_logical_pointer: bool,
    /// Blocks may have the layout of VK_KHR_relaxed_block_layout; the default for Vulkan 1.1 and later
    #[arg(long, help_heading = READ)]
    pub(crate) relax_block_layout: bool,
    /// Uniform buffers may have the layout of storage buffers
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) uniform_buffer_standard_layout: bool,
    /// Blocks may have the layout of VK_EXT_scalar_block_layout
    #[arg(long, help_heading = READ)]
    pub(crate) scalar_block_layout: bool,
    /// Blocks in Workgroup memory may have scalar layout
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) workgroup_scalar_block_layout: bool,
    /// Layouts of blocks are not checked
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) skip_block_layout: bool,
    /// Modules may have what spirv-opt's passes of legalisation mend
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) before_hlsl_legalization: bool,
    /// LocalSizeId may be used where the environment would not permit it
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) allow_localsizeid: bool,
    /// The operand Offset may be used where the environment would not permit it
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) allow_offset_texture_operand: bool,
    /// Bit operations may have a base that is not 32 bits wide where the environment would not permit it
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) allow_vulkan_32_bit_bitwise: bool,
    /// Members of a struct, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_struct_members: Option<u32>,
    /// Depth of nested structs, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_struct_depth: Option<u32>,
    /// Variables of a function, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_local_variables: Option<u32>,
    /// Variables of a module, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_global_variables: Option<u32>,
    /// Branches of a switch, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_switch_branches: Option<u32>,
    /// Parameters of a function, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_function_args: Option<u32>,
    /// Depth of nested control flow, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_control_flow_nesting_depth: Option<u32>,
    /// Indices of an access chain, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_access_chain_indexes: Option<u32>,
    /// Bound of the ids, at most
    #[arg(long, value_name = "N", help_heading = READ, hide_short_help = true)]
    pub(crate) max_id_bound: Option<u32>,
}

impl ReadArguments {
    /// The flags of the layout rules and their like, with whether they are given.
    fn flags(&self) -> [(&'static str, bool); 13] {
        [
            ("--lenient", self.lenient),
            ("--no-val", self.no_val),
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
        let validator = self.spirv_val.iter().map(|path| format!("--spirv-val={}", path.display()));
        environment.into_iter().chain(flags).chain(validator).chain(limits).collect()
    }

    /// The options for reading modules.
    pub fn options(&self) -> ReadOptions {
        let limits = self.limits();
        ReadOptions {
            lenient: self.lenient,
            is_valid: false,
            assemble_env: self.target_env,
            validate_with: match &self.spirv_val {
                Some(path) => Validator::Program(path.clone()),
                None if self.no_val => Validator::Nothing,
                None => Validator::Own,
            },
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
