//! A module in the form that mutators work on.

use rspirv::binary::{parse_words, Assemble, Consumer, ParseAction};
use rspirv::dr;
use rspirv::spirv::{Op, StorageClass, Word};
use spirv_tv_toolchain::{validate, Diagnostic, TargetEnv, ValidatorOptions};

/// A valid module, with the environment that it is valid for.
///
/// What a mutator makes of it may be invalid: [`Module::validate`] tells.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) data: dr::Module,
    env: TargetEnv,
}

/// Why a module cannot be mutated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// spirv-val's message. Mutators start from valid modules only.
    #[error("{0}")]
    Invalid(Diagnostic),
    /// The loader does not know a construct of the module.
    #[error("{0}")]
    Unsupported(String),
}

/// rspirv's loader, and the instructions that it refuses.
#[derive(Default)]
struct Loading {
    loader: dr::Loader,
    /// How many execution modes there were so far.
    modes: usize,
    /// OpExecutionModeId, by its place among all execution modes.
    by_id: Vec<(usize, dr::Instruction)>,
}

impl Consumer for Loading {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: dr::ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, inst: dr::Instruction) -> ParseAction {
        let opcode = inst.class.opcode;
        self.modes += usize::from(matches!(opcode, Op::ExecutionMode | Op::ExecutionModeId));
        if opcode == Op::ExecutionModeId {
            self.by_id.push((self.modes - 1, inst));
            return ParseAction::Continue;
        }
        self.loader.consume_instruction(inst)
    }
}

/// Loads a module, with every execution mode in its place.
fn loaded(words: &[u32]) -> Result<dr::Module, rspirv::binary::ParseState> {
    let mut loading = Loading::default();
    parse_words(words, &mut loading)?;
    let mut data = loading.loader.module();
    for (place, mode) in loading.by_id {
        data.execution_modes.insert(place.min(data.execution_modes.len()), mode);
    }
    Ok(data)
}

impl Module {
    /// Validates and loads the words of a module.
    ///
    /// # Errors
    /// The module is invalid for `env`, or has a construct that rspirv cannot load.
    pub fn load(words: &[u32], env: TargetEnv) -> Result<Self, LoadError> {
        // rspirv panics on some malformed binaries, and on no valid one that is known.
        validate(words, &ValidatorOptions::for_env(env)).map_err(LoadError::Invalid)?;
        let mut data = loaded(words).map_err(|error| LoadError::Unsupported(error.to_string()))?;
        // The loader puts its own number there.
        if let (Some(header), Some(generator)) = (&mut data.header, words.get(2)) {
            header.generator = *generator;
        }
        Ok(Module { data, env })
    }

    /// The words of the module.
    pub fn words(&self) -> Vec<u32> {
        self.data.assemble()
    }

    /// Whether spirv-val accepts the module.
    ///
    /// # Errors
    /// Its first message.
    pub fn validate(&self) -> Result<(), Diagnostic> {
        validate(&self.words(), &ValidatorOptions::for_env(self.env))
    }

    /// An id that the module does not use, and that it uses from now on.
    pub(crate) fn fresh_id(&mut self) -> Word {
        let Some(header) = &mut self.data.header else { return 0 };
        let id = header.bound;
        header.bound += 1;
        id
    }

    /// The declaration with this result, among types, constants and global variables.
    pub(crate) fn global(&self, id: Word) -> Option<&dr::Instruction> {
        self.data.types_global_values.iter().find(|inst| inst.result_id == Some(id))
    }

    /// The instruction with this result, wherever it is.
    pub(crate) fn definition(&self, id: Word) -> Option<&dr::Instruction> {
        self.data.all_inst_iter().find(|inst| inst.result_id == Some(id))
    }

    /// The type of the result `id`.
    pub(crate) fn type_of(&self, id: Word) -> Option<Word> {
        self.definition(id)?.result_type
    }

    /// The value of a 32-bit constant that specialisation cannot change.
    pub(crate) fn constant_value(&self, id: Word) -> Option<u32> {
        let inst = self.global(id).filter(|inst| inst.class.opcode == Op::Constant)?;
        match inst.operands.as_slice() {
            [dr::Operand::LiteralBit32(value)] => Some(*value),
            _ => None,
        }
    }

    /// The id of a constant of type `of_type`: an existing one, or a new one.
    pub(crate) fn constant(&mut self, of_type: Word, value: u32) -> Word {
        let wanted = dr::Operand::LiteralBit32(value);
        let existing = self.data.types_global_values.iter().find(|inst| {
            inst.class.opcode == Op::Constant
                && inst.result_type == Some(of_type)
                && inst.operands.first() == Some(&wanted)
        });
        match existing.and_then(|inst| inst.result_id) {
            Some(id) => id,
            None => self.declare(Op::Constant, Some(of_type), vec![wanted]),
        }
    }

    /// The id of the null of a type.
    pub(crate) fn declare_null(&mut self, of_type: Option<Word>) -> Word {
        let existing = { self.data.types_global_values.iter() }
            .find(|inst| inst.class.opcode == Op::ConstantNull && inst.result_type == of_type);
        match existing.and_then(|inst| inst.result_id) {
            Some(id) => id,
            None => self.declare(Op::ConstantNull, of_type, Vec::new()),
        }
    }

    /// The id of the only type that `opcode` and `operands` say: an existing one, or a new one.
    pub(crate) fn type_id(&mut self, opcode: Op, operands: Vec<dr::Operand>) -> Word {
        let existing = self
            .data
            .types_global_values
            .iter()
            .find(|inst| inst.class.opcode == opcode && inst.operands == operands);
        match existing.and_then(|inst| inst.result_id) {
            Some(id) => id,
            None => self.declare(opcode, None, operands),
        }
    }

    /// Adds a declaration behind all others.
    pub(crate) fn declare(
        &mut self,
        opcode: Op,
        result_type: Option<Word>,
        operands: Vec<dr::Operand>,
    ) -> Word {
        let id = self.fresh_id();
        self.data.types_global_values.push(dr::Instruction::new(opcode, result_type, Some(id), operands));
        id
    }

    /// The storage class and the type that the pointer `id` points to.
    pub(crate) fn pointer(&self, id: Word) -> Option<(StorageClass, Word)> {
        let pointer = self.global(self.type_of(id)?)?;
        match pointer.operands.as_slice() {
            [dr::Operand::StorageClass(class), dr::Operand::IdRef(pointee)]
                if pointer.class.opcode == Op::TypePointer =>
            {
                Some((*class, *pointee))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Assembles and loads a text; panics where it is invalid.
    pub fn module(text: &str) -> Module {
        let words = spirv_tv_toolchain::assemble(text, Some(TargetEnv::Vulkan1_3)).unwrap();
        let module = Module::load(&words, TargetEnv::Vulkan1_3).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(module.words(), words, "loading and assembling keeps the words");
        module
    }

    /// A compute shader of 2 invocations, with buffer elements `%a` and `%b`, the shared variable
    /// `%s` and `code` behind them.
    pub fn shader(code: &str) -> Module {
        module(&format!("{DECLARATIONS}{code}\nOpReturn\nOpFunctionEnd\n"))
    }

    pub const DECLARATIONS: &str = "
        OpCapability Shader
        OpCapability VulkanMemoryModel
        OpCapability VulkanMemoryModelDeviceScope
        OpMemoryModel Logical Vulkan
        OpEntryPoint GLCompute %main \"main\" %buffer %s
        OpExecutionMode %main LocalSize 2 1 1
        OpName %a \"a\"
        OpName %b \"b\"
        OpName %s \"s\"
        OpDecorate %Block Block
        OpMemberDecorate %Block 0 Offset 0
        OpMemberDecorate %Block 1 Offset 4
        OpDecorate %buffer DescriptorSet 0
        OpDecorate %buffer Binding 0
        %void = OpTypeVoid
        %signature = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %uint_0 = OpConstant %uint 0
        %uint_1 = OpConstant %uint 1
        %uint_2 = OpConstant %uint 2
        %uint_3 = OpConstant %uint 3
        %acquire_release = OpConstant %uint 0x6148
        %acquire = OpConstant %uint 0x4042
        %release = OpConstant %uint 0x2044
        %Block = OpTypeStruct %uint %uint
        %block = OpTypePointer StorageBuffer %Block
        %element = OpTypePointer StorageBuffer %uint
        %shared = OpTypePointer Workgroup %uint
        %buffer = OpVariable %block StorageBuffer
        %s = OpVariable %shared Workgroup
        %main = OpFunction %void None %signature
        %entry = OpLabel
        %a = OpAccessChain %element %buffer %uint_0
        %b = OpAccessChain %element %buffer %uint_1
        ";

    /// The module as text without its header.
    pub fn text(module: &Module) -> String {
        let options = spirv_tv_toolchain::DisassembleOptions {
            friendly_names: true,
            indent: false,
            header: false,
            comments: false,
        };
        spirv_tv_toolchain::disassemble_with(&module.words(), options).unwrap()
    }

    #[test]
    fn modes_with_ids_stay_in_their_places() {
        let head = "OpExecutionMode %main LocalSize 2 1 1";
        let modes = "OpExecutionModeId %main LocalSizeId %uint_2 %uint_1 %uint_1";
        let code = DECLARATIONS.replace(head, modes);
        let loaded = module(&format!("{code}OpReturn\nOpFunctionEnd\n"));
        let told = text(&loaded);
        assert!(told.contains("LocalSizeId %uint_2 %uint_1 %uint_1"), "{told}");
    }

    #[test]
    fn invalid_modules_are_refused_with_the_validators_message() {
        let error = Module::load(&[0x0723_0203, 0, 0, 0, 0], TargetEnv::Vulkan1_3).unwrap_err();
        assert!(matches!(error, LoadError::Invalid(_)), "{error:?}");
    }
}
