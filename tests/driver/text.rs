//! Builds the text of a compute module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The type of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    Bool,
    /// Width in bits.
    Unsigned(u8),
    Signed(u8),
    Float(u8),
}

impl Scalar {
    /// Width in bits; a bool is stored as a 32-bit integer.
    pub fn width(self) -> u8 {
        match self {
            Scalar::Bool => 32,
            Scalar::Unsigned(width) | Scalar::Signed(width) | Scalar::Float(width) => width,
        }
    }

    /// What it is in buffers.
    pub fn stored(self) -> Scalar {
        match self {
            Scalar::Bool => Scalar::Unsigned(32),
            other => other,
        }
    }
}

/// A scalar or vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    pub scalar: Scalar,
    pub count: u32,
}

impl Type {
    pub fn new(scalar: Scalar, count: u32) -> Type {
        Type { scalar, count }
    }

    pub fn bools(count: u32) -> Type {
        Type::new(Scalar::Bool, count)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.scalar {
            Scalar::Bool => write!(f, "bool")?,
            Scalar::Unsigned(width) => write!(f, "u{width}")?,
            Scalar::Signed(width) => write!(f, "i{width}")?,
            Scalar::Float(width) => write!(f, "f{width}")?,
        }
        match self.count {
            1 => Ok(()),
            count => write!(f, "x{count}"),
        }
    }
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Type {
        Type::new(scalar, 1)
    }
}

pub const U32: Scalar = Scalar::Unsigned(32);
pub const I32: Scalar = Scalar::Signed(32);
pub const F32: Scalar = Scalar::Float(32);

/// A module under construction with one function and one block, unless the user opens more.
#[derive(Default)]
pub struct Text {
    capabilities: BTreeSet<String>,
    extensions: BTreeSet<String>,
    modes: BTreeSet<String>,
    decorations: String,
    /// Types, constants and variables, in order; by what defines them, so that each is there once.
    globals: String,
    known: BTreeMap<String, String>,
    interface: Vec<String>,
    body: String,
    /// Opens the function: loads of built-ins.
    head: String,
    next: u32,
}

impl Text {
    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next)
    }

    pub fn capability(&mut self, name: &str) {
        self.capabilities.insert(name.to_owned());
    }

    pub fn extension(&mut self, name: &str) {
        self.extensions.insert(name.to_owned());
    }

    /// An execution mode with its operands, without the entry point.
    pub fn mode(&mut self, mode: &str) {
        self.modes.insert(mode.to_owned());
    }

    pub fn decorate(&mut self, id: &str, decoration: &str) {
        let _ = writeln!(self.decorations, "OpDecorate {id} {decoration}");
    }

    /// A declaration at module scope, once for all equal ones.
    pub fn global(&mut self, definition: &str) -> String {
        if let Some(id) = self.known.get(definition) {
            return id.clone();
        }
        let id = self.fresh();
        let _ = writeln!(self.globals, "{id} = {definition}");
        self.known.insert(definition.to_owned(), id.clone());
        id
    }

    /// A declaration of its own, whatever else is equal.
    pub fn own_global(&mut self, definition: &str) -> String {
        let id = self.fresh();
        let _ = writeln!(self.globals, "{id} = {definition}");
        id
    }

    /// OpExtInstImport, which stands among the globals of the text and is moved up in [`Text::finish`].
    pub fn import(&mut self, set: &str) -> String {
        let definition = format!("OpExtInstImport \"{set}\"");
        if let Some(id) = self.known.get(&definition) {
            return id.clone();
        }
        let id = self.fresh();
        self.known.insert(definition, id.clone());
        id
    }

    pub fn scalar(&mut self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Bool => self.global("OpTypeBool"),
            Scalar::Unsigned(width) | Scalar::Signed(width) => {
                if width != 32 {
                    self.capability(&format!("Int{width}"));
                }
                let sign = u8::from(matches!(scalar, Scalar::Signed(_)));
                self.global(&format!("OpTypeInt {width} {sign}"))
            }
            Scalar::Float(width) => {
                if width != 32 {
                    self.capability(&format!("Float{width}"));
                }
                // Else an implementation may lose NaNs, infinities and the sign of zero.
                self.capability("SignedZeroInfNanPreserve");
                self.mode(&format!("SignedZeroInfNanPreserve {width}"));
                self.global(&format!("OpTypeFloat {width}"))
            }
        }
    }

    pub fn ty(&mut self, ty: impl Into<Type>) -> String {
        let ty = ty.into();
        let scalar = self.scalar(ty.scalar);
        match ty.count {
            1 => scalar,
            count => self.global(&format!("OpTypeVector {scalar} {count}")),
        }
    }

    /// A struct of these types, without a layout.
    pub fn structure(&mut self, members: &[Type]) -> String {
        let members: Vec<String> = members.iter().map(|ty| self.ty(*ty)).collect();
        self.global(&format!("OpTypeStruct {}", members.join(" ")))
    }

    pub fn matrix(&mut self, column: Type, columns: u32) -> String {
        let column = self.ty(column);
        self.global(&format!("OpTypeMatrix {column} {columns}"))
    }

    /// A constant integer of at most 32 bits, unsigned.
    pub fn constant(&mut self, value: u32) -> String {
        let ty = self.scalar(U32);
        self.global(&format!("OpConstant {ty} {value}"))
    }

    /// The same value in every component.
    pub fn splat(&mut self, ty: Type, literal: &str) -> String {
        let scalar = self.scalar(ty.scalar);
        let one = self.global(&format!("OpConstant {scalar} {literal}"));
        if ty.count == 1 {
            return one;
        }
        let vector = self.ty(ty);
        self.global(&format!("OpConstantComposite {vector} {}", vec![one; ty.count as usize].join(" ")))
    }

    /// Appends an instruction with a result of this type (an id): `OpX` and its operands.
    pub fn op(&mut self, ty: &str, opcode: &str, operands: &str) -> String {
        let id = self.fresh();
        let _ = writeln!(self.body, "{id} = {opcode} {ty} {operands}");
        id
    }

    /// Appends an instruction without a result.
    pub fn emit(&mut self, line: &str) {
        let _ = writeln!(self.body, "{line}");
    }

    /// A built-in input, loaded at the start of the function.
    pub fn built_in(&mut self, name: &str, ty: Type) -> String {
        let key = format!("built-in {name}");
        if let Some(id) = self.known.get(&key) {
            return id.clone();
        }
        let value = self.ty(ty);
        let pointer = self.global(&format!("OpTypePointer Input {value}"));
        let variable = self.own_global(&format!("OpVariable {pointer} Input"));
        self.decorate(&variable, &format!("BuiltIn {name}"));
        self.interface.push(variable.clone());
        let id = self.fresh();
        let _ = writeln!(self.head, "{id} = OpLoad {value} {variable}");
        self.known.insert(key, id.clone());
        id
    }

    /// Appends to the head of the function, as [`Text::op`].
    pub fn head_op(&mut self, ty: &str, opcode: &str, operands: &str) -> String {
        let key = format!("head {ty} {opcode} {operands}");
        if let Some(id) = self.known.get(&key) {
            return id.clone();
        }
        let id = self.fresh();
        let _ = writeln!(self.head, "{id} = {opcode} {ty} {operands}");
        self.known.insert(key, id.clone());
        id
    }

    /// A variable at module scope with a storage class, listed in the interface.
    pub fn variable(&mut self, class: &str, ty: &str) -> String {
        let pointer = self.global(&format!("OpTypePointer {class} {ty}"));
        let variable = self.own_global(&format!("OpVariable {pointer} {class}"));
        self.interface.push(variable.clone());
        variable
    }

    /// A storage buffer in set 0 with a runtime array of this scalar.
    pub fn buffer(&mut self, binding: u32, scalar: Scalar) -> String {
        let key = format!("buffer {binding}");
        if let Some(id) = self.known.get(&key) {
            return id.clone();
        }
        match scalar.width() {
            8 => {
                self.capability("StorageBuffer8BitAccess");
            }
            16 => self.capability("StorageBuffer16BitAccess"),
            _ => {}
        }
        let element = self.scalar(scalar);
        let array = format!("OpTypeRuntimeArray {element}");
        let fresh = !self.known.contains_key(&array);
        let array = self.global(&array);
        let structure = format!("OpTypeStruct {array}");
        let structure = self.global(&structure);
        if fresh {
            self.decorate(&array, &format!("ArrayStride {}", scalar.width() / 8));
            self.decorate(&structure, "Block");
            let _ = writeln!(self.decorations, "OpMemberDecorate {structure} 0 Offset 0");
        }
        let variable = self.variable("StorageBuffer", &structure);
        self.decorate(&variable, "DescriptorSet 0");
        self.decorate(&variable, &format!("Binding {binding}"));
        self.known.insert(key, variable.clone());
        variable
    }

    /// The text. The function returns where the body ends.
    pub fn finish(mut self, local_size: u32) -> String {
        let (void, function) = {
            let void = self.global("OpTypeVoid");
            let function = self.global(&format!("OpTypeFunction {void}"));
            (void, function)
        };
        let mut text = String::new();
        for name in ["Shader", "VulkanMemoryModel"].into_iter().chain(self.capabilities.iter().map(|n| &**n))
        {
            let _ = writeln!(text, "OpCapability {name}");
        }
        for name in &self.extensions {
            let _ = writeln!(text, "OpExtension \"{name}\"");
        }
        for (definition, id) in &self.known {
            if definition.starts_with("OpExtInstImport") {
                let _ = writeln!(text, "{id} = {definition}");
            }
        }
        let _ = writeln!(text, "OpMemoryModel Logical Vulkan");
        let _ = writeln!(text, "OpEntryPoint GLCompute %main \"main\" {}", self.interface.join(" "));
        let _ = writeln!(text, "OpExecutionMode %main LocalSize {local_size} 1 1");
        for mode in &self.modes {
            let _ = writeln!(text, "OpExecutionMode %main {mode}");
        }
        text += &self.decorations;
        text += &self.globals;
        let _ = writeln!(text, "%main = OpFunction {void} None {function}\n%entry = OpLabel");
        text += &self.head;
        text += &self.body;
        text + "OpReturn\nOpFunctionEnd\n"
    }
}
