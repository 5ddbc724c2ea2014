//! Finds the instructions of assembly text, so that each instruction of the assembled binary has
//! its line: the assembler keeps their order.
//!
//! The rules are SPIRV-Tools': a word ends at white space, a comma, a parenthesis or a comment;
//! double quotes keep a word together over lines, and a backslash escapes the next character. An
//! instruction starts with `Op` and a capital, with `%result = Op…`, or with a raw `!` word at the
//! start of the text.

use crate::ir::Line;

/// An instruction of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement<'t> {
    /// The line on which it starts.
    pub line: Line,
    /// The name of its result, without the `%`.
    pub result: Option<&'t str>,
}

#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    line: Line,
}

impl Word<'_> {
    fn starts_opcode(self) -> bool {
        let mut rest = match self.text.strip_prefix("Op") {
            Some(rest) => rest.chars(),
            None => return false,
        };
        rest.next().is_some_and(|next| next.is_ascii_uppercase())
    }
}

/// All instructions, in order.
pub(super) fn scan(text: &str) -> Vec<Statement<'_>> {
    let words = words(text);
    let mut statements = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if !word.starts_opcode() {
            continue;
        }
        let assigned =
            match (index.checked_sub(2).map(|at| words[at]), index.checked_sub(1).map(|at| words[at])) {
                (Some(result), Some(equals)) if equals.text == "=" && result.text.starts_with('%') => {
                    Some(result)
                }
                (_, _) => None,
            };
        statements.push(match assigned {
            Some(result) => Statement { line: result.line, result: Some(&result.text[1..]) },
            None => Statement { line: word.line, result: None },
        });
    }
    statements
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut line: Line = 1;
    let mut characters = text.char_indices().peekable();
    while let Some((start, first)) = characters.next() {
        match first {
            '\n' => line += 1,
            ';' => while characters.next_if(|&(_, character)| character != '\n').is_some() {},
            ' ' | '\t' | '\r' | ',' | '(' | ')' => {}
            '\0' => break,
            _ => {
                let begins = line;
                let mut quoting = first == '"';
                let mut escaping = first == '\\';
                let mut end = start + first.len_utf8();
                while let Some(&(at, character)) = characters.peek() {
                    let separates =
                        matches!(character, ' ' | ';' | ',' | '(' | ')' | '\t' | '\n' | '\r' | '\0');
                    if separates && (character == '\0' || !(quoting || escaping)) {
                        break;
                    }
                    if character == '\\' {
                        escaping = !escaping;
                    } else {
                        if character == '"' && !escaping {
                            quoting = !quoting;
                        }
                        escaping = false;
                    }
                    if character == '\n' {
                        line += 1;
                    }
                    end = at + character.len_utf8();
                    characters.next();
                }
                words.push(Word { text: &text[start..end], line: begins });
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(Line, Option<&str>)> {
        scan(text).iter().map(|statement| (statement.line, statement.result)).collect()
    }

    #[test]
    fn comments_blank_lines_and_several_instructions_on_a_line() {
        let text = "; OpNop in a comment\n\nOpNop OpNop ; OpNop\n%x = OpUndef %y\n";
        assert_eq!(lines(text), [(3, None), (3, None), (4, Some("x"))]);
    }

    #[test]
    fn strings_hide_opcodes_and_count_their_lines() {
        let text = "OpSource GLSL 450 %f \"a \\\" OpNop\n OpNop ; b\"\nOpNop";
        assert_eq!(lines(text), [(1, None), (3, None)]);
    }

    #[test]
    fn an_instruction_over_several_lines_has_the_line_of_its_result() {
        let text = "%r =\n OpIAdd\n %t\n %a %b\n%s\n=\nOpIAdd %t %a %b";
        assert_eq!(lines(text), [(1, Some("r")), (5, Some("s"))]);
    }

    #[test]
    fn an_escaped_opcode_name_operand_is_no_instruction() {
        assert_eq!(lines("%a = OpSpecConstantOp %t IAdd %b %c"), [(1, Some("a"))]);
    }
}
