//! Splits litmus files into tokens.

use std::fmt;

use super::error::ParseError;
use super::test::Position;
use super::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// ASCII letters, digits and underscores, perhaps with a minus before a digit: names, keywords, numbers.
    Word,
    Symbol,
    /// Only in `.test`, where lines matter.
    Newline,
    /// A character that no dialect uses.
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// Byte offset in the file.
    pub start: usize,
    pub position: Position,
}

impl Token<'_> {
    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text == word
    }

    /// Whether it is a word that starts as numbers do.
    pub fn is_number(&self) -> bool {
        self.kind == TokenKind::Word && self.text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    }

    pub fn is_name(&self) -> bool {
        self.kind == TokenKind::Word && !self.is_number()
    }

    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TokenKind::Word | TokenKind::Symbol | TokenKind::Unknown => write!(formatter, "'{}'", self.text),
            TokenKind::Newline => formatter.write_str("end of line"),
            TokenKind::End => formatter.write_str("end of file"),
        }
    }
}

/// Splits `text` into tokens; the second result is the end of the file as one more.
///
/// # Errors
/// A comment that does not end.
pub(super) fn tokenize(text: &str, dialect: Dialect) -> Result<(Vec<Token<'_>>, Token<'_>), ParseError> {
    let mut lexer = Lexer {
        text,
        offset: 0,
        position: Position { line: 1, column: 1 },
        dialect,
        tokens: Vec::with_capacity(text.len() / 3),
    };
    if text.starts_with('\u{feff}') {
        lexer.offset = '\u{feff}'.len_utf8();
    }
    if dialect == Dialect::Herd {
        lexer.skip_prologue()?;
    }
    while lexer.skip_blanks()? {
        if dialect == Dialect::Herd && lexer.rest().starts_with('"') {
            lexer.skip_string()?;
        } else {
            lexer.token();
        }
    }
    let end = Token { kind: TokenKind::End, text: "", start: lexer.offset, position: lexer.position };
    Ok((lexer.tokens, end))
}

struct Lexer<'a> {
    text: &'a str,
    offset: usize,
    position: Position,
    dialect: Dialect,
    tokens: Vec<Token<'a>>,
}

/// Symbols of more than one character.
const LONG_SYMBOLS: [&str; 8] = ["/\\", "\\/", "==", "!=", "<=", ">=", "=<", "&&"];

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// Moves on by some bytes, all of them before a line's end.
    fn advance(&mut self, bytes: usize) {
        let passed = self.rest().get(..bytes).unwrap_or_default();
        // Bytes that continue a character do not count.
        let characters = passed.bytes().filter(|byte| byte & 0xc0 != 0x80).count();
        self.position.column =
            self.position.column.saturating_add(u32::try_from(characters).unwrap_or(u32::MAX));
        self.offset += bytes;
    }

    /// Moves on by some bytes, line ends among them.
    fn advance_lines(&mut self, bytes: usize) {
        let passed = self.rest().get(..bytes).unwrap_or_default();
        let mut pieces = passed.split('\n');
        let first = pieces.next().unwrap_or_default();
        self.advance(first.len());
        for piece in pieces {
            self.next_line();
            self.advance(piece.len());
        }
    }

    fn next_line(&mut self) {
        self.offset += 1;
        self.position = Position { line: self.position.line.saturating_add(1), column: 1 };
    }

    fn push(&mut self, kind: TokenKind, bytes: usize) {
        let text = self.rest().get(..bytes).unwrap_or_default();
        self.tokens.push(Token { kind, text, start: self.offset, position: self.position });
        if kind == TokenKind::Newline {
            self.next_line();
        } else {
            self.advance(bytes);
        }
    }

    /// Skips white space, and comments that are not strings; false at the end of the file.
    fn skip_blanks(&mut self) -> Result<bool, ParseError> {
        loop {
            let rest = self.rest().as_bytes();
            match rest {
                [] => return Ok(false),
                [b'\n', ..] if self.dialect == Dialect::Herd => self.next_line(),
                [byte, ..] if *byte != b'\n' && byte.is_ascii_whitespace() => self.advance(1),
                [b'/', b'/', ..] if self.dialect == Dialect::Herd || self.position.column == 1 => {
                    self.skip_line()
                }
                [b'(', b'*', ..] if self.dialect == Dialect::Herd => self.skip_comment()?,
                _ => return Ok(true),
            }
        }
    }

    /// Skips the rest of the line without its end.
    fn skip_line(&mut self) {
        let rest = self.rest();
        self.advance(rest.find('\n').unwrap_or(rest.len()));
    }

    /// Skips a comment in `(*` and `*)`, which nests.
    fn skip_comment(&mut self) -> Result<(), ParseError> {
        let rest = self.rest();
        let mut depth = 0_usize;
        let mut bytes = 0;
        loop {
            match rest.as_bytes().get(bytes..).unwrap_or_default() {
                [] => return Err(self.unterminated(2, "*)")),
                [b'(', b'*', ..] => {
                    depth += 1;
                    bytes += 2;
                }
                [b'*', b')', ..] => {
                    depth -= 1;
                    bytes += 2;
                    if depth == 0 {
                        break;
                    }
                }
                _ => bytes += 1,
            }
        }
        self.advance_lines(bytes);
        Ok(())
    }

    /// Skips a string, which is a comment.
    fn skip_string(&mut self) -> Result<(), ParseError> {
        let rest = self.rest();
        match rest.get(1..).unwrap_or_default().find('"') {
            Some(length) => {
                self.advance_lines(length + 2);
                Ok(())
            }
            None => Err(self.unterminated(1, "\"")),
        }
    }

    fn unterminated(&self, bytes: usize, closing: &str) -> ParseError {
        let text = self.rest().get(..bytes).unwrap_or_default();
        let token = Token { kind: TokenKind::Symbol, text, start: self.offset, position: self.position };
        ParseError::new(
            token,
            format!("unterminated comment {token}: expected '{closing}' before end of file"),
        )
    }

    /// Skips the title line of a `.litmus` file, which may have any content, and the strings before the
    /// initial state.
    fn skip_prologue(&mut self) -> Result<(), ParseError> {
        if self.skip_blanks()? && !self.rest().starts_with('{') {
            self.skip_line();
        }
        while self.skip_blanks()? && self.rest().starts_with('"') {
            // Such strings quote, too: one that ends on its line does so at the line's last quotation mark.
            let line = self.rest().lines().next().unwrap_or_default();
            match line.rfind('"') {
                Some(last) if last > 0 => self.advance(last + 1),
                _ => self.skip_string()?,
            }
        }
        Ok(())
    }

    /// Reads one token, before which nothing is to be skipped.
    fn token(&mut self) {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        match bytes {
            [b'\n', ..] => self.push(TokenKind::Newline, 1),
            [byte, ..] if is_word_byte(*byte) => self.push(TokenKind::Word, word_length(bytes)),
            [b'-', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
                self.push(TokenKind::Word, 1 + word_length(digits));
            }
            _ => {
                if let Some(symbol) = LONG_SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                    self.push(TokenKind::Symbol, symbol.len());
                } else if let Some(character) = rest.chars().next() {
                    let known = ".,:;|@&#=<>~()[]{}".contains(character);
                    let kind = if known { TokenKind::Symbol } else { TokenKind::Unknown };
                    self.push(kind, character.len_utf8());
                }
            }
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_word_byte(**byte)).count()
}
