//! Reader of the herd-style `.litmus` dialect: an initial state, a table with a column for each thread, and a
//! condition.

mod column;
mod condition;
mod initial;
mod table;

use super::cursor::{spelling, Cursor};
use super::error::ParseError;
use super::lexer::{tokenize, Token};
use super::names::Variables;
use super::test::{Condition, Expectation, Quantifier, Term, Test};
use super::Dialect;
use column::Registers;
use condition::Environment;
use initial::Initial;

/// Reads a `.litmus` file.
///
/// # Errors
/// The first mistake of the file.
pub(super) fn parse(text: &str) -> Result<Test, ParseError> {
    let (tokens, end) = tokenize(text, Dialect::Herd)?;
    let mut cursor = Cursor::new(&tokens, end);
    let mut variables = Variables::default();
    let Initial { registers, system_synchronizes_with } = initial::read(&mut cursor, &mut variables)?;
    let columns = table::read(&mut cursor, registers, &variables)?;
    let mut threads = Vec::with_capacity(columns.len());
    let mut registers = Vec::with_capacity(columns.len());
    for column in columns {
        let (thread, names) = column.parse(text, &mut variables)?;
        threads.push(thread);
        registers.push(names);
    }
    let system_synchronizes_with =
        system_synchronizes_with.into_iter().map(|pair| synchronizing(pair, threads.len()));
    let system_synchronizes_with = system_synchronizes_with.collect::<Result<_, _>>()?;
    let Claims { filter, expectation } = claims(&mut cursor, &registers, &variables)?;
    Ok(Test {
        variables: variables.finish(),
        threads,
        system_synchronizes_with,
        filter,
        expectations: expectation.into_iter().collect(),
    })
}

/// What a file ends with: a filter, an expectation, or both, in either order.
#[derive(Default)]
struct Claims {
    filter: Option<Condition>,
    expectation: Option<Expectation>,
}

fn claims<'a>(
    cursor: &mut Cursor<'_, 'a>,
    registers: &[Registers<'a>],
    variables: &Variables<'a>,
) -> Result<Claims, ParseError> {
    let environment = Environment { registers, variables };
    let mut claims = Claims::default();
    loop {
        let start = *cursor;
        let position = cursor.peek().position;
        if claims.filter.is_none() && cursor.peek().is_word("filter") {
            cursor.next();
            claims.filter = Some(environment.condition(cursor)?);
        } else if claims.expectation.is_none() {
            let quantifier = quantifier(cursor)?;
            let condition = of_executions(environment.condition(cursor)?);
            let length = start.rest().len() - cursor.rest().len();
            let text = spelling(start.rest().get(..length).unwrap_or_default());
            let without_chains = false;
            claims.expectation = Some(Expectation { text, position, quantifier, condition, without_chains });
        } else {
            cursor.expect_end("end of file after the condition")?;
        }
        if cursor.is_empty() {
            return Ok(claims);
        }
    }
}

/// The condition, of consistent executions whatever it asks for: in this dialect there are no others.
fn of_executions(condition: Condition) -> Condition {
    let mut asks_for_relations = false;
    condition.visit_terms(&mut |term| {
        asks_for_relations |= matches!(term, Term::DataRaces | Term::ReleaseSequences);
    });
    match asks_for_relations {
        true => Condition::And(vec![Condition::Consistent, condition]),
        false => condition,
    }
}

fn quantifier(cursor: &mut Cursor<'_, '_>) -> Result<Quantifier, ParseError> {
    let token = cursor.next();
    if token.is_word("exists") {
        Ok(Quantifier::Exists)
    } else if token.is_word("forall") {
        Ok(Quantifier::ForAll)
    } else if token.is_symbol("~") || token.is_word("not") {
        let token = cursor.next();
        if token.is_word("exists") {
            Ok(Quantifier::NotExists)
        } else {
            Err(ParseError::unexpected(token, "exists"))
        }
    } else {
        Err(ParseError::unexpected(token, "exists, ~exists, not exists or forall"))
    }
}

/// The number in `P1`, or in `1`.
fn thread_number(token: Token<'_>) -> Option<usize> {
    let digits = token.text.strip_prefix('P').unwrap_or(token.text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The thread that a token calls by its number.
fn thread(token: Token<'_>, count: usize) -> Result<usize, ParseError> {
    match thread_number(token) {
        Some(number) if number < count => Ok(number),
        Some(_) => {
            let message = format!("there is no thread {token}: expected one of the {count} of the table");
            Err(ParseError::new(token, message))
        }
        None => Err(ParseError::unexpected(token, "a thread such as P0")),
    }
}

fn synchronizing([first, second]: [Token<'_>; 2], count: usize) -> Result<(usize, usize), ParseError> {
    let pair = (thread(first, count)?, thread(second, count)?);
    if pair.0 == pair.1 {
        let message = format!("thread {second} twice: expected another thread to synchronize with");
        return Err(ParseError::new(second, message));
    }
    Ok(pair)
}
