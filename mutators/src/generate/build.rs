//! Builds a compute module: declarations once each, functions block by block.

use std::collections::HashMap;

use rspirv::binary::Assemble;
use rspirv::dr::{self, Block, Function, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GlslStd450Op, MemoryModel, Op, StorageClass, Word,
};

use super::types::Ty;

/// A module under construction. Instructions go to the block that was opened last.
pub(super) struct Builder {
    module: dr::Module,
    next: Word,
    known: HashMap<(Op, Option<Word>, Vec<Operand>), Word>,
    interface: Vec<Word>,
    modes: Vec<Instruction>,
    glsl: Option<Word>,
    vulkan: bool,
    function: Function,
    /// Variables of the function, which open its first block.
    locals: Vec<Instruction>,
}

impl Builder {
    /// An empty module with Vulkan's memory model, or with GLSL's.
    pub(super) fn new(vulkan: bool) -> Self {
        let mut builder = Builder {
            module: dr::Module::new(),
            next: 1,
            known: HashMap::new(),
            interface: Vec::new(),
            modes: Vec::new(),
            glsl: None,
            vulkan,
            function: Function::default(),
            locals: Vec::new(),
        };
        builder.capability(Capability::Shader);
        if vulkan {
            builder.capability(Capability::VulkanMemoryModel);
        }
        builder
    }

    /// Whether the memory model is Vulkan's.
    pub(super) fn is_vulkan(&self) -> bool {
        self.vulkan
    }

    pub(super) fn fresh(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    pub(super) fn capability(&mut self, capability: Capability) {
        let operands = vec![Operand::Capability(capability)];
        if !self.module.capabilities.iter().any(|inst| inst.operands == operands) {
            self.module.capabilities.push(Instruction::new(Op::Capability, None, None, operands));
        }
    }

    /// An execution mode of the entry point, once.
    pub(super) fn mode(&mut self, mode: ExecutionMode, literals: &[u32]) {
        let operands: Vec<Operand> = std::iter::once(Operand::ExecutionMode(mode))
            .chain(literals.iter().copied().map(Operand::LiteralBit32))
            .collect();
        if !self.modes.iter().any(|inst| inst.operands == operands) {
            self.modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
        }
    }

    /// Floats of this width keep zeros, so that results that are zero are exact too.
    pub(super) fn preserve_zeros(&mut self, width: u32) {
        self.capability(Capability::SignedZeroInfNanPreserve);
        self.mode(ExecutionMode::SignedZeroInfNanPreserve, &[width]);
    }

    /// A declaration, once for all equal ones.
    pub(super) fn global(&mut self, opcode: Op, of_type: Option<Word>, operands: Vec<Operand>) -> Word {
        let key = (opcode, of_type, operands);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.own_global(opcode, of_type, key.2.clone());
        self.known.insert(key, id);
        id
    }

    /// A declaration of its own, whatever else is equal.
    pub(super) fn own_global(&mut self, opcode: Op, of_type: Option<Word>, operands: Vec<Operand>) -> Word {
        let id = self.fresh();
        self.module.types_global_values.push(Instruction::new(opcode, of_type, Some(id), operands));
        id
    }

    pub(super) fn decorate(&mut self, id: Word, decoration: Decoration, literals: &[u32]) {
        let operands = [Operand::IdRef(id), Operand::Decoration(decoration)].into_iter();
        let operands = operands.chain(literals.iter().copied().map(Operand::LiteralBit32)).collect();
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    pub(super) fn decorate_member(&mut self, id: Word, member: u32, decoration: Decoration, literal: u32) {
        let operands = vec![
            Operand::IdRef(id),
            Operand::LiteralBit32(member),
            Operand::Decoration(decoration),
            Operand::LiteralBit32(literal),
        ];
        self.module.annotations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    /// A member of a struct, matrices or arrays of them, is stored column by column.
    pub(super) fn decorate_column_major(&mut self, id: Word, member: u32) {
        let decoration = Operand::Decoration(Decoration::ColMajor);
        let operands = vec![Operand::IdRef(id), Operand::LiteralBit32(member), decoration];
        self.module.annotations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    /// A variable at module scope, of this pointer type, listed in the interface.
    pub(super) fn variable(&mut self, class: StorageClass, pointer: Word, initial: Option<Word>) -> Word {
        let operands = [Operand::StorageClass(class)].into_iter();
        let operands = operands.chain(initial.map(Operand::IdRef)).collect();
        let id = self.own_global(Op::Variable, Some(pointer), operands);
        self.interface.push(id);
        id
    }

    /// The variable of a built-in input.
    pub(super) fn built_in(&mut self, built_in: BuiltIn, ty: &Ty) -> Word {
        let pointer = self.pointer(StorageClass::Input, ty);
        let id = self.variable(StorageClass::Input, pointer, None);
        let operands =
            vec![Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)];
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
        id
    }

    /// An instruction without a result.
    pub(super) fn emit(&mut self, opcode: Op, operands: Vec<Operand>) {
        self.push(Instruction::new(opcode, None, None, operands));
    }

    /// An instruction with a result of a type (an id).
    pub(super) fn result(&mut self, opcode: Op, of_type: Word, operands: Vec<Operand>) -> Word {
        let id = self.fresh();
        self.result_as(id, opcode, of_type, operands);
        id
    }

    /// The same, with an id that was used before.
    pub(super) fn result_as(&mut self, id: Word, opcode: Op, of_type: Word, operands: Vec<Operand>) {
        self.push(Instruction::new(opcode, Some(of_type), Some(id), operands));
    }

    /// An instruction whose operands are ids.
    pub(super) fn op(&mut self, opcode: Op, ty: &Ty, operands: &[Word]) -> Word {
        let of_type = self.ty(ty);
        self.result(opcode, of_type, operands.iter().copied().map(Operand::IdRef).collect())
    }

    /// An instruction whose operands are ids and, behind them, literals.
    pub(super) fn op_with(&mut self, opcode: Op, ty: &Ty, ids: &[Word], literals: &[u32]) -> Word {
        let of_type = self.ty(ty);
        let ids = ids.iter().copied().map(Operand::IdRef);
        let operands = ids.chain(literals.iter().copied().map(Operand::LiteralBit32)).collect();
        self.result(opcode, of_type, operands)
    }

    /// A function of GLSL.std.450.
    pub(super) fn glsl(&mut self, function: GlslStd450Op, ty: &Ty, arguments: &[Word]) -> Word {
        let set = self.glsl.unwrap_or_else(|| {
            let id = self.fresh();
            let name = vec![Operand::LiteralString("GLSL.std.450".to_owned())];
            self.module.ext_inst_imports.push(Instruction::new(Op::ExtInstImport, None, Some(id), name));
            id
        });
        self.glsl = Some(set);
        let of_type = self.ty(ty);
        let head = [Operand::IdRef(set), Operand::LiteralExtInstInteger(function as u32)].into_iter();
        let operands = head.chain(arguments.iter().copied().map(Operand::IdRef)).collect();
        self.result(Op::ExtInst, of_type, operands)
    }

    fn push(&mut self, inst: Instruction) {
        if let Some(block) = self.function.blocks.last_mut() {
            block.instructions.push(inst);
        }
    }

    /// Opens a block.
    pub(super) fn open(&mut self, label: Word) {
        let label = Instruction::new(Op::Label, None, Some(label), vec![]);
        self.function.blocks.push(Block { label: Some(label), instructions: Vec::new() });
    }

    /// The label of the open block.
    pub(super) fn current(&self) -> Word {
        self.function.blocks.last().and_then(Block::label_id).unwrap_or_default()
    }

    /// A variable of the function.
    pub(super) fn local(&mut self, ty: &Ty, initial: Option<Word>) -> Word {
        let pointer = self.pointer(StorageClass::Function, ty);
        let id = self.fresh();
        let operands = [Operand::StorageClass(StorageClass::Function)].into_iter();
        let operands = operands.chain(initial.map(Operand::IdRef)).collect();
        self.locals.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
        id
    }

    /// Begins a function with parameters of these types (ids). Gives its id and those of the parameters.
    pub(super) fn begin(&mut self, returns: Word, parameters: &[Word]) -> (Word, Vec<Word>) {
        let types = [returns].iter().chain(parameters).copied().map(Operand::IdRef).collect();
        let signature = self.global(Op::TypeFunction, None, types);
        let id = self.fresh();
        let operands = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(signature)];
        let def = Instruction::new(Op::Function, Some(returns), Some(id), operands);
        let ids: Vec<Word> = parameters.iter().map(|_| self.fresh()).collect();
        let parameters = ids.iter().zip(parameters);
        self.function = Function {
            def: Some(def),
            parameters: parameters
                .map(|(id, ty)| Instruction::new(Op::FunctionParameter, Some(*ty), Some(*id), vec![]))
                .collect(),
            ..Function::default()
        };
        let entry = self.fresh();
        self.open(entry);
        (id, ids)
    }

    /// Ends the function.
    pub(super) fn end(&mut self) {
        let mut function = std::mem::take(&mut self.function);
        let locals = std::mem::take(&mut self.locals);
        if let Some(entry) = function.blocks.first_mut() {
            entry.instructions.splice(0..0, locals);
        }
        function.end = Some(Instruction::new(Op::FunctionEnd, None, None, vec![]));
        self.module.functions.push(function);
    }

    /// The words of the module, with this function as its entry point `main`.
    pub(super) fn finish(mut self, main: Word, local_size: [u32; 3]) -> Vec<u32> {
        self.mode(ExecutionMode::LocalSize, &local_size);
        let model = if self.vulkan { MemoryModel::Vulkan } else { MemoryModel::GLSL450 };
        let operands = vec![Operand::AddressingModel(AddressingModel::Logical), Operand::MemoryModel(model)];
        self.module.memory_model = Some(Instruction::new(Op::MemoryModel, None, None, operands));
        let head = [
            Operand::ExecutionModel(ExecutionModel::GLCompute),
            Operand::IdRef(main),
            Operand::LiteralString("main".to_owned()),
        ];
        let interface = self.interface.iter().copied().map(Operand::IdRef);
        let operands = head.into_iter().chain(interface).collect();
        self.module.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
        for mut mode in self.modes {
            mode.operands.insert(0, Operand::IdRef(main));
            self.module.execution_modes.push(mode);
        }
        let mut header = dr::ModuleHeader::new(self.next);
        header.set_version(1, 6);
        self.module.header = Some(header);
        self.module.assemble()
    }
}
