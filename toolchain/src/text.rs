//! Assembly text to binary and back.

use crate::backend;
use crate::diagnostic::Diagnostic;
use crate::target_env::TargetEnv;

/// Assembles `text` into the words of a module, like `spirv-as --preserve-numeric-ids`: `%12` gets the
/// id 12, names get the free ids from 1 up.
///
/// The module's SPIR-V version is the highest one of `env`; without one, that which the comments at the
/// head of the text name, else that of the default environment.
///
/// # Errors
/// The assembler's message with line and column. It stops at the first error.
pub fn assemble(text: &str, env: Option<TargetEnv>) -> Result<Vec<u32>, Diagnostic> {
    let env = env.or_else(|| TargetEnv::from_text_header(text)).unwrap_or_default();
    backend::assemble(text, env)
}

/// How [`disassemble_with`] writes a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisassembleOptions {
    /// Names from OpName and the common names of scalar types in place of numbers (`%uint`, `%main`);
    /// without it the text, assembled again, has the same ids.
    pub friendly_names: bool,
    /// Result ids are aligned into a column.
    pub indent: bool,
    /// Four or five comment lines with version, generator and bound come first.
    pub header: bool,
    /// Comments explain decorations and sections.
    pub comments: bool,
}

impl Default for DisassembleOptions {
    /// As spirv-dis writes: friendly names, indented, with the header.
    fn default() -> Self {
        DisassembleOptions { friendly_names: true, indent: true, header: true, comments: false }
    }
}

impl DisassembleOptions {
    /// Numeric ids, with the header: [`assemble`] gives the same words back (but for the generator's
    /// number in the header, which becomes the assembler's).
    pub const RAW: DisassembleOptions =
        DisassembleOptions { friendly_names: false, indent: true, header: true, comments: false };
}

/// The text that spirv-dis prints for a module by default. One line an instruction, in module order.
///
/// # Errors
/// See [`disassemble_with`].
pub fn disassemble(words: &[u32]) -> Result<String, Diagnostic> {
    disassemble_with(words, DisassembleOptions::default())
}

/// Disassembles a module (of either endianness).
///
/// # Errors
/// The message and the number of the first instruction that cannot be decoded.
pub fn disassemble_with(words: &[u32], options: DisassembleOptions) -> Result<String, Diagnostic> {
    backend::disassemble(words, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Position;

    const MODULE: &str = "OpCapability Shader\n\
                          OpMemoryModel Logical GLSL450\n\
                          OpName %7 \"answer\"\n\
                          %type = OpTypeInt 32 0\n\
                          %7 = OpConstant %type 42\n";

    #[test]
    fn numeric_ids_are_kept_and_survive_a_round_trip() {
        let words = assemble(MODULE, None).unwrap();
        let raw = disassemble_with(&words, DisassembleOptions::RAW).unwrap();
        assert!(raw.contains("%7 = OpConstant %1 42"), "{raw}");
        assert_eq!(assemble(&raw, None).unwrap(), words);
    }

    #[test]
    fn default_text_has_friendly_names() {
        let text = disassemble(&assemble(MODULE, None).unwrap()).unwrap();
        assert!(text.contains("%answer = OpConstant %uint 42"), "{text}");
        assert!(text.starts_with("; SPIR-V"), "{text}");
    }

    #[test]
    fn version_follows_the_environment_then_the_header() {
        let version = |text: &str, env| assemble(text, env).unwrap()[1];
        assert_eq!(version(MODULE, None), 0x0001_0600);
        assert_eq!(version(MODULE, Some(TargetEnv::Vulkan1_1)), 0x0001_0300);
        let with_header = format!("; Version: 1.4\n{MODULE}");
        assert_eq!(version(&with_header, None), 0x0001_0400);
        assert_eq!(version(&with_header, Some(TargetEnv::Universal1_5)), 0x0001_0500);
    }

    #[test]
    fn errors_point_at_line_and_column_from_one() {
        let error = assemble("OpCapability Shader\n  OpNonsense\n", None).unwrap_err();
        assert_eq!(error.position, Position::Text { line: 2, column: 3 });
        assert!(error.message.contains("OpNonsense"), "{error}");
    }

    #[test]
    fn malformed_binaries_are_errors() {
        assert!(disassemble(&[]).is_err());
        let mut words = assemble(MODULE, None).unwrap();
        words.pop();
        let error = disassemble(&words).unwrap_err();
        assert!(matches!(error.position, Position::Instruction(_)), "{error:?}");
        assert!(!error.message.is_empty());
    }
}
