//! A module in the form that edits work on: its instructions in order, each with a key that stays.

use std::collections::BTreeMap;

use rspirv::binary::{parse_words, Assemble, Consumer, ParseAction};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

/// What an instruction is known by, in both modules of a pair.
pub type Key = u32;

/// An instruction with its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inst {
    pub(crate) key: Key,
    pub(crate) code: Instruction,
}

impl Inst {
    pub(crate) fn op(&self) -> Op {
        self.code.class.opcode
    }

    /// The ids of its operands, the type not among them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Word> + '_ {
        self.code.operands.iter().filter_map(Operand::id_ref_any)
    }

    /// The id of the operand at this index.
    pub(crate) fn id(&self, index: usize) -> Option<Word> {
        self.code.operands.get(index)?.id_ref_any()
    }
}

/// A module.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The version word of the header.
    version: Word,
    pub(crate) insts: Vec<Inst>,
    /// The next id that nothing has.
    pub(crate) next_id: Word,
    /// The next key that nothing has.
    pub(crate) next_key: Key,
}

/// Why a module cannot be reduced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It has something that the parser does not know, or is no module.
    #[error("{0}")]
    Unknown(String),
}

/// Collects instructions.
#[derive(Default)]
struct Collected {
    version: Word,
    bound: Word,
    insts: Vec<Inst>,
}

impl Consumer for Collected {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        (self.version, self.bound) = (header.version, header.bound);
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, code: Instruction) -> ParseAction {
        let key = Key::try_from(self.insts.len()).unwrap_or(Key::MAX);
        self.insts.push(Inst { key, code });
        ParseAction::Continue
    }
}

impl Module {
    /// Takes the words of a module apart, which must be valid. Keys are the indices of instructions.
    ///
    /// # Errors
    /// An instruction that rspirv does not know.
    pub fn load(words: &[u32]) -> Result<Self, LoadError> {
        let mut collected = Collected::default();
        parse_words(words, &mut collected).map_err(|error| LoadError::Unknown(error.to_string()))?;
        let next_key = Key::try_from(collected.insts.len()).unwrap_or(Key::MAX);
        let Collected { version, bound, insts } = collected;
        let module = Module { version, insts, next_id: bound, next_key };
        match module.words().get(5..) == words.get(5..) {
            true => Ok(module),
            // Nothing may change that no edit changed.
            false => Err(LoadError::Unknown("the module has operands that are not known here".to_owned())),
        }
    }

    /// The words of the module.
    pub fn words(&self) -> Vec<u32> {
        let mut header = ModuleHeader::new(self.next_id);
        header.version = self.version;
        // No tool that is registered wrote it.
        header.generator = 0;
        let mut words = header.assemble();
        self.insts.iter().for_each(|inst| inst.code.assemble_into(&mut words));
        words
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    /// This module with the keys and ids of another one where instructions correspond: `pairs` has the indices of both, of
    /// the other one first. Everything else gets keys and ids that the other one does not have.
    #[must_use]
    pub fn numbered_as(mut self, other: &Module, pairs: &[(usize, usize)]) -> Module {
        let theirs: BTreeMap<usize, usize> = pairs.iter().map(|(theirs, own)| (*own, *theirs)).collect();
        let mut ids: FxHashMap<Word, Word> = FxHashMap::default();
        let (mut next_id, mut next_key) = (other.next_id, other.next_key);
        for (index, inst) in self.insts.iter_mut().enumerate() {
            let counterpart = theirs.get(&index).and_then(|index| other.insts.get(*index));
            let result = counterpart.and_then(|their| their.code.result_id);
            match counterpart {
                Some(their) => inst.key = their.key,
                None => {
                    inst.key = next_key;
                    next_key += 1;
                }
            }
            if let Some(own) = inst.code.result_id {
                let new = result.unwrap_or_else(|| {
                    next_id += 1;
                    next_id - 1
                });
                ids.insert(own, new);
            }
        }
        for inst in &mut self.insts {
            inst.code.result_id = inst.code.result_id.map(|id| ids.get(&id).copied().unwrap_or(id));
            inst.code.result_type = inst.code.result_type.map(|id| ids.get(&id).copied().unwrap_or(id));
            for id in inst.code.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
                *id = ids.get(id).copied().unwrap_or(*id);
            }
        }
        Module { next_id, next_key, ..self }
    }

    /// Makes what both get next different from what either of them has.
    pub(crate) fn agree(modules: &mut [Module]) {
        let id = modules.iter().map(|module| module.next_id).max().unwrap_or(0);
        let key = modules.iter().map(|module| module.next_key).max().unwrap_or(0);
        for module in modules {
            (module.next_id, module.next_key) = (id, key);
        }
    }

    /// Numbers ids from 1 in the order in which the first module has them, then the second one.
    pub(crate) fn compact(modules: &mut [Module]) {
        let mut ids: FxHashMap<Word, Word> = FxHashMap::default();
        let all = modules.iter().flat_map(|module| &module.insts).filter_map(|inst| inst.code.result_id);
        for id in all {
            let next = Word::try_from(ids.len() + 1).unwrap_or(Word::MAX);
            ids.entry(id).or_insert(next);
        }
        let bound = Word::try_from(ids.len() + 1).unwrap_or(Word::MAX);
        let new = |id: Word| ids.get(&id).copied().unwrap_or(id);
        for module in modules {
            for inst in &mut module.insts {
                inst.code.result_id = inst.code.result_id.map(new);
                inst.code.result_type = inst.code.result_type.map(new);
                inst.code
                    .operands
                    .iter_mut()
                    .filter_map(Operand::id_ref_any_mut)
                    .for_each(|id| *id = new(*id));
            }
            module.next_id = bound;
        }
    }

    /// The index of the instruction with this key.
    pub(crate) fn index(&self, key: Key) -> Option<usize> {
        self.insts.iter().position(|inst| inst.key == key)
    }

    /// The instruction with this key.
    pub(crate) fn keyed(&self, key: Key) -> Option<&Inst> {
        self.insts.iter().find(|inst| inst.key == key)
    }

    /// The instruction with this result.
    pub(crate) fn definition(&self, id: Word) -> Option<&Inst> {
        self.insts.iter().find(|inst| inst.code.result_id == Some(id))
    }

    /// All instructions by their results.
    pub(crate) fn definitions(&self) -> FxHashMap<Word, &Inst> {
        self.insts.iter().filter_map(|inst| Some((inst.code.result_id?, inst))).collect()
    }

    /// The index of the first function; the number of instructions if there is none.
    pub(crate) fn code_begins(&self) -> usize {
        self.insts.iter().position(|inst| inst.op() == Op::Function).unwrap_or(self.insts.len())
    }

    /// Puts a declaration behind all others; its id. One that is there already is taken.
    pub(crate) fn declared(&mut self, op: Op, result_type: Option<Word>, operands: Vec<Operand>) -> Word {
        let is_it = |inst: &&Inst| {
            inst.op() == op && inst.code.result_type == result_type && inst.code.operands == operands
        };
        let decorated =
            |id: Word| self.insts.iter().any(|inst| is_annotation(inst.op()) && inst.id(0) == Some(id));
        let known = self.insts.iter().filter(is_it).filter_map(|inst| inst.code.result_id);
        if let Some(known) = known.into_iter().find(|id| !decorated(*id)) {
            return known;
        }
        let id = self.fresh_id();
        let code = Instruction::new(op, result_type, Some(id), operands);
        let at = self.code_begins();
        let inst = self.keyed_new(code);
        self.insts.insert(at, inst);
        id
    }

    /// An id that nothing has.
    pub(crate) fn fresh_id(&mut self) -> Word {
        self.next_id += 1;
        self.next_id - 1
    }

    /// An instruction with a key of its own.
    pub(crate) fn keyed_new(&mut self, code: Instruction) -> Inst {
        let key = self.next_key;
        self.next_key += 1;
        Inst { key, code }
    }

    /// The constant that is all zeros of a type; `None` for types without such a constant, pointers among them.
    pub(crate) fn zero(&mut self, of_type: Word) -> Option<Word> {
        let (op, width) = {
            let ty = self.definition(of_type)?;
            let width = match ty.code.operands.first() {
                Some(Operand::LiteralBit32(width)) => *width,
                _ => 0,
            };
            (ty.op(), width)
        };
        Some(match op {
            Op::TypeBool => self.declared(Op::ConstantFalse, Some(of_type), Vec::new()),
            Op::TypeInt | Op::TypeFloat => {
                let zero = if width > 32 { Operand::LiteralBit64(0) } else { Operand::LiteralBit32(0) };
                self.declared(Op::Constant, Some(of_type), vec![zero])
            }
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeStruct => {
                self.declared(Op::ConstantNull, Some(of_type), Vec::new())
            }
            _ => return None,
        })
    }
}

/// Whether an instruction decorates something.
pub(crate) fn is_annotation(op: Op) -> bool {
    matches!(
        op,
        Op::Decorate
            | Op::MemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
    )
}

/// Whether an instruction only tells something of another one.
pub(crate) fn is_name(op: Op) -> bool {
    matches!(op, Op::Name | Op::MemberName)
}

/// Whether a result of this opcode is a constant.
pub(crate) fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantSampler
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef
    )
}

/// Whether an opcode declares a type.
pub(crate) fn is_type(op: Op) -> bool {
    format!("{op:?}").starts_with("Type")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use spirv_tv_toolchain::{
        assemble, disassemble_with, validate, DisassembleOptions, TargetEnv, ValidatorOptions,
    };

    /// Loads a text; panics where it is not valid.
    pub fn module(text: &str) -> Module {
        let words = assemble(text, Some(TargetEnv::Vulkan1_3)).unwrap();
        validate(&words, &ValidatorOptions::for_env(TargetEnv::Vulkan1_3)).unwrap();
        Module::load(&words).unwrap()
    }

    /// A shader of eight invocations, with `%a` and `%b`, two words of a buffer, the shared word `%s`, and `code`.
    pub fn shader(code: &str) -> Module {
        module(&format!("{DECLARATIONS}{code}\nOpReturn\nOpFunctionEnd\n"))
    }

    pub fn is_valid(module: &Module) -> bool {
        validate(&module.words(), &ValidatorOptions::for_env(TargetEnv::Vulkan1_3)).is_ok()
    }

    /// The code of a module as text, with friendly names of types and constants.
    pub fn text(module: &Module) -> String {
        let options =
            DisassembleOptions { friendly_names: true, indent: false, header: false, comments: false };
        disassemble_with(&module.words(), options).unwrap()
    }

    pub const DECLARATIONS: &str = "
        OpCapability Shader
        OpCapability VulkanMemoryModel
        OpCapability VulkanMemoryModelDeviceScope
        OpMemoryModel Logical Vulkan
        OpEntryPoint GLCompute %main \"main\" %buffer %s
        OpExecutionMode %main LocalSize 8 1 1
        OpName %a \"a\"
        OpName %b \"b\"
        OpDecorate %Block Block
        OpMemberDecorate %Block 0 Offset 0
        OpMemberDecorate %Block 1 Offset 4
        OpDecorate %buffer DescriptorSet 0
        OpDecorate %buffer Binding 0
        %void = OpTypeVoid
        %signature = OpTypeFunction %void
        %bool = OpTypeBool
        %uint = OpTypeInt 32 0
        %uint_0 = OpConstant %uint 0
        %uint_1 = OpConstant %uint 1
        %uint_2 = OpConstant %uint 2
        %uint_100 = OpConstant %uint 100
        %true = OpConstantTrue %bool
        %acquire_release = OpConstant %uint 0x6148
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

    #[test]
    fn what_corresponds_has_one_number() {
        let before = shader("OpStore %a %uint_1\nOpStore %b %uint_2");
        let after = shader("OpStore %b %uint_2");
        // Everything but the first store.
        let gone = before.insts.iter().position(|inst| inst.op() == Op::Store).unwrap();
        let pairs: Vec<(usize, usize)> =
            (0..before.len()).filter(|at| *at != gone).zip(0..after.len()).collect();
        let numbered = after.numbered_as(&before, &pairs);
        let keys: Vec<Key> = numbered.insts.iter().map(|inst| inst.key).collect();
        let expected: Vec<Key> = (0..before.len()).filter(|at| *at != gone).map(|at| at as Key).collect();
        assert_eq!(keys, expected);
        assert!(is_valid(&numbered));
        // Nothing corresponds: nothing is shared.
        let apart = shader("").numbered_as(&before, &[]);
        let ids = |module: &Module| -> Vec<Word> {
            module.insts.iter().filter_map(|inst| inst.code.result_id).collect()
        };
        assert!(ids(&apart).iter().all(|id| !ids(&before).contains(id)));
        assert!(is_valid(&apart));
    }

    #[test]
    fn compact_ids_are_those_of_the_first_module() {
        let mut both = [shader("OpStore %a %uint_1"), shader("")];
        let whole = both[0].len();
        let pairs: Vec<(usize, usize)> = (0..whole - 3).map(|at| (at, at)).collect();
        both[1] = both[1].clone().numbered_as(&both[0], &pairs);
        Module::compact(&mut both);
        assert!(both.iter().all(is_valid));
        let id = |module: &Module| {
            module.insts.iter().find(|inst| inst.op() == Op::Function).unwrap().code.result_id
        };
        assert_eq!(id(&both[0]), id(&both[1]));
    }
}
