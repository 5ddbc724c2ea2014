//! Reader of the table: its columns, with the registers that each writes and its labels.

use std::collections::HashMap;

use super::super::cursor::{number, Cursor};
use super::super::error::ParseError;
use super::super::lexer::{Token, TokenKind};
use super::super::mnemonic::operation;
use super::super::names::Variables;
use super::super::test::Value;
use super::column::{Column, Registers};
use super::initial::InitialRegister;
use super::{thread, thread_number};

/// Splits the table into columns, so that in each all its registers and labels are known before its
/// instructions are read.
pub(super) fn read<'t, 'a>(
    cursor: &mut Cursor<'t, 'a>,
    initial: Vec<InitialRegister<'a>>,
    variables: &Variables<'a>,
) -> Result<Vec<Column<'t, 'a>>, ParseError> {
    let mut columns = headers(cursor)?;
    for InitialRegister { thread: token, name, value } in initial {
        let thread = thread(token, columns.len())?;
        if let Some(column) = columns.get_mut(thread) {
            declare(&mut column.registers, name, value)?;
        }
    }
    while !ends_table(cursor.peek()) {
        row(cursor, &mut columns, variables)?;
    }
    if columns.iter().all(|column| column.cells.is_empty()) {
        let token = cursor.peek();
        let message = format!("no instructions before {token}: expected a row with at least one");
        return Err(ParseError::new(token, message));
    }
    Ok(columns)
}

fn declare<'a>(registers: &mut Registers<'a>, name: Token<'a>, value: Value) -> Result<(), ParseError> {
    if registers.get(name.text).is_some() {
        let message = format!("register {name} has an initial value already: expected another register");
        return Err(ParseError::new(name, message));
    }
    registers.intern(name.text, value);
    Ok(())
}

/// Whether a row cannot start so, but what follows the table can.
fn ends_table(token: Token<'_>) -> bool {
    token.kind == TokenKind::End || token.is_symbol("~") || token.is_word("not") || is_claim(token)
}

fn is_claim(token: Token<'_>) -> bool {
    token.kind == TokenKind::Word && matches!(token.text, "exists" | "forall" | "filter")
}

/// Numbers of the groups, dense over the whole test.
#[derive(Default)]
struct Groups {
    subgroups: HashMap<[i32; 3], u32>,
    workgroups: HashMap<[i32; 2], u32>,
    queue_families: HashMap<i32, u32>,
}

/// The number for a key: the next one if it is new.
fn dense<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    *numbers.entry(key).or_insert(next)
}

/// The line of headers, such as `P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;`.
fn headers<'t, 'a>(cursor: &mut Cursor<'t, 'a>) -> Result<Vec<Column<'t, 'a>>, ParseError> {
    let mut groups = Groups::default();
    let mut columns = Vec::new();
    loop {
        let token = cursor.next();
        if columns.is_empty() && (ends_table(token) || token.is_symbol(";")) {
            let message = format!("no threads before {token}: expected a header such as P0@sg 0, wg 0, qf 0");
            return Err(ParseError::new(token, message));
        }
        // Conditions call threads by their places, so that the names have to agree with them.
        if !token.is_name() || thread_number(token) != Some(columns.len()) {
            return Err(ParseError::unexpected(token, &format!("the header of thread P{}", columns.len())));
        }
        cursor.expect_symbol("@")?;
        let [subgroup, workgroup, queue_family] = header_groups(cursor)?;
        columns.push(Column {
            // Numbers count within the enclosing group: sg 0 of wg 0 is not sg 0 of wg 1.
            subgroup: dense(&mut groups.subgroups, [queue_family, workgroup, subgroup]),
            workgroup: dense(&mut groups.workgroups, [queue_family, workgroup]),
            queue_family: dense(&mut groups.queue_families, queue_family),
            registers: Registers::default(),
            labels: HashMap::new(),
            cells: Vec::new(),
        });
        if cursor.take_symbol(";") {
            return Ok(columns);
        }
        cursor.expect_symbol("|")?;
    }
}

/// The numbers of subgroup, workgroup and queue family, which come in any order.
fn header_groups(cursor: &mut Cursor<'_, '_>) -> Result<[i32; 3], ParseError> {
    let mut numbers = [None; 3];
    loop {
        let token = cursor.peek();
        if token.is_symbol("|") || token.is_symbol(";") {
            break;
        }
        cursor.next();
        let (name, digits) = token.text.split_at_checked(2).unwrap_or((token.text, ""));
        let [subgroup, workgroup, queue_family] = &mut numbers;
        let place = match name {
            "sg" => subgroup,
            "wg" => workgroup,
            "qf" => queue_family,
            _ => return Err(ParseError::unexpected(token, "sg, wg or qf with a number")),
        };
        let value = if digits.is_empty() {
            cursor.expect_number()?
        } else if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            number(Token { text: digits, ..token })?
        } else {
            return Err(ParseError::unexpected(token, "sg, wg or qf with a number"));
        };
        if place.replace(value).is_some() {
            let message = format!("second {name} at {token}: expected each of sg, wg and qf once");
            return Err(ParseError::new(token, message));
        }
        cursor.take_symbol(",");
    }
    match numbers {
        [Some(subgroup), Some(workgroup), Some(queue_family)] => Ok([subgroup, workgroup, queue_family]),
        _ => Err(ParseError::unexpected(cursor.peek(), "each of sg, wg and qf with a number before it")),
    }
}

fn row<'t, 'a>(
    cursor: &mut Cursor<'t, 'a>,
    columns: &mut [Column<'t, 'a>],
    variables: &Variables<'a>,
) -> Result<(), ParseError> {
    let count = columns.len();
    for (place, column) in columns.iter_mut().enumerate() {
        let start = *cursor;
        let separator = cell_end(cursor)?;
        let length = start.rest().len() - cursor.rest().len() - 1;
        let tokens = start.rest().get(..length).unwrap_or_default();
        cell(Cursor::new(tokens, separator), column, variables)?;
        let last = place + 1 == count;
        if last && separator.is_symbol("|") {
            let message = format!("more columns than threads at {separator}: expected ';' after {count}");
            return Err(ParseError::new(separator, message));
        }
        if !last && separator.is_symbol(";") {
            let message = format!("fewer columns than threads before {separator}: expected {count}");
            return Err(ParseError::new(separator, message));
        }
    }
    Ok(())
}

/// Passes a cell and the separator after it, which is the result.
fn cell_end<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<Token<'a>, ParseError> {
    loop {
        let token = cursor.next();
        if token.is_symbol("|") || token.is_symbol(";") {
            return Ok(token);
        }
        if token.kind == TokenKind::End || is_claim(token) {
            return Err(ParseError::unexpected(token, "'|' or ';' to end a cell"));
        }
    }
}

/// Notes the labels of a cell, the instruction, and the register that this writes.
fn cell<'t, 'a>(
    mut cell: Cursor<'t, 'a>,
    column: &mut Column<'t, 'a>,
    variables: &Variables<'a>,
) -> Result<(), ParseError> {
    while cell.peek_second().is_symbol(":") {
        let label = cell.expect_name("a label")?;
        cell.next();
        if column.labels.insert(label.text, column.cells.len()).is_some() {
            let message = format!("duplicate label {label}: expected another name");
            return Err(ParseError::new(label, message));
        }
    }
    if cell.is_empty() {
        return Ok(());
    }
    column.cells.push(cell);
    if let Some(destination) = destination(cell) {
        if column.registers.get(destination.text).is_none() {
            if variables.get(destination.text).is_some() {
                let message =
                    format!("{destination} is a variable of the initial state: expected a register");
                return Err(ParseError::new(destination, message));
            }
            column.registers.intern(destination.text, Value::Number(0));
        }
    }
    Ok(())
}

/// The register that an instruction writes; none, too, for one with a mistake, which is found later.
fn destination<'a>(mut cell: Cursor<'_, 'a>) -> Option<Token<'a>> {
    let head = cell.next();
    if !head.is_word("ld") && !head.is_word("rmw") && operation(head.text).is_none() {
        return None;
    }
    while cell.take_symbol(".") {
        cell.next();
    }
    Some(cell.peek()).filter(Token::is_name)
}
