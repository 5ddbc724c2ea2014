//! The blocks in braces before the table: initial values, aliases, and threads that synchronize.

use std::collections::HashSet;

use super::super::cursor::{number, Cursor};
use super::super::error::ParseError;
use super::super::lexer::Token;
use super::super::names::{Contradiction, Variables};
use super::super::test::Value;
use super::thread_number;

/// What the blocks say of threads, which are not known yet; what they say of variables goes to those.
#[derive(Debug, Default)]
pub(super) struct Initial<'a> {
    pub registers: Vec<InitialRegister<'a>>,
    pub system_synchronizes_with: Vec<[Token<'a>; 2]>,
}

#[derive(Debug)]
pub(super) struct InitialRegister<'a> {
    pub thread: Token<'a>,
    pub name: Token<'a>,
    pub value: Value,
}

/// Reads the initial state, and the second block if there is one.
pub(super) fn read<'a>(
    cursor: &mut Cursor<'_, 'a>,
    variables: &mut Variables<'a>,
) -> Result<Initial<'a>, ParseError> {
    let mut initial = Initial::default();
    let mut declared = HashSet::new();
    block(cursor, variables, &mut initial, &mut declared)?;
    if cursor.peek().is_symbol("{") {
        block(cursor, variables, &mut initial, &mut declared)?;
    }
    Ok(initial)
}

fn block<'a>(
    cursor: &mut Cursor<'_, 'a>,
    variables: &mut Variables<'a>,
    initial: &mut Initial<'a>,
    declared: &mut HashSet<usize>,
) -> Result<(), ParseError> {
    let opening = cursor.next();
    if !opening.is_symbol("{") {
        return Err(ParseError::unexpected(opening, "'{' and the initial state"));
    }
    loop {
        while cursor.take_symbol(";") {}
        if cursor.take_symbol("}") {
            return Ok(());
        }
        declaration(cursor, variables, initial, declared)?;
        let after = cursor.peek();
        if !after.is_symbol(";") && !after.is_symbol("}") {
            return Err(ParseError::unexpected(after, "';' or '}' after a declaration"));
        }
    }
}

fn declaration<'a>(
    cursor: &mut Cursor<'_, 'a>,
    variables: &mut Variables<'a>,
    initial: &mut Initial<'a>,
    declared: &mut HashSet<usize>,
) -> Result<(), ParseError> {
    let first = cursor.next();
    if cursor.peek().is_symbol(":") && thread_number(first).is_some() {
        cursor.next();
        let name = cursor.expect_name("the name of a register")?;
        let value = assigned(cursor, variables)?;
        initial.registers.push(InitialRegister { thread: first, name, value });
        return Ok(());
    }
    if first.is_word("ssw") {
        initial.system_synchronizes_with.push([cursor.next(), cursor.next()]);
        return Ok(());
    }
    if !first.is_name() {
        return Err(ParseError::unexpected(first, "a variable, a register such as P0:r0, or ssw"));
    }
    let contradiction = |_: Contradiction| {
        let message =
            format!("{first} contradicts another initial value of its location: expected equal ones");
        ParseError::new(first, message)
    };
    let variable = variables.intern(first.text);
    if cursor.peek().is_word("aliases") {
        cursor.next();
        let other = cursor.expect_name("the name of a variable")?;
        let other = variables.intern(other.text);
        return variables.unite(variable, other).map_err(contradiction);
    }
    if !declared.insert(variable) {
        let message = format!("variable {first} has an initial value already: expected another variable");
        return Err(ParseError::new(first, message));
    }
    let value = assigned(cursor, variables)?;
    variables.initialise(variable, value).map_err(contradiction)
}

/// The initial value after a name: 0 if it gives none.
fn assigned<'a>(cursor: &mut Cursor<'_, 'a>, variables: &mut Variables<'a>) -> Result<Value, ParseError> {
    let after = cursor.peek();
    if after.is_symbol(";") || after.is_symbol("}") {
        return Ok(Value::Number(0));
    }
    if !after.is_symbol("=") {
        return Err(ParseError::unexpected(after, "'=', ':', aliases, ';' or '}'"));
    }
    cursor.next();
    let ampersand = cursor.take_symbol("&");
    let token = cursor.next();
    if token.is_name() {
        // As in herd, a variable stands for its address here even without the ampersand.
        Ok(Value::Address(variables.intern(token.text)))
    } else if token.is_number() && !ampersand {
        number(token).map(Value::Number)
    } else {
        Err(ParseError::unexpected(token, "an initial value: a number, or & and a variable"))
    }
}
