//! A cursor over tokens.

use super::error::ParseError;
use super::lexer::{Token, TokenKind};
use super::test::{Comparison, Term};

/// How deep conditions may nest.
const MAXIMUM_DEPTH: u32 = 100;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// What follows the tokens.
    end: Token<'a>,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub fn new(tokens: &'t [Token<'a>], end: Token<'a>) -> Self {
        Cursor { tokens, end }
    }

    /// The token that comes next, or the one that follows all.
    pub fn peek(&self) -> Token<'a> {
        self.tokens.first().copied().unwrap_or(self.end)
    }

    /// The token after the next one.
    pub fn peek_second(&self) -> Token<'a> {
        self.tokens.get(1).copied().unwrap_or(self.end)
    }

    pub fn next(&mut self) -> Token<'a> {
        match self.tokens.split_first() {
            Some((token, rest)) => {
                self.tokens = rest;
                *token
            }
            None => self.end,
        }
    }

    /// The tokens that are left.
    pub fn rest(&self) -> &'t [Token<'a>] {
        self.tokens
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Takes the symbol if it comes next.
    pub fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.peek().is_symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    pub fn expect_symbol(&mut self, symbol: &str) -> Result<Token<'a>, ParseError> {
        let token = self.next();
        if token.is_symbol(symbol) {
            Ok(token)
        } else {
            Err(ParseError::unexpected(token, &format!("'{symbol}'")))
        }
    }

    pub fn expect_name(&mut self, expected: &str) -> Result<Token<'a>, ParseError> {
        let token = self.next();
        if token.is_name() {
            Ok(token)
        } else {
            Err(ParseError::unexpected(token, expected))
        }
    }

    pub fn expect_number(&mut self) -> Result<i32, ParseError> {
        let token = self.next();
        if token.is_number() {
            number(token)
        } else {
            Err(ParseError::unexpected(token, "a number"))
        }
    }

    pub fn expect_end(&mut self, expected: &str) -> Result<(), ParseError> {
        let token = self.peek();
        if self.is_empty() {
            Ok(())
        } else {
            Err(ParseError::unexpected(token, expected))
        }
    }
}

/// The tokens as the file spells them, on one line, with single spaces where it has white space.
pub(super) fn spelling(tokens: &[Token<'_>]) -> String {
    let mut spelling = String::new();
    let mut end = None;
    for token in tokens {
        if end.is_some_and(|end| end != token.start) {
            spelling.push(' ');
        }
        spelling.push_str(token.text);
        end = Some(token.end());
    }
    spelling
}

/// The value of a word that starts as numbers do: decimal in the range of a signed 32-bit integer, or
/// hexadecimal, which may use all 32 bits.
pub(super) fn number(token: Token<'_>) -> Result<i32, ParseError> {
    let (negative, magnitude) = match token.text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, token.text),
    };
    let (radix, digits) = match magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (10, magnitude),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        let message =
            format!("malformed number {token}: expected decimal digits, or hexadecimal ones after 0x");
        return Err(ParseError::new(token, message));
    }
    let out_of_range =
        || ParseError::new(token, format!("number {token} out of range: expected one of at most 32 bits"));
    let magnitude = i64::from_str_radix(digits, radix).map_err(|_| out_of_range())?;
    let value = if negative { -magnitude } else { magnitude };
    if let Ok(bits) = u32::try_from(value) {
        if radix == 16 {
            return Ok(i32::from_ne_bytes(bits.to_ne_bytes()));
        }
    }
    i32::try_from(value).map_err(|_| out_of_range())
}

/// Descends into a nested condition that `token` opens.
pub(super) fn descend(depth: u32, token: Token<'_>) -> Result<u32, ParseError> {
    if depth < MAXIMUM_DEPTH {
        Ok(depth + 1)
    } else {
        let message =
            format!("condition nested too deeply at {token}: expected at most {MAXIMUM_DEPTH} levels");
        Err(ParseError::new(token, message))
    }
}

/// Takes the name of a relation whose size a condition asks for, behind `#`.
pub(super) fn relation(cursor: &mut Cursor<'_, '_>) -> Result<Term, ParseError> {
    let token = cursor.next();
    match token.text {
        "dr" => Ok(Term::DataRaces),
        "rs" => Ok(Term::ReleaseSequences),
        _ => Err(ParseError::new(token, format!("unknown relation {token}: expected dr or rs"))),
    }
}

/// Takes a comparison operator.
pub(super) fn comparison(cursor: &mut Cursor<'_, '_>) -> Result<Comparison, ParseError> {
    let token = cursor.next();
    let symbol = if token.kind == TokenKind::Symbol { token.text } else { "" };
    Ok(match symbol {
        "=" | "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" | "=<" => Comparison::LessEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterEqual,
        _ => return Err(ParseError::unexpected(token, "a comparison: ==, =, !=, <, <=, > or >=")),
    })
}
