//! Entry points, their execution modes, and what the module says about execution as a whole.

use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, MemoryModel as Model,
    Op as Opcode,
};

use super::constants::ConstantTable;
use super::decorations::Decoration as Decorated;
use super::error::{LowerError, Problem, Problems};
use super::globals::Globals;
use super::index::Index;
use super::relaxed::Relaxed;
use super::types::TypeTable;
use crate::ir::{FloatModes, Inexact, Line, MemoryModel, Modes, SpecConstant};
use crate::module::{Instruction, Module};

/// An entry point of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    pub name: String,
    /// Numeric execution model of SPIR-V (5 is GLCompute).
    pub execution_model: u32,
    pub line: Line,
    /// Id of its function.
    pub(super) function: u32,
    /// Ids of the variables in its interface.
    pub(super) interface: Vec<u32>,
}

impl EntryPoint {
    /// Whether it runs under the GLCompute execution model.
    pub fn is_compute(&self) -> bool {
        self.execution_model == ExecutionModel::GLCompute as u32
    }

    /// Whether it runs under the Fragment execution model.
    pub fn is_fragment(&self) -> bool {
        self.execution_model == ExecutionModel::Fragment as u32
    }

    /// Whether it runs under the Vertex or Fragment execution model.
    pub fn is_graphics(&self) -> bool {
        [ExecutionModel::Vertex, ExecutionModel::Fragment]
            .iter()
            .any(|model| self.execution_model == *model as u32)
    }
}

/// The entry points of a module, in module order.
pub fn entry_points(module: &Module) -> Vec<EntryPoint> {
    let declarations = module.instructions().take_while(|one| one.op() != Some(Opcode::Function));
    declarations
        .filter(|instruction| instruction.op() == Some(Opcode::EntryPoint))
        .filter_map(|instruction| {
            let (name, behind) = instruction.string(2)?;
            Some(EntryPoint {
                name,
                execution_model: instruction.word(0)?,
                line: instruction.line,
                function: instruction.word(1)?,
                interface: instruction.words_from(behind).to_vec(),
            })
        })
        .collect()
}

/// The entry point of this name; without a name the only one, or the only one for compute.
pub(super) fn select(module: &Module, name: Option<&str>) -> Result<EntryPoint, LowerError> {
    let all = entry_points(module);
    let names = |list: &[EntryPoint]| list.iter().map(|entry| entry.name.clone()).collect();
    if all.is_empty() {
        return Err(LowerError::NoEntryPoint);
    }
    let mut candidates: Vec<EntryPoint> = match name {
        Some(name) => all.iter().filter(|entry| entry.name == name).cloned().collect(),
        None => all.clone(),
    };
    if candidates.iter().any(EntryPoint::is_compute) {
        candidates.retain(EntryPoint::is_compute);
    }
    match (candidates.as_slice(), name) {
        ([entry], _) => Ok(entry.clone()),
        ([], Some(name)) => Err(LowerError::UnknownEntryPoint { name: name.to_owned(), known: names(&all) }),
        (several, _) => Err(LowerError::SeveralEntryPoints(names(several))),
    }
}

/// Where the local size of an entry point comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LocalSize {
    /// Execution mode LocalSize.
    Literal([u32; 3], Line),
    /// Execution mode LocalSizeId, or the parts of the constant that is decorated WorkgroupSize.
    Constants([u32; 3], Line),
    /// The constant that is decorated WorkgroupSize, where it is not put together from parts.
    Whole(u32, Line),
    Missing(Line),
}

impl LocalSize {
    /// Finds what gives the local size; the WorkgroupSize constant has precedence.
    pub fn find(module: &Module, index: &Index, workgroup_size: Option<u32>, entry: &EntryPoint) -> Self {
        let three = |words: &[u32]| match *words {
            [x, y, z, ..] => Some([x, y, z]),
            _ => None,
        };
        let mut found = LocalSize::Missing(entry.line);
        for instruction in index.module_scope.clone().filter_map(|at| module.instruction(at)) {
            // The decoration may be on an Input variable, too, which gives nothing.
            let is_constant = instruction.op() != Some(Opcode::Variable);
            if is_constant && instruction.result.is_some() && instruction.result == workgroup_size {
                let id = workgroup_size.unwrap_or(0);
                return match (instruction.op(), three(instruction.operands)) {
                    (Some(Opcode::ConstantComposite | Opcode::SpecConstantComposite), Some(parts)) => {
                        LocalSize::Constants(parts, instruction.line)
                    }
                    _ => LocalSize::Whole(id, instruction.line),
                };
            }
            if instruction.word(0) != Some(entry.function) {
                continue;
            }
            let mode = instruction.word(1).and_then(ExecutionMode::from_u32);
            match (instruction.op(), mode, three(instruction.words_from(2))) {
                (Some(Opcode::ExecutionMode), Some(ExecutionMode::LocalSize), Some(size)) => {
                    found = LocalSize::Literal(size, instruction.line);
                }
                (Some(Opcode::ExecutionModeId), Some(ExecutionMode::LocalSizeId), Some(ids)) => {
                    found = LocalSize::Constants(ids, instruction.line);
                }
                _ => {}
            }
        }
        found
    }

    /// Gives specialisation constants among the parts the wanted extents.
    pub fn specialise(&self, wanted: [u32; 3], constants: &mut [SpecConstant]) {
        if let LocalSize::Constants(ids, _) = self {
            for (&id, &extent) in ids.iter().zip(&wanted) {
                let own = constants.iter_mut().find(|constant| constant.result_id == id);
                if let Some(constant) = own {
                    constant.value = u64::from(extent);
                }
            }
        }
    }

    /// The extents.
    pub fn value(&self, types: &TypeTable, constants: &ConstantTable) -> Result<[u32; 3], Problem> {
        let (size, line) = match *self {
            LocalSize::Literal(size, line) => (size, line),
            LocalSize::Constants(ids, line) => {
                let mut size = [0; 3];
                for (extent, &id) in size.iter_mut().zip(&ids) {
                    *extent = u32::try_from(constants.integer(id, types, line)?)
                        .map_err(|_| Problem::invalid(line, "a local size does not fit in 32 bits"))?;
                }
                (size, line)
            }
            LocalSize::Whole(id, line) => {
                let value = constants.value(id, line)?;
                let components = constants.components(value, types, line)?;
                let extents: Vec<u32> = components.iter().map(|scalar| scalar.bits as u32).collect();
                let size = <[u32; 3]>::try_from(extents)
                    .map_err(|_| Problem::invalid(line, "the constant WorkgroupSize is no vector of 3"))?;
                (size, line)
            }
            LocalSize::Missing(line) => {
                return Err(Problem::invalid(line, "the entry point has no local size"));
            }
        };
        if size.contains(&0) {
            return Err(Problem::invalid(line, "a local size is 0"));
        }
        Ok(size)
    }

    /// For each extent that is exactly one specialisation constant, its SpecId.
    pub fn spec_ids(&self, constants: &[SpecConstant]) -> [Option<u32>; 3] {
        match self {
            LocalSize::Constants(ids, _) => ids.map(|id| {
                let own = constants.iter().find(|constant| constant.result_id == id);
                own.and_then(|constant| constant.spec_id)
            }),
            LocalSize::Literal(..) | LocalSize::Whole(..) | LocalSize::Missing(_) => [None; 3],
        }
    }

    /// Whether any extent depends on a specialisation constant.
    pub fn is_specialised(&self, globals: &Globals) -> bool {
        match self {
            LocalSize::Constants(ids, _) => ids.iter().any(|&id| globals.constants.is_specialised(id)),
            LocalSize::Whole(id, _) => globals.constants.is_specialised(*id),
            LocalSize::Literal(..) | LocalSize::Missing(_) => false,
        }
    }
}

/// A capability that is not known may change what instructions mean.
pub(super) fn check_capabilities(module: &Module, problems: &mut Problems) {
    let declared = module.instructions().filter(|one| one.op() == Some(Opcode::Capability));
    for (line, number) in declared.filter_map(|one| Some((one.line, one.word(0)?))) {
        if Capability::from_u32(number).is_none() {
            problems.add(Problem::unsupported(format!("capability {number}"), line));
        }
    }
}

/// The memory model of the module.
pub(super) fn memory_model(module: &Module, problems: &mut Problems) -> MemoryModel {
    let declaration = module.instructions().find(|one| one.op() == Some(Opcode::MemoryModel));
    let Some(declaration) = declaration else {
        problems.add(Problem::invalid(0, "the module has no OpMemoryModel"));
        return MemoryModel::Simple;
    };
    match declaration.word(0).and_then(AddressingModel::from_u32) {
        Some(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64) => {}
        Some(other) => {
            problems.add(Problem::unsupported(format!("addressing model {other:?}"), declaration.line));
        }
        None => problems.add(Problem::unsupported("an unknown addressing model", declaration.line)),
    }
    match declaration.word(1).and_then(Model::from_u32) {
        Some(Model::Simple) => MemoryModel::Simple,
        Some(Model::GLSL450) => MemoryModel::Glsl450,
        Some(Model::Vulkan) => MemoryModel::Vulkan,
        Some(Model::OpenCL) => {
            problems.add(Problem::unsupported("memory model OpenCL", declaration.line));
            MemoryModel::OpenCl
        }
        None => {
            problems.add(Problem::unsupported("an unknown memory model", declaration.line));
            MemoryModel::Simple
        }
    }
}

/// The execution modes of an entry point that change execution.
pub(super) fn modes(globals: &Globals, entry: &EntryPoint, problems: &mut Problems) -> Modes {
    let restricts = |decoration| globals.decorations.carriers(decoration).next().is_some();
    let mut modes = Modes {
        floats: float_modes(globals.module),
        restrict: restricts(Decorated::Restrict) || restricts(Decorated::RestrictPointer),
        ..Modes::default()
    };
    let declarations = globals.index.module_scope.clone().filter_map(|at| globals.module.instruction(at));
    for instruction in declarations {
        let is_mode = matches!(instruction.op(), Some(Opcode::ExecutionMode | Opcode::ExecutionModeId));
        if is_mode && instruction.word(0) == Some(entry.function) {
            problems.keep(mode(&instruction, &mut modes));
        }
    }
    modes
}

/// What decorations and constants say of float operations.
fn float_modes(module: &Module) -> FloatModes {
    let relaxed = Relaxed::of(module);
    let mut modes = FloatModes {
        always_inexact: relaxed.first,
        unbounded: relaxed.is_elsewhere,
        ..FloatModes::default()
    };
    let mut has_floats = false;
    for instruction in module.instructions() {
        match instruction.op() {
            Some(Opcode::TypeFloat) => has_floats = true,
            // The evaluation of constants is no step of the interpreter.
            Some(Opcode::SpecConstantOp)
                if instruction.word(0).and_then(Opcode::from_u32).is_some_and(computes_floats) =>
            {
                modes.always_inexact.get_or_insert(inexact(&instruction));
                modes.unbounded = true;
            }
            Some(Opcode::Decorate) => {
                modes.fast_math |= instruction.word(1) == Some(Decoration::FPFastMathMode as u32);
            }
            Some(Opcode::Function) => break,
            _ => {}
        }
    }
    modes.always_inexact = modes.always_inexact.filter(|_| has_floats);
    modes
}

pub(super) fn inexact(instruction: &Instruction) -> Inexact {
    Inexact { line: instruction.line, opcode: instruction.opcode, extended: 0 }
}

/// Whether an operation on specialisation constants may leave a float's value open.
fn computes_floats(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::FConvert
            | Opcode::QuantizeToF16
            | Opcode::ConvertFToS
            | Opcode::ConvertFToU
            | Opcode::ConvertSToF
            | Opcode::ConvertUToF
            | Opcode::FNegate
            | Opcode::FAdd
            | Opcode::FSub
            | Opcode::FMul
            | Opcode::FDiv
            | Opcode::FRem
            | Opcode::FMod
    )
}

fn mode(instruction: &Instruction, modes: &mut Modes) -> Result<(), Problem> {
    let number = instruction.word(1).unwrap_or(0);
    let width = instruction.word(2).unwrap_or(0);
    match ExecutionMode::from_u32(number) {
        Some(ExecutionMode::MaximallyReconvergesKHR) => modes.maximally_reconverges = true,
        Some(ExecutionMode::SubgroupSize) => modes.subgroup_size = instruction.word(2),
        Some(ExecutionMode::DenormPreserve) => modes.floats.denorm_preserve |= width,
        Some(ExecutionMode::SignedZeroInfNanPreserve) => {
            modes.floats.signed_zero_inf_nan_preserve |= width;
        }
        Some(ExecutionMode::RoundingModeRTE) => modes.floats.rounding_mode_rte |= width,
        Some(ExecutionMode::RoundingModeRTZ) => modes.floats.rounding_mode_rtz |= width,
        Some(ExecutionMode::DenormFlushToZero) => modes.floats.denorm_flush_to_zero |= width,
        // The local size is read elsewhere; the others ask for what is done anyway, or are hints.
        Some(
            ExecutionMode::LocalSize
            | ExecutionMode::LocalSizeId
            | ExecutionMode::LocalSizeHint
            | ExecutionMode::LocalSizeHintId
            | ExecutionMode::ContractionOff
            | ExecutionMode::SubgroupUniformControlFlowKHR
            | ExecutionMode::DerivativeGroupQuadsKHR
            | ExecutionMode::DerivativeGroupLinearKHR
            // A fragment's coordinates are given; when its depth and stencil are tested is not its business.
            | ExecutionMode::OriginUpperLeft
            | ExecutionMode::PixelCenterInteger
            | ExecutionMode::EarlyFragmentTests
            | ExecutionMode::PostDepthCoverage
            | ExecutionMode::DepthReplacing
            | ExecutionMode::DepthGreater
            | ExecutionMode::DepthLess
            | ExecutionMode::DepthUnchanged
            | ExecutionMode::StencilRefReplacingEXT
            | ExecutionMode::RequireFullQuadsKHR
            | ExecutionMode::QuadDerivativesKHR,
        ) => {}
        Some(other) => {
            let width = instruction.word(2).map_or(String::new(), |width| format!(" {width}"));
            return Err(Problem::unsupported(format!("execution mode {other:?}{width}"), instruction.line));
        }
        None => {
            return Err(Problem::unsupported(format!("execution mode {number}"), instruction.line));
        }
    }
    Ok(())
}

/// Notes if the entry point is of an execution model that is not run.
pub(super) fn check_execution_model(entry: &EntryPoint, problems: &mut Problems) {
    if !entry.is_compute() && !entry.is_graphics() {
        let name = match ExecutionModel::from_u32(entry.execution_model) {
            Some(model) => format!("{model:?}"),
            None => entry.execution_model.to_string(),
        };
        problems.add(Problem::unsupported(format!("execution model {name}"), entry.line));
    }
}
