//! spirv-val: is a module valid?

use std::path::PathBuf;

use crate::backend;
use crate::diagnostic::Diagnostic;
use crate::target_env::TargetEnv;
use crate::validator_program;

/// spirv-val's options, under its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidatorOptions {
    /// `--target-env`.
    pub target_env: TargetEnv,
    /// `--relax-struct-store`: a store's struct type may differ from the pointer's if they are laid out
    /// alike.
    pub relax_struct_store: bool,
    /// `--relax-logical-pointer`: variables of pointer type and returned pointers in logical addressing.
    pub relax_logical_pointer: bool,
    /// `--relax-block-layout` (VK_KHR_relaxed_block_layout); on anyway for Vulkan 1.1 and later.
    pub relax_block_layout: bool,
    /// `--uniform-buffer-standard-layout` (VK_KHR_uniform_buffer_standard_layout).
    pub uniform_buffer_standard_layout: bool,
    /// `--scalar-block-layout` (VK_EXT_scalar_block_layout).
    pub scalar_block_layout: bool,
    /// `--workgroup-scalar-block-layout` (VK_KHR_workgroup_memory_explicit_layout).
    pub workgroup_scalar_block_layout: bool,
    /// `--skip-block-layout`: layouts are not checked.
    pub skip_block_layout: bool,
    /// `--before-hlsl-legalization`: what legalisation will repair is let through.
    pub before_hlsl_legalization: bool,
    /// `--allow-localsizeid`: LocalSizeId also where the environment has it as an option.
    pub allow_localsizeid: bool,
    /// `--allow-offset-texture-operand` (VK_KHR_maintenance8).
    pub allow_offset_texture_operand: bool,
    /// `--allow-vulkan-32-bit-bitwise` (VK_KHR_maintenance9).
    pub allow_vulkan_32_bit_bitwise: bool,
    /// Universal limits in place of the specification's (`--max-id-bound` and its kin).
    pub limits: Vec<(UniversalLimit, u32)>,
}

/// What validates modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Validator {
    /// SPIRV-Tools as this crate has it.
    #[default]
    Own,
    /// The spirv-val at this path, or of this name in the `PATH`.
    Program(PathBuf),
    /// Nothing: every module passes.
    Nothing,
}

impl Validator {
    /// Is a module valid?
    ///
    /// # Errors
    /// The validator's objection, or what became of its program.
    pub fn validate(&self, words: &[u32], options: &ValidatorOptions) -> Result<(), Diagnostic> {
        match self {
            Validator::Own => validate(words, options),
            Validator::Program(path) => validator_program::validate_with(path, words, options),
            Validator::Nothing => Ok(()),
        }
    }
}

/// A universal limit of the specification that spirv-val can be told to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniversalLimit {
    /// Members of a struct type.
    StructMembers,
    /// Structs nested in a struct type.
    StructDepth,
    /// Variables of storage class Function in one function.
    LocalVariables,
    /// Variables outside of functions.
    GlobalVariables,
    /// Literals of one OpSwitch.
    SwitchBranches,
    /// Parameters of one function.
    FunctionArguments,
    /// Constructs nested in a function.
    ControlFlowNestingDepth,
    /// Indices of one access chain.
    AccessChainIndexes,
    /// The bound of ids in the header; ids are smaller.
    IdBound,
}

impl UniversalLimit {
    /// Every limit with spirv-val's option for it, in the order of `spv_validator_limit`.
    pub const ALL: [(UniversalLimit, &'static str); 9] = [
        (UniversalLimit::StructMembers, "max-struct-members"),
        (UniversalLimit::StructDepth, "max-struct-depth"),
        (UniversalLimit::LocalVariables, "max-local-variables"),
        (UniversalLimit::GlobalVariables, "max-global-variables"),
        (UniversalLimit::SwitchBranches, "max-switch-branches"),
        (UniversalLimit::FunctionArguments, "max-function-args"),
        (UniversalLimit::ControlFlowNestingDepth, "max-control-flow-nesting-depth"),
        (UniversalLimit::AccessChainIndexes, "max-access-chain-indexes"),
        (UniversalLimit::IdBound, "max-id-bound"),
    ];
}

impl ValidatorOptions {
    /// The default options for one environment.
    pub fn for_env(target_env: TargetEnv) -> Self {
        ValidatorOptions { target_env, ..ValidatorOptions::default() }
    }
}

/// Validates a module as spirv-val does.
///
/// # Errors
/// The validator's first message, with the number of the instruction where it names one (its
/// disassembly is a part of the message, with friendly names).
pub fn validate(words: &[u32], options: &ValidatorOptions) -> Result<(), Diagnostic> {
    backend::validate(words, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::assemble;

    const KERNEL: &str = "OpCapability Shader\n\
                          OpMemoryModel Logical GLSL450\n\
                          OpEntryPoint GLCompute %main \"main\"\n\
                          OpExecutionMode %main LocalSize 1 1 1\n\
                          %void = OpTypeVoid\n\
                          %signature = OpTypeFunction %void\n\
                          %main = OpFunction %void None %signature\n\
                          %entry = OpLabel\n\
                          OpReturn\n\
                          OpFunctionEnd\n";

    /// Declarations of a buffer whose second member lies where only the scalar layout allows it.
    const SCALAR_LAYOUT: &str = "%float = OpTypeFloat 32\n\
                                 %vector = OpTypeVector %float 4\n\
                                 %block = OpTypeStruct %float %vector\n\
                                 %pointer = OpTypePointer StorageBuffer %block\n\
                                 %buffer = OpVariable %pointer StorageBuffer\n";
    const SCALAR_DECORATIONS: &str = "OpDecorate %block Block\n\
                                      OpMemberDecorate %block 0 Offset 0\n\
                                      OpMemberDecorate %block 1 Offset 4\n\
                                      OpDecorate %buffer DescriptorSet 0\n\
                                      OpDecorate %buffer Binding 0\n";

    fn check(text: &str, options: &ValidatorOptions) -> Result<(), Diagnostic> {
        validate(&assemble(text, Some(TargetEnv::Universal1_3)).unwrap(), options)
    }

    #[test]
    fn valid_modules_pass() {
        assert_eq!(check(KERNEL, &ValidatorOptions::default()), Ok(()));
        assert_eq!(check(KERNEL, &ValidatorOptions::for_env(TargetEnv::Vulkan1_3)), Ok(()));
    }

    #[test]
    fn the_message_and_the_instruction_are_told() {
        let text = KERNEL.replace("OpReturn", "%value = OpLoad %void %main\nOpReturn");
        let error = check(&text, &ValidatorOptions::default()).unwrap_err();
        assert_eq!(error.instruction(), Some(9), "{error}");
        assert!(error.message.contains("OpLoad"), "{error}");
    }

    #[test]
    fn layout_options_reach_the_validator() {
        let text = KERNEL.replace("%void = ", &format!("{SCALAR_DECORATIONS}{SCALAR_LAYOUT}%void = "));
        // Layouts are held to a client interface's rules only.
        let vulkan = ValidatorOptions::for_env(TargetEnv::Vulkan1_1);
        let error = check(&text, &vulkan).unwrap_err();
        assert!(error.message.contains("offset"), "{error}");
        let scalar = ValidatorOptions { scalar_block_layout: true, ..vulkan.clone() };
        assert_eq!(check(&text, &scalar), Ok(()));
        let skip = ValidatorOptions { skip_block_layout: true, ..vulkan };
        assert_eq!(check(&text, &skip), Ok(()));
    }

    #[test]
    fn environments_and_limits_reach_the_validator() {
        let without_size = KERNEL.replace("OpExecutionMode %main LocalSize 1 1 1\n", "");
        assert_eq!(check(&without_size, &ValidatorOptions::default()), Ok(()));
        assert!(check(&without_size, &ValidatorOptions::for_env(TargetEnv::Vulkan1_1)).is_err());
        let bounded =
            ValidatorOptions { limits: vec![(UniversalLimit::IdBound, 2)], ..ValidatorOptions::default() };
        assert!(check(KERNEL, &bounded).is_err());
    }

    #[test]
    fn a_physical_pointer_to_void_is_no_end_of_the_process() {
        let text = KERNEL
            .replace(
                "OpMemoryModel Logical",
                "OpCapability PhysicalStorageBufferAddresses\n\
                 OpExtension \"SPV_KHR_physical_storage_buffer\"\n\
                 OpMemoryModel PhysicalStorageBuffer64",
            )
            .replace("%void = ", "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n%void = ")
            .replace(
                "%signature =",
                "%pointer = OpTypePointer PhysicalStorageBuffer %void\n\
                 %block = OpTypeStruct %pointer\n\
                 %constants = OpTypePointer PushConstant %block\n\
                 %push = OpVariable %constants PushConstant\n\
                 %signature =",
            );
        assert_eq!(check(&text, &ValidatorOptions::default()), Ok(()));
        assert_eq!(check(&text, &ValidatorOptions::for_env(TargetEnv::Vulkan1_1)), Ok(()));
    }

    #[test]
    fn empty_input_is_an_error() {
        assert!(validate(&[], &ValidatorOptions::default()).is_err());
        assert!(validate(&[0x0723_0203], &ValidatorOptions::default()).is_err());
    }
}
