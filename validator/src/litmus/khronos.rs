//! Reader of the Khronos `.test` files, which have a line for each instruction or directive.

use std::collections::HashMap;

use super::cursor::{comparison, descend, number, relation, spelling, Cursor};
use super::error::ParseError;
use super::lexer::{tokenize, Token, TokenKind};
use super::mnemonic::{self, Mnemonic};
use super::names::Variables;
use super::test::{
    Access, AccessKind, Condition, Expectation, Instruction, Operand, Quantifier, Register, Statement,
    Target, Term, Test, Thread, Value, Wait,
};
use super::Dialect;
use crate::event::ClassSet;

/// Reads a `.test` file.
///
/// # Errors
/// The first mistake of the file.
pub(super) fn parse(text: &str) -> Result<Test, ParseError> {
    let (tokens, end) = tokenize(text, Dialect::Khronos)?;
    let mut parser = Parser { text, ..Parser::default() };
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let length = rest.iter().position(|token| token.kind == TokenKind::Newline).unwrap_or(rest.len());
        let (line, after) = rest.split_at(length);
        if !line.is_empty() {
            parser.line(Cursor::new(line, after.first().copied().unwrap_or(end)))?;
        }
        rest = after.get(1..).unwrap_or_default();
    }
    parser.finish(end)
}

#[derive(Default)]
struct Parser<'a> {
    text: &'a str,
    variables: Variables<'a>,
    threads: Vec<Thread>,
    /// Threads by the numbers that the file gives them.
    numbered: HashMap<i32, usize>,
    /// For each thread, whether the file numbers it.
    has_number: Vec<bool>,
    opened: Opened,
    /// Pairs of threads and of variables, which may be named before they occur.
    system_synchronizes_with: Vec<[Token<'a>; 2]>,
    same_location: Vec<[Token<'a>; 2]>,
    expectations: Vec<Expectation>,
}

/// The groups that instructions and further groups go to. Numbers count over the whole test.
#[derive(Default)]
struct Opened {
    queue_family: Option<u32>,
    workgroup: Option<u32>,
    subgroup: Option<u32>,
    /// A thread is open, which is the last one.
    thread: bool,
    queue_families: u32,
    workgroups: u32,
    subgroups: u32,
}

/// The number of the next group of a kind.
fn open(count: &mut u32) -> u32 {
    let number = *count;
    *count += 1;
    number
}

impl Opened {
    fn queue_family(&mut self) {
        let number = open(&mut self.queue_families);
        *self =
            Opened { queue_family: Some(number), workgroup: None, subgroup: None, thread: false, ..*self };
    }

    fn workgroup(&mut self) {
        let number = open(&mut self.workgroups);
        *self = Opened { workgroup: Some(number), subgroup: None, thread: false, ..*self };
    }

    fn subgroup(&mut self) {
        let number = open(&mut self.subgroups);
        *self = Opened { subgroup: Some(number), thread: false, ..*self };
    }

    /// A thread in the groups that are open, and in new ones where none is.
    fn thread(&mut self) -> Thread {
        self.thread = true;
        Thread {
            subgroup: *self.subgroup.get_or_insert_with(|| open(&mut self.subgroups)),
            workgroup: *self.workgroup.get_or_insert_with(|| open(&mut self.workgroups)),
            queue_family: *self.queue_family.get_or_insert_with(|| open(&mut self.queue_families)),
            registers: Vec::new(),
            code: Vec::new(),
        }
    }
}

impl<'a> Parser<'a> {
    fn line(&mut self, mut line: Cursor<'_, 'a>) -> Result<(), ParseError> {
        let head = line.peek();
        match head.text {
            "NEWQF" => {
                line.next();
                self.opened.queue_family();
            }
            "NEWWG" => {
                line.next();
                self.opened.workgroup();
            }
            "NEWSG" => {
                line.next();
                self.opened.subgroup();
            }
            "NEWTHREAD" => {
                line.next();
                self.thread(&mut line)?;
            }
            "SLOC" => {
                line.next();
                let expected = "the name of a variable";
                self.same_location.push([line.expect_name(expected)?, line.expect_name(expected)?]);
            }
            "SSW" => {
                line.next();
                self.system_synchronizes_with.push([line.next(), line.next()]);
            }
            "SATISFIABLE" => self.expectation(&mut line, Quantifier::Exists)?,
            "NOSOLUTION" => self.expectation(&mut line, Quantifier::NotExists)?,
            "st" | "ld" | "rmw" | "membar" | "cbar" | "avdevice" | "visdevice" => {
                self.instruction(&mut line)?
            }
            _ => {
                let message = format!(
                    "unknown token {head} at the start of a line: expected an instruction (st, ld, rmw, membar, \
                     cbar, avdevice or visdevice) or a directive (NEWQF, NEWWG, NEWSG, NEWTHREAD, SLOC, SSW, \
                     SATISFIABLE or NOSOLUTION)"
                );
                return Err(ParseError::new(head, message));
            }
        }
        line.expect_end("end of line")
    }

    fn thread(&mut self, line: &mut Cursor<'_, 'a>) -> Result<(), ParseError> {
        let token = line.peek();
        if token.is_number() {
            line.next();
            if self.numbered.insert(number(token)?, self.threads.len()).is_some() {
                let message = format!("there is a thread {token} already: expected another number");
                return Err(ParseError::new(token, message));
            }
        }
        self.has_number.push(token.is_number());
        self.threads.push(self.opened.thread());
        Ok(())
    }

    fn instruction(&mut self, line: &mut Cursor<'_, 'a>) -> Result<(), ParseError> {
        let head = line.peek();
        let Parser { variables, threads, opened, text, .. } = self;
        let Some(thread) = threads.last_mut().filter(|_| opened.thread) else {
            let message = format!("instruction {head} outside a thread: expected NEWTHREAD before it");
            return Err(ParseError::new(head, message));
        };
        let access =
            |line: &mut Cursor<'_, 'a>, variables: &mut Variables<'a>, class: ClassSet, kind: AccessKind| {
                let name = line.expect_name("the name of a variable")?;
                Ok(Access { target: Target::Variable(variables.intern(name.text)), class, kind })
            };
        let instruction = match mnemonic::read(line, Dialect::Khronos, text)? {
            Mnemonic::Store { class, kind } => {
                let access = access(line, variables, class, kind)?;
                line.expect_symbol("=")?;
                Instruction::Store { access, value: operand(line)? }
            }
            Mnemonic::Load { class, kind } => {
                let access = access(line, variables, class, kind)?;
                let expected = if line.take_symbol("=") { Some(value(line)?) } else { None };
                Instruction::Load { access, register: new_register(thread), expected }
            }
            Mnemonic::Update { class, kind, operation } => {
                let access = access(line, variables, class, kind)?;
                line.expect_symbol("=")?;
                let expected = Some(value(line)?);
                let register = new_register(thread);
                Instruction::Update { access, operation, register, value: operand(line)?, expected }
            }
            Mnemonic::MemoryBarrier { scope, semantics } => Instruction::MemoryBarrier { scope, semantics },
            Mnemonic::ControlBarrier { scope, semantics } => Instruction::ControlBarrier {
                execution: scope,
                scope,
                semantics,
                instance: operand(line)?,
                waits: Wait::Nobody,
            },
            Mnemonic::DeviceAvailability => Instruction::DeviceAvailability,
            Mnemonic::DeviceVisibility => Instruction::DeviceVisibility,
        };
        thread.code.push(Statement { position: head.position, instruction });
        Ok(())
    }

    fn expectation(&mut self, line: &mut Cursor<'_, 'a>, quantifier: Quantifier) -> Result<(), ParseError> {
        let text = spelling(line.rest());
        let position = line.next().position;
        let without_chains = line.peek().is_word("NOCHAINS");
        if without_chains {
            line.next();
        }
        let condition = conjunction(line, 0)?;
        self.expectations.push(Expectation { text, position, quantifier, condition, without_chains });
        Ok(())
    }

    /// The thread that SSW calls so: the one of that number, else the unnumbered one at that place.
    fn thread_called(&self, token: Token<'a>) -> Result<usize, ParseError> {
        if !token.is_number() {
            return Err(ParseError::unexpected(token, "the number of a thread"));
        }
        let number = number(token)?;
        let by_place = || {
            let place = usize::try_from(number).ok()?;
            (self.has_number.get(place) == Some(&false)).then_some(place)
        };
        self.numbered.get(&number).copied().or_else(by_place).ok_or_else(|| {
            let message =
                format!("there is no thread {token}: expected the number of one that NEWTHREAD opens");
            ParseError::new(token, message)
        })
    }

    fn finish(mut self, end: Token<'a>) -> Result<Test, ParseError> {
        if self.threads.iter().all(|thread| thread.code.is_empty()) {
            let message = format!("no instructions before {end}: expected at least one, after NEWTHREAD");
            return Err(ParseError::new(end, message));
        }
        if self.expectations.is_empty() {
            return Err(ParseError::unexpected(end, "SATISFIABLE or NOSOLUTION"));
        }
        let mut system_synchronizes_with = Vec::with_capacity(self.system_synchronizes_with.len());
        for &[first, second] in &self.system_synchronizes_with {
            let pair = (self.thread_called(first)?, self.thread_called(second)?);
            if pair.0 == pair.1 {
                let message = format!("thread {second} twice: expected another thread to synchronize with");
                return Err(ParseError::new(second, message));
            }
            system_synchronizes_with.push(pair);
        }
        for pair in &self.same_location {
            let mut indices = [0; 2];
            for (index, name) in indices.iter_mut().zip(pair) {
                *index = self.variables.get(name.text).ok_or_else(|| {
                    let message =
                        format!("no instruction accesses {name}: expected a variable that one does");
                    ParseError::new(*name, message)
                })?;
            }
            // No initial values are given, so that none can differ.
            let _ = self.variables.unite(indices[0], indices[1]);
        }
        Ok(Test {
            variables: self.variables.finish(),
            threads: self.threads,
            system_synchronizes_with,
            filter: None,
            expectations: self.expectations,
        })
    }
}

fn value(line: &mut Cursor<'_, '_>) -> Result<Value, ParseError> {
    line.expect_number().map(Value::Number)
}

fn operand(line: &mut Cursor<'_, '_>) -> Result<Operand, ParseError> {
    value(line).map(Operand::Value)
}

/// A register for what an instruction reads, of which nothing else in the file can speak.
fn new_register(thread: &mut Thread) -> usize {
    thread.registers.push(Register { name: String::new(), initial: Value::Number(0) });
    thread.registers.len() - 1
}

/// Claims joined with `&&`.
fn conjunction(line: &mut Cursor<'_, '_>, depth: u32) -> Result<Condition, ParseError> {
    let first = claim(line, depth)?;
    if !line.peek().is_symbol("&&") {
        return Ok(first);
    }
    let mut claims = vec![first];
    while line.take_symbol("&&") {
        claims.push(claim(line, depth)?);
    }
    Ok(Condition::And(claims))
}

fn claim(line: &mut Cursor<'_, '_>, depth: u32) -> Result<Condition, ParseError> {
    let token = line.next();
    if token.is_symbol("(") {
        let condition = conjunction(line, descend(depth, token)?)?;
        line.expect_symbol(")")?;
        Ok(condition)
    } else if token.is_word("consistent") {
        line.expect_symbol("[")?;
        let execution = line.next();
        if !execution.is_word("X") {
            return Err(ParseError::unexpected(execution, "the execution X"));
        }
        line.expect_symbol("]")?;
        Ok(Condition::Consistent)
    } else if token.is_symbol("#") {
        let term = relation(line)?;
        let comparison = comparison(line)?;
        Ok(Condition::Compare(comparison, term, Term::Value(value(line)?)))
    } else {
        Err(ParseError::unexpected(token, "consistent[X], #dr or #rs with a comparison, or a parenthesis"))
    }
}
