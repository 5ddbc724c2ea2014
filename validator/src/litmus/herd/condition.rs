//! Conditions over final states: `~` binds closest, then `/\`, then `\/`.

use super::super::cursor::{comparison, descend, number, relation, Cursor};
use super::super::error::ParseError;
use super::super::lexer::Token;
use super::super::names::Variables;
use super::super::test::{Condition, Term, Value};
use super::column::{never_written, Registers};
use super::{thread, thread_number};

/// What a condition can speak of.
pub(super) struct Environment<'e, 'a> {
    /// Of each thread.
    pub registers: &'e [Registers<'a>],
    pub variables: &'e Variables<'a>,
}

impl<'a> Environment<'_, 'a> {
    pub fn condition(&self, cursor: &mut Cursor<'_, 'a>) -> Result<Condition, ParseError> {
        self.disjunction(cursor, 0)
    }

    fn disjunction(&self, cursor: &mut Cursor<'_, 'a>, depth: u32) -> Result<Condition, ParseError> {
        let first = self.conjunction(cursor, depth)?;
        let mut rest = Vec::new();
        while cursor.take_symbol("\\/") {
            rest.push(self.conjunction(cursor, depth)?);
        }
        Ok(joined(first, rest, Condition::Or))
    }

    fn conjunction(&self, cursor: &mut Cursor<'_, 'a>, depth: u32) -> Result<Condition, ParseError> {
        let first = self.claim(cursor, depth)?;
        let mut rest = Vec::new();
        while cursor.take_symbol("/\\") {
            rest.push(self.claim(cursor, depth)?);
        }
        Ok(joined(first, rest, Condition::And))
    }

    fn claim(&self, cursor: &mut Cursor<'_, 'a>, depth: u32) -> Result<Condition, ParseError> {
        let token = cursor.peek();
        if token.is_symbol("~") || token.is_word("not") {
            cursor.next();
            Ok(Condition::Not(Box::new(self.claim(cursor, descend(depth, token)?)?)))
        } else if token.is_symbol("(") {
            cursor.next();
            let condition = self.disjunction(cursor, descend(depth, token)?)?;
            let closing = cursor.next();
            if !closing.is_symbol(")") {
                return Err(ParseError::unexpected(closing, "')', '/\\' or '\\/'"));
            }
            Ok(condition)
        } else if token.is_word("true") {
            cursor.next();
            Ok(Condition::True)
        } else if token.is_word("false") {
            cursor.next();
            Ok(Condition::Not(Box::new(Condition::True)))
        } else {
            let left = self.term(cursor)?;
            let comparison = comparison(cursor)?;
            Ok(Condition::Compare(comparison, left, self.term(cursor)?))
        }
    }

    fn term(&self, cursor: &mut Cursor<'_, 'a>) -> Result<Term, ParseError> {
        let token = cursor.next();
        if token.is_symbol("&") {
            let name = cursor.expect_name("the name of a variable")?;
            return Ok(Term::Value(Value::Address(self.variable(name)?)));
        }
        if token.is_symbol("#") {
            return relation(cursor);
        }
        if token.is_symbol("[") {
            let name = cursor.expect_name("the name of a variable")?;
            cursor.expect_symbol("]")?;
            return Ok(Term::Variable(self.variable(name)?));
        }
        if cursor.peek().is_symbol(":") && (thread_number(token).is_some() || token.is_name()) {
            cursor.next();
            let thread = thread(token, self.registers.len())?;
            let name = cursor.expect_name("the name of a register")?;
            let register = self.registers.get(thread).and_then(|registers| registers.get(name.text));
            return register
                .map(|register| Term::Register(thread, register))
                .ok_or_else(|| never_written(name));
        }
        if token.is_number() {
            return number(token).map(|value| Term::Value(Value::Number(value)));
        }
        if token.is_name() {
            return Ok(Term::Variable(self.variable(token)?));
        }
        Err(ParseError::unexpected(
            token,
            "a claim about a register such as P0:r0, a variable, a number or #dr",
        ))
    }

    fn variable(&self, token: Token<'a>) -> Result<usize, ParseError> {
        self.variables.get(token.text).ok_or_else(|| {
            let message = format!("variable {token} does not occur in the test: expected one that does");
            ParseError::new(token, message)
        })
    }
}

fn joined(first: Condition, mut rest: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    if rest.is_empty() {
        first
    } else {
        rest.insert(0, first);
        join(rest)
    }
}
