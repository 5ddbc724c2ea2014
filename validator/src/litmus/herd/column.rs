//! Reader of the instructions of a thread.

use std::collections::HashMap;

use super::super::cursor::{number, Cursor};
use super::super::error::ParseError;
use super::super::lexer::{Token, TokenKind};
use super::super::mnemonic::{self, operation, Mnemonic};
use super::super::names::Variables;
use super::super::test::{
    Access, AccessKind, Comparison, Instruction, Operand, Register, Statement, Target, Thread, Value, Wait,
};
use super::super::Dialect;
use crate::event::{ClassSet, Scope};

/// The registers of a thread by name.
#[derive(Debug, Default)]
pub(super) struct Registers<'a> {
    indices: HashMap<&'a str, usize>,
    list: Vec<Register>,
}

impl<'a> Registers<'a> {
    pub fn get(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// Adds the register, unless it is there.
    pub fn intern(&mut self, name: &'a str, initial: Value) {
        let next = self.list.len();
        if *self.indices.entry(name).or_insert(next) == next {
            self.list.push(Register { name: name.to_owned(), initial });
        }
    }
}

/// A thread whose instructions are not read yet.
#[derive(Debug)]
pub(super) struct Column<'t, 'a> {
    pub subgroup: u32,
    pub workgroup: u32,
    pub queue_family: u32,
    /// Those that the initial state declares or an instruction of the thread writes.
    pub registers: Registers<'a>,
    /// The instruction after each label.
    pub labels: HashMap<&'a str, usize>,
    /// The tokens of each instruction.
    pub cells: Vec<Cursor<'t, 'a>>,
}

impl<'a> Column<'_, 'a> {
    /// Reads the instructions. `text` is the whole file.
    pub fn parse(
        self,
        text: &'a str,
        variables: &mut Variables<'a>,
    ) -> Result<(Thread, Registers<'a>), ParseError> {
        let Column { subgroup, workgroup, queue_family, mut registers, labels, cells } = self;
        let mut code = Vec::with_capacity(cells.len());
        let mut reader = Reader { text, registers: &registers, labels: &labels, variables };
        for mut cell in cells {
            let position = cell.peek().position;
            let instruction = reader.instruction(&mut cell)?;
            cell.expect_end("'|' or ';' after an instruction")?;
            code.push(Statement { position, instruction });
        }
        let registers_of_thread = std::mem::take(&mut registers.list);
        Ok((Thread { subgroup, workgroup, queue_family, registers: registers_of_thread, code }, registers))
    }
}

/// The condition of a branch.
fn branch(word: &str) -> Option<Comparison> {
    Some(match word {
        "beq" => Comparison::Equal,
        "bne" => Comparison::NotEqual,
        "bge" => Comparison::GreaterEqual,
        "ble" => Comparison::LessEqual,
        "bgt" => Comparison::Greater,
        "blt" => Comparison::Less,
        _ => return None,
    })
}

/// Whether a name that is neither declared nor written has to be meant as a register.
fn looks_like_register(name: &str) -> bool {
    name.strip_prefix('r')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A register that nothing gives a value.
pub(super) fn never_written(token: Token<'_>) -> ParseError {
    let message = format!(
        "register {token} is read but never written: expected one that the thread writes or the initial state \
         declares"
    );
    ParseError::new(token, message)
}

struct Reader<'c, 'a> {
    text: &'a str,
    registers: &'c Registers<'a>,
    labels: &'c HashMap<&'a str, usize>,
    variables: &'c mut Variables<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn instruction(&mut self, cell: &mut Cursor<'_, 'a>) -> Result<Instruction, ParseError> {
        let head = cell.peek();
        let word = if head.kind == TokenKind::Word { head.text } else { "" };
        if let Some(operation) = operation(word) {
            cell.next();
            let register = self.destination(cell)?;
            cell.expect_symbol(",")?;
            let a = self.operand(cell)?;
            cell.expect_symbol(",")?;
            return Ok(Instruction::Compute { operation, register, a, b: self.operand(cell)? });
        }
        if let Some(comparison) = branch(word) {
            cell.next();
            let a = self.operand(cell)?;
            cell.expect_symbol(",")?;
            let b = self.operand(cell)?;
            cell.expect_symbol(",")?;
            return Ok(Instruction::Branch { comparison, a, b, target: self.label(cell)? });
        }
        if word == "goto" {
            cell.next();
            return Ok(Instruction::Goto(self.label(cell)?));
        }
        self.memory_instruction(cell)
    }

    fn memory_instruction(&mut self, cell: &mut Cursor<'_, 'a>) -> Result<Instruction, ParseError> {
        Ok(match mnemonic::read(cell, Dialect::Herd, self.text)? {
            Mnemonic::Store { class, kind } => {
                let access = self.access(cell, class, kind)?;
                cell.expect_symbol(",")?;
                Instruction::Store { access, value: self.operand(cell)? }
            }
            Mnemonic::Load { class, kind } => {
                let register = self.destination(cell)?;
                cell.expect_symbol(",")?;
                Instruction::Load { access: self.access(cell, class, kind)?, register, expected: None }
            }
            Mnemonic::Update { class, kind, operation } => {
                let register = self.destination(cell)?;
                cell.expect_symbol(",")?;
                let access = self.access(cell, class, kind)?;
                cell.expect_symbol(",")?;
                let value = self.operand(cell)?;
                Instruction::Update { access, operation, register, value, expected: None }
            }
            Mnemonic::MemoryBarrier { scope, semantics } => Instruction::MemoryBarrier { scope, semantics },
            Mnemonic::ControlBarrier { scope, semantics } => {
                let instance = self.operand(cell)?;
                let mut waits = Wait::Users { id: Operand::Value(Value::Number(0)) };
                if cell.take_symbol(",") {
                    let id = self.operand(cell)?;
                    waits = match cell.take_symbol(",") {
                        true => Wait::Quorum { id, count: self.operand(cell)? },
                        false => Wait::Users { id },
                    };
                }
                let execution = Scope::Workgroup;
                Instruction::ControlBarrier { execution, scope, semantics, instance, waits }
            }
            Mnemonic::DeviceAvailability => Instruction::DeviceAvailability,
            Mnemonic::DeviceVisibility => Instruction::DeviceVisibility,
        })
    }

    fn destination(&self, cell: &mut Cursor<'_, 'a>) -> Result<usize, ParseError> {
        let expected = "the register that the instruction writes";
        let token = cell.expect_name(expected)?;
        self.registers.get(token.text).ok_or_else(|| ParseError::unexpected(token, expected))
    }

    fn access(
        &mut self,
        cell: &mut Cursor<'_, 'a>,
        class: ClassSet,
        kind: AccessKind,
    ) -> Result<Access, ParseError> {
        let token = cell.expect_name("a location: a variable, or a register with an address")?;
        let target = match (self.registers.get(token.text), self.variables.get(token.text)) {
            (Some(register), _) => Target::Register(register),
            (None, Some(variable)) => Target::Variable(variable),
            (None, None) if looks_like_register(token.text) => return Err(never_written(token)),
            (None, None) => Target::Variable(self.variables.intern(token.text)),
        };
        Ok(Access { target, class, kind })
    }

    fn operand(&mut self, cell: &mut Cursor<'_, 'a>) -> Result<Operand, ParseError> {
        if cell.take_symbol("&") {
            let name = cell.expect_name("the name of a variable")?;
            return Ok(Operand::Value(Value::Address(self.variables.intern(name.text))));
        }
        let token = cell.next();
        if token.is_number() {
            return number(token).map(|value| Operand::Value(Value::Number(value)));
        }
        if !token.is_name() {
            return Err(ParseError::unexpected(token, "a value: a register, a number, or & and a variable"));
        }
        match self.registers.get(token.text) {
            Some(register) => Ok(Operand::Register(register)),
            None if self.variables.get(token.text).is_some() => {
                let message = format!("variable {token} as a value: expected a register, a number, or &");
                Err(ParseError::new(token, message))
            }
            None => Err(never_written(token)),
        }
    }

    fn label(&self, cell: &mut Cursor<'_, 'a>) -> Result<usize, ParseError> {
        let token = cell.expect_name("a label")?;
        self.labels.get(token.text).copied().ok_or_else(|| {
            let message = format!("there is no label {token} in this thread: expected one that it has");
            ParseError::new(token, message)
        })
    }
}
