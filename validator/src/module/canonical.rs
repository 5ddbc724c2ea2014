//! A text that is the same for modules which differ in ids, names and lines alone.

use std::collections::HashMap;
use std::fmt::Write;

use super::{opcode_name, Module};
use crate::ir::Line;
use rustc_hash::FxBuildHasher;
use spirv_tv_toolchain::{disassemble_with, Diagnostic, DisassembleOptions};

/// Instructions that say nothing of what a module does (SPIR-V specification, section 3.52.2, "Debug Instructions").
const DEBUG: [&str; 9] = [
    "OpName",
    "OpMemberName",
    "OpSource",
    "OpSourceContinued",
    "OpSourceExtension",
    "OpModuleProcessed",
    "OpLine",
    "OpNoLine",
    "OpNop",
];

/// The canonical text of a module: the version, then its instructions without those for debugging, with ids numbered as
/// they come.
///
/// # Errors
/// Where the words are no module.
pub fn canonical(words: &[u32]) -> Result<String, Diagnostic> {
    let plain = DisassembleOptions { friendly_names: false, indent: false, header: false, comments: false };
    let text = disassemble_with(words, plain)?;
    let mut ids: HashMap<&str, usize, FxBuildHasher> = HashMap::default();
    let mut canonical = format!("{:#x}\n", words.get(1).copied().unwrap_or(0));
    let mut line_is_left_out = false;
    let mut is_first_word = true;
    for piece in pieces(&text) {
        match piece {
            Piece::End => {
                if !line_is_left_out {
                    canonical.push('\n');
                }
                line_is_left_out = false;
                is_first_word = true;
                continue;
            }
            Piece::Word(word) => {
                line_is_left_out |= is_first_word && DEBUG.contains(&word);
                is_first_word = false;
                if line_is_left_out {
                    continue;
                }
                if let Some(id) = word.strip_prefix('%') {
                    let next = ids.len();
                    let number = *ids.entry(id).or_insert(next);
                    // Strings can be written to without an error.
                    let _ = write!(canonical, "%{number} ");
                } else {
                    canonical.push_str(word);
                    canonical.push(' ');
                }
            }
            Piece::Text(text) => {
                if !line_is_left_out {
                    canonical.push_str(text);
                    canonical.push(' ');
                }
            }
        }
    }
    Ok(canonical)
}

/// The lines of the instructions that [`canonical`] tells, in its order: instruction N of one module is that of every other
/// one with the same canonical text.
pub fn canonical_lines(module: &Module) -> Vec<Line> {
    let is_told = |opcode: u16| !DEBUG.contains(&opcode_name(u32::from(opcode)).as_str());
    module.instructions().filter(|one| is_told(one.opcode)).map(|one| one.line).collect()
}

/// A part of a disassembly.
enum Piece<'t> {
    /// Of an instruction: its opcode, an id, a number or a name.
    Word(&'t str),
    /// A literal string with its quotes.
    Text(&'t str),
    /// The end of an instruction.
    End,
}

/// The parts of a disassembly. Strings may have anything in them, line ends included.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(' ');
        let first = rest.chars().next()?;
        let (length, piece): (usize, fn(&str) -> Piece<'_>) = match first {
            '\n' => (1, |_| Piece::End),
            '"' => (quoted(rest), |text| Piece::Text(text)),
            _ => (rest.find([' ', '\n']).unwrap_or(rest.len()), |word| Piece::Word(word)),
        };
        let (this, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some(piece(this))
    })
}

/// The length of the quoted string at the beginning of a text.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (position, letter) in text.char_indices().skip(1) {
        match (is_escaped, letter) {
            (false, '"') => return position + 1,
            (false, '\\') => is_escaped = true,
            (true | false, _) => is_escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirv_tv_toolchain::assemble;

    fn of(text: &str) -> String {
        let words = assemble(text, None).expect("it assembles");
        canonical(&words).expect("a module")
    }

    const MODULE: &str = r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main \" %9
 %1"
        %void = OpTypeVoid
        %uint = OpTypeInt 32 0
        %seven = OpConstant %uint 7
        %type = OpTypeFunction %void
        %main = OpFunction %void None %type
        %entry = OpLabel
        OpSelectionMerge %end None
        OpSwitch %seven %end 1 %one 2 %end
        %one = OpLabel
        OpBranch %end
        %end = OpLabel
        OpReturn
        OpFunctionEnd
    "#;

    #[test]
    fn ids_names_and_lines_do_not_matter() {
        let named = MODULE.replacen(
            "        %void =",
            "        OpName %main \"x\"\n OpMemberName %uint 0 \"y\"\n        %void =",
            1,
        );
        let renumbered = MODULE.replace("%one", "%77").replace("%uint", "%5");
        let lined = MODULE.replacen(
            "OpMemoryModel Logical GLSL450",
            "OpMemoryModel Logical GLSL450\n%s = OpString \"f\"",
            1,
        );
        assert_eq!(of(MODULE), of(&named));
        assert_eq!(of(MODULE), of(&renumbered));
        assert_ne!(of(MODULE), of(&lined));
    }

    #[test]
    fn everything_else_matters() {
        for (from, to) in [
            ("1 %one 2 %end", "1 %end 2 %one"),
            ("1 %one", "3 %one"),
            ("%uint 7", "%uint 8"),
            ("main \\\" %9", "main \\\" %8"),
            ("Selection", "Selection"),
        ] {
            let other = MODULE.replacen(from, to, 1);
            assert_eq!(of(MODULE) == of(&other), from == to, "{from}");
        }
    }
}
