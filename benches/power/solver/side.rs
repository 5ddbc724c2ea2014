//! One of both modules: its types, its constants, and the values of its instructions as terms.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

use super::evaluate::{self, Asides, Meaning};
use super::floats::Floats;
use super::terms::{Term, Terms};
use super::value::{Shape, Value, OPAQUE};

/// Arrays that are longer are not taken apart.
const LONGEST: u32 = 4096;

pub struct Side<'m> {
    pub instructions: HashMap<Word, &'m Instruction>,
    values: HashMap<Word, Value>,
    pub built_ins: HashMap<Word, BuiltIn>,
    strides: HashMap<Word, u32>,
    /// Structs of buffers that may be written, as modules before SPIR-V 1.3 have them.
    old_buffers: Vec<Word>,
    spec_ids: HashMap<Word, u32>,
    /// Memory may have several names, or be seen by others at any time.
    pub is_shared: bool,
    /// Variables by the roots of pointers to them.
    variables: HashMap<Term, Word>,
    pub glsl: Option<Word>,
    /// Names the instruction that is evaluated, the same in both modules.
    pub place: String,
    /// How many undefined values it has used.
    undefined: usize,
    floats: Floats,
}

/// How far an index into something of a type may go.
pub enum Extent {
    /// Less than this, else it is out of bounds.
    Elements(u64),
    /// Nothing is known.
    Unknown,
}

impl<'m> Side<'m> {
    pub fn of(module: &'m Module) -> Self {
        let defined = module.all_inst_iter().filter_map(|inst| Some((inst.result_id?, inst)));
        let mut side = Side {
            instructions: defined.collect(),
            values: HashMap::new(),
            built_ins: HashMap::new(),
            strides: HashMap::new(),
            old_buffers: Vec::new(),
            spec_ids: HashMap::new(),
            is_shared: module.annotations.iter().any(is_shared),
            variables: HashMap::new(),
            glsl: None,
            place: String::new(),
            undefined: 0,
            floats: Floats::default(),
        };
        let imports = &mut module.ext_inst_imports.iter();
        let is_glsl = |inst: &&Instruction| {
            inst.operands.first() == Some(&Operand::LiteralString("GLSL.std.450".to_owned()))
        };
        side.glsl = imports.find(is_glsl).and_then(|inst| inst.result_id);
        for inst in module.annotations.iter().filter(|inst| inst.class.opcode == Op::Decorate) {
            match inst.operands[..] {
                [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(which)] => {
                    side.built_ins.insert(id, which);
                }
                [Operand::IdRef(id), Operand::Decoration(Decoration::ArrayStride), Operand::LiteralBit32(by)] =>
                {
                    side.strides.insert(id, by);
                }
                [Operand::IdRef(id), Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(which)] =>
                {
                    side.spec_ids.insert(id, which);
                }
                [Operand::IdRef(id), Operand::Decoration(Decoration::BufferBlock)] => {
                    side.old_buffers.push(id)
                }
                _ => {}
            }
        }
        side
    }

    pub fn enter(&mut self, place: &str) {
        self.place = place.to_owned();
        self.undefined = 0;
    }

    /// Notes what an instruction makes of floats, scalar by scalar.
    pub fn note(&mut self, inst: &Instruction, values: &[Value], result: &Value, terms: &mut Terms) {
        let scalars: Vec<Vec<Term>> = values.iter().map(Value::leaves).collect();
        for (at, result) in result.leaves().into_iter().enumerate() {
            // Some functions of vectors are scalars.
            let of: Vec<Term> = scalars.iter().filter_map(|leaves| leaves.get(at).copied()).collect();
            self.floats.note(inst, &of, result, terms);
        }
    }

    pub fn set(&mut self, id: Word, value: Value) {
        self.values.insert(id, value);
    }

    /// The values of all ids, which can be brought back.
    pub fn values(&self) -> HashMap<Word, Value> {
        self.values.clone()
    }

    pub fn restore(&mut self, values: HashMap<Word, Value>) {
        self.values = values;
    }

    fn literal(&self, id: Word) -> Option<u32> {
        let inst = self.instructions.get(&id).filter(|inst| inst.class.opcode == Op::Constant)?;
        match inst.operands.first() {
            Some(Operand::LiteralBit32(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn shape(&self, ty: Word) -> Option<Shape> {
        let inst = self.instructions.get(&ty)?;
        let part = || self.shape(evaluate::ids(inst).next()?);
        let repeated = |count: u32| Some(Shape::Many(vec![part()?; count as usize].into()));
        match (inst.class.opcode, inst.operands.as_slice()) {
            (Op::TypeBool, _) => Some(Shape::One(0)),
            (Op::TypeInt, [Operand::LiteralBit32(bits), ..]) => Some(Shape::One(*bits)),
            // Those with another encoding than that of IEEE 754 have a further operand.
            (Op::TypeFloat, [Operand::LiteralBit32(bits)]) => Some(Shape::One(*bits)),
            (Op::TypeFloat, _) => None,
            (Op::TypeVector | Op::TypeMatrix, [_, Operand::LiteralBit32(count)]) => repeated(*count),
            (Op::TypeArray, [_, Operand::IdRef(length)]) => match self.literal(*length) {
                Some(length) if length <= LONGEST => repeated(length),
                _ => Some(Shape::One(OPAQUE)),
            },
            (Op::TypeStruct, _) => {
                let parts = evaluate::ids(inst).map(|part| self.shape(part)).collect::<Option<Vec<_>>>()?;
                Some(Shape::Many(parts.into()))
            }
            (Op::TypeVoid, _) => Some(Shape::Many(Vec::new().into())),
            _ => Some(Shape::One(OPAQUE)),
        }
    }

    /// The value of an id: of an instruction that was evaluated before, or of a constant.
    pub fn value(&mut self, id: Word, terms: &mut Terms) -> Option<Value> {
        if let Some(value) = self.values.get(&id) {
            return Some(value.clone());
        }
        let inst = *self.instructions.get(&id)?;
        if inst.class.opcode == Op::Undef {
            return self.undefined(inst.result_type?, terms);
        }
        let value = self.global(id, inst, terms)?;
        self.values.insert(id, value.clone());
        Some(value)
    }

    /// Another value wherever it is used, but the same one in both modules.
    fn undefined(&mut self, ty: Word, terms: &mut Terms) -> Option<Value> {
        self.undefined += 1;
        let name = format!("undefined {} in {}", self.undefined, self.place);
        let shape = self.shape(ty)?;
        Some(shape.fill(&mut Vec::new(), &mut |part, bits| terms.symbol(&format!("{name} {part:?}"), bits)))
    }

    fn global(&mut self, id: Word, inst: &'m Instruction, terms: &mut Terms) -> Option<Value> {
        let shape = self.shape(inst.result_type?)?;
        let mut symbols =
            |name: String| {
                Some(shape.fill(&mut Vec::new(), &mut |place, bits| {
                    terms.symbol(&format!("{name} {place:?}"), bits)
                }))
            };
        match inst.class.opcode {
            Op::Constant => {
                let Shape::One(bits) = shape else { return None };
                let value = match inst.operands.first()? {
                    Operand::LiteralBit32(value) => u64::from(*value),
                    Operand::LiteralBit64(value) => *value,
                    _ => return None,
                };
                Some(Value::One(terms.number(bits, value)))
            }
            Op::ConstantTrue | Op::ConstantFalse => {
                Some(Value::One(terms.truth(inst.class.opcode == Op::ConstantTrue)))
            }
            Op::ConstantNull => Some(shape.fill(&mut Vec::new(), &mut |_, bits| match bits {
                0 => terms.truth(false),
                bits => terms.number(bits, 0),
            })),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts = evaluate::ids(inst).map(|part| self.value(part, terms));
                parts.collect::<Option<Vec<_>>>().map(Value::of)
            }
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                match self.spec_ids.get(&id) {
                    Some(which) => symbols(format!("specialisation {which}")),
                    // Nobody can set it.
                    None => symbols(format!("constant of {id}")),
                }
            }
            Op::SpecConstantOp => {
                let (operation, operands) = inst.operands.split_first()?;
                let Operand::LiteralSpecConstantOpInteger(opcode) = operation else { return None };
                let inst = Instruction::new(*opcode, inst.result_type, inst.result_id, operands.to_vec());
                let place = std::mem::replace(&mut self.place, format!("constant {id}"));
                let meaning = evaluate::evaluate(&inst, self, terms, &mut Asides::default());
                self.place = place;
                match meaning? {
                    Meaning::Value(value) => Some(value),
                    Meaning::Effect => None,
                }
            }
            Op::Variable => {
                let name = match self.built_ins.get(&id) {
                    Some(which) => format!("built-in {which:?}"),
                    None => format!("variable {id}"),
                };
                let root = terms.symbol(&name, OPAQUE);
                self.variables.insert(root, id);
                Some(Value::of(vec![Value::One(root)]))
            }
            _ => None,
        }
    }

    /// The variable that a pointer leads into, and the indices.
    fn path(&self, pointer: &Value) -> Option<(&'m Instruction, Vec<Term>)> {
        let (root, indices) = pointer.many()?.split_first()?;
        let variable = self.variables.get(&root.one()?)?;
        let indices = indices.iter().map(Value::one).collect::<Option<Vec<_>>>()?;
        Some((*self.instructions.get(variable)?, indices))
    }

    /// Each index of a pointer into a variable, and how far it may go.
    pub fn extents(&self, pointer: &Value, terms: &Terms) -> Option<Vec<(Term, Extent)>> {
        let (variable, indices) = self.path(pointer)?;
        let mut ty = self.pointee(variable.result_type?)?;
        let mut found = Vec::new();
        for index in indices {
            let inst = self.instructions.get(&ty)?;
            let mut parts = evaluate::ids(inst);
            let extent = match (inst.class.opcode, inst.operands.as_slice()) {
                (Op::TypeStruct, _) => Extent::Elements(parts.clone().count() as u64),
                (Op::TypeVector | Op::TypeMatrix, [_, Operand::LiteralBit32(count)]) => {
                    Extent::Elements(u64::from(*count))
                }
                (Op::TypeArray, [_, Operand::IdRef(length)]) => match self.literal(*length) {
                    Some(length) => Extent::Elements(u64::from(length)),
                    None => Extent::Unknown,
                },
                // The range of a buffer is a number of 32 bits (Vulkan, maxStorageBufferRange).
                (Op::TypeRuntimeArray, _) => match self.strides.get(&ty) {
                    Some(stride) if *stride > 0 => Extent::Elements(u64::from(u32::MAX / stride) + 1),
                    _ => Extent::Unknown,
                },
                _ => return None,
            };
            ty = match inst.class.opcode {
                Op::TypeStruct => parts.nth(terms.literal(index)? as usize)?,
                _ => parts.next()?,
            };
            found.push((index, extent));
        }
        Some(found)
    }

    fn pointee(&self, pointer: Word) -> Option<Word> {
        evaluate::ids(self.instructions.get(&pointer)?).next()
    }

    /// What names the memory that a pointer leads to, where nobody writes it while the shader runs and its indices are
    /// numbers within the bounds.
    pub fn constant_memory(&self, pointer: &Value, terms: &Terms) -> Option<(String, Vec<usize>)> {
        let (variable, indices) = self.path(pointer)?;
        let Some(Operand::StorageClass(class)) = variable.operands.first() else { return None };
        let id = variable.result_id?;
        let is_constant = match class {
            StorageClass::Input => self.built_ins.get(&id) != Some(&BuiltIn::HelperInvocation),
            StorageClass::PushConstant | StorageClass::UniformConstant => true,
            StorageClass::Uniform => !self.old_buffers.contains(&self.pointee(variable.result_type?)?),
            _ => false,
        };
        let within = |(index, extent): (Term, Extent)| match (terms.literal(index), extent) {
            (Some(index), Extent::Elements(count)) => index < count,
            _ => false,
        };
        let is_known = is_constant && self.extents(pointer, terms)?.into_iter().all(within);
        let name = match self.built_ins.get(&id) {
            Some(which) => format!("{which:?}"),
            None => id.to_string(),
        };
        let place = indices.iter().filter_map(|index| Some(terms.literal(*index)? as usize)).collect();
        is_known.then(|| (format!("constant {name}"), place))
    }
}

fn is_shared(inst: &Instruction) -> bool {
    inst.operands.iter().any(|operand| {
        let Operand::Decoration(decoration) = operand else { return false };
        matches!(decoration, Decoration::Aliased | Decoration::Coherent | Decoration::Volatile)
    })
}
