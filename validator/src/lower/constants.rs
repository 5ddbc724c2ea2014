//! Constants, specialisation constants among them, as runs of the constant pool
//! (SPIR-V specification 3.3.7).

use std::collections::HashMap;

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::fold;
use super::specialisation::literal_bits;
use super::types::{ScalarType, TypeTable};
use super::values::{Computation, Value, Values};
use crate::interp::Pointer;
use crate::ir::{Line, Operand, SpecConstant};
use crate::module::Instruction;
use crate::value::Scalar;

/// More components of constants than this are refused.
const MAX_POOL: usize = 1 << 24;
/// Constants of up to this many components are kept once.
const MAX_SHARED: usize = 16;

/// All constants of a module.
#[derive(Debug, Default)]
pub(super) struct ConstantTable {
    pub pool: Vec<Scalar>,
    shared: HashMap<Vec<Scalar>, Operand>,
    known: HashMap<u32, Result<Constant, Problem>>,
}

/// A constant.
#[derive(Clone, Copy, Debug)]
struct Constant {
    value: Value,
    /// Whether it depends on a specialisation constant.
    specialised: bool,
}

/// Constants as operands of constants.
struct ConstantValues<'a> {
    types: &'a TypeTable,
    constants: &'a ConstantTable,
}

impl Values for ConstantValues<'_> {
    fn types(&self) -> &TypeTable {
        self.types
    }

    fn value(&self, id: u32, line: Line) -> Result<Value, Problem> {
        self.constants.value(id, line)
    }
}

impl ConstantTable {
    /// Takes up a constant; false if the instruction is none.
    pub fn declare(
        &mut self,
        instruction: &Instruction,
        types: &TypeTable,
        specialised: &[SpecConstant],
    ) -> bool {
        let (Some(opcode), Some(ty), Some(id)) =
            (instruction.op(), instruction.result_type, instruction.result)
        else {
            return false;
        };
        if matches!(opcode, Opcode::Variable | Opcode::UntypedVariableKHR | Opcode::ExtInst) {
            return false;
        }
        let constant = self.resolve(opcode, ty, instruction, types, specialised);
        self.known.insert(id, constant);
        true
    }

    /// Gives a constant other components.
    pub fn replace(&mut self, id: u32, components: Vec<Scalar>, line: Line) {
        if let Some(Ok(constant)) = self.known.get(&id).cloned() {
            let operand = self.intern(components, line);
            self.known.insert(
                id,
                operand.map(|operand| Constant { value: Value { operand, ..constant.value }, ..constant }),
            );
        }
    }

    fn resolve(
        &mut self,
        opcode: Opcode,
        ty: u32,
        instruction: &Instruction,
        types: &TypeTable,
        specialised: &[SpecConstant],
    ) -> Result<Constant, Problem> {
        let line = instruction.line;
        let from_specialisation = || {
            specialised
                .iter()
                .find(|constant| Some(constant.result_id) == instruction.result)
                .map(|constant| vec![Scalar::new(constant.value)])
                .ok_or_else(|| Problem::invalid(line, "a specialisation constant must be a scalar"))
        };
        let count = types.components(ty, line)?;
        let mut specialised = false;
        let components = match opcode {
            Opcode::ConstantTrue => vec![Scalar::new(1)],
            Opcode::ConstantFalse => vec![Scalar::new(0)],
            Opcode::Constant => {
                let width = u32::from(types.lanes(ty, line)?.width);
                vec![Scalar::new(literal_bits(instruction, width))]
            }
            Opcode::SpecConstantTrue | Opcode::SpecConstantFalse | Opcode::SpecConstant => {
                specialised = true;
                from_specialisation()?
            }
            Opcode::ConstantComposite | Opcode::SpecConstantComposite if types.cooperative(ty).is_some() => {
                let constant = self.known(instruction.word(0).unwrap_or(0), line)?;
                specialised |= constant.specialised;
                let part = self.components(constant.value, types, line)?;
                part.iter().copied().cycle().take(count as usize).collect()
            }
            Opcode::ConstantComposite | Opcode::SpecConstantComposite => {
                let mut components = Vec::with_capacity(count as usize);
                for &part in instruction.operands {
                    let constant = self.known(part, line)?;
                    specialised |= constant.specialised;
                    components.extend_from_slice(self.components(constant.value, types, line)?);
                    if components.len() > count as usize {
                        return Err(Problem::invalid(line, "the composite has too many constituents"));
                    }
                }
                components
            }
            Opcode::ConstantCompositeReplicateEXT | Opcode::SpecConstantCompositeReplicateEXT => {
                let part = instruction.word(0).unwrap_or(0);
                let constant = self.known(part, line)?;
                specialised |= constant.specialised;
                if types.part(ty, 0, line)?.0 != constant.value.ty {
                    return Err(Problem::invalid(line, "the constant does not fit its type"));
                }
                let part = self.components(constant.value, types, line)?;
                part.iter().copied().cycle().take(count as usize).collect()
            }
            Opcode::ConstantNull => {
                let mut components = Vec::with_capacity(count as usize);
                types.for_each_scalar(ty, line, &mut |scalar| match scalar {
                    ScalarType::Number(_) => components.push(Scalar::new(0)),
                    ScalarType::Pointer => components.extend(Pointer::null().encode()),
                    ScalarType::PhysicalPointer => components.extend([Scalar::new(0); 2]),
                })?;
                components
            }
            Opcode::Undef => {
                let undefined = |width| Scalar::undefined(u32::from(width));
                types.widths(ty, line)?.into_iter().map(undefined).collect()
            }
            Opcode::SpecConstantOp => {
                for &operand in instruction.words_from(1) {
                    // Literals among these words only make the answer more careful.
                    specialised |=
                        matches!(self.known.get(&operand), Some(Ok(constant)) if constant.specialised);
                }
                self.fold(ty, instruction, types)?
            }
            _ => return Err(Problem::unsupported(instruction.name(), line)),
        };
        if components.len() != count as usize {
            return Err(Problem::invalid(line, "the constant does not fit its type"));
        }
        let operand = self.intern(components, line)?;
        Ok(Constant { value: Value { ty, operand }, specialised })
    }

    /// OpSpecConstantOp.
    fn fold(&self, ty: u32, instruction: &Instruction, types: &TypeTable) -> Result<Vec<Scalar>, Problem> {
        let line = instruction.line;
        let number = instruction.word(0).unwrap_or(0);
        let unsupported = || {
            let name = crate::module::opcode_name(number);
            Problem::unsupported(format!("OpSpecConstantOp {}", name.trim_start_matches("Op")), line)
        };
        let opcode = Opcode::from_u32(number).ok_or_else(unsupported)?;
        let computation = Computation {
            opcode,
            result_type: ty,
            dst: 0,
            operands: instruction.words_from(1),
            line,
            values: &ConstantValues { types, constants: self },
        };
        let op = computation.lower().ok_or_else(unsupported)??;
        fold::evaluate(&op, &types.widths(ty, line)?, &self.pool).ok_or_else(unsupported)
    }

    /// A scalar that no instruction declares.
    pub fn scalar(&mut self, value: Scalar, line: Line) -> Result<Operand, Problem> {
        self.run(vec![value], line)
    }

    /// Components that no instruction declares.
    pub fn run(&mut self, components: Vec<Scalar>, line: Line) -> Result<Operand, Problem> {
        self.intern(components, line)
    }

    fn intern(&mut self, components: Vec<Scalar>, line: Line) -> Result<Operand, Problem> {
        if let Some(&operand) = self.shared.get(&components) {
            return Ok(operand);
        }
        let start = self.pool.len();
        if start + components.len() > MAX_POOL {
            let what = format!("constants of more than {MAX_POOL} components");
            return Err(Problem::unsupported(what, line));
        }
        self.pool.extend_from_slice(&components);
        let operand = Operand::constant(start as u32);
        if components.len() <= MAX_SHARED {
            self.shared.insert(components, operand);
        }
        Ok(operand)
    }

    fn known(&self, id: u32, line: Line) -> Result<Constant, Problem> {
        match self.known.get(&id) {
            Some(constant) => constant.clone(),
            None => Err(Problem::invalid(line, format!("%{id} is not a constant"))),
        }
    }

    /// Whether there is a constant with this id.
    pub fn contains(&self, id: u32) -> bool {
        self.known.contains_key(&id)
    }

    /// The constant with this id.
    pub fn value(&self, id: u32, line: Line) -> Result<Value, Problem> {
        Ok(self.known(id, line)?.value)
    }

    /// Whether the constant depends on a specialisation constant.
    pub fn is_specialised(&self, id: u32) -> bool {
        matches!(self.known.get(&id), Some(Ok(constant)) if constant.specialised)
    }

    /// The components of a constant.
    pub fn components(&self, value: Value, types: &TypeTable, line: Line) -> Result<&[Scalar], Problem> {
        let start = value.operand.index() as usize;
        let end = start + types.components(value.ty, line)? as usize;
        self.pool.get(start..end).ok_or_else(|| Problem::invalid(line, "a constant is expected here"))
    }

    /// The value of a scalar integer or bool constant.
    pub fn integer(&self, id: u32, types: &TypeTable, line: Line) -> Result<u64, Problem> {
        let value = self.value(id, line)?;
        match self.components(value, types, line)? {
            [scalar] if scalar.is_defined() => Ok(scalar.bits),
            [_] => Err(Problem::invalid(line, format!("%{id} is undefined"))),
            _ => Err(Problem::invalid(line, format!("%{id} is not a scalar"))),
        }
    }
}
