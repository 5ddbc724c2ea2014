//! Flags that stand for lists of passes, as the bundled version registers them.

/// A flag that stands for a list of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The flag with its dashes: `-O`, `-Os` or `--legalize-hlsl`.
    pub flag: &'static str,
    /// The flags of its passes, in order.
    pub passes: &'static [&'static str],
    /// A pass of the list has no flag of its own; it does nothing unless the module declares this
    /// extension. The list stands for the preset on modules without it only.
    pub unless_extension: Option<&'static str>,
}

impl Preset {
    /// Does running the list one by one do what the preset does to this module?
    pub fn covers(&self, words: &[u32]) -> bool {
        self.unless_extension.is_none_or(|extension| !declares_extension(words, extension))
    }
}

/// The list that a flag stands for; `None` for a flag that is one pass.
pub fn preset(flag: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.flag == flag)
}

/// Is there an `OpExtension` with this name? Words that are no module have none.
fn declares_extension(words: &[u32], extension: &str) -> bool {
    const HEADER_WORDS: usize = 5;
    const OP_EXTENSION: u32 = 10;
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        let length = (first >> 16).max(1) as usize;
        let Some((instruction, next)) = rest.split_at_checked(length) else { break };
        if first & 0xffff == OP_EXTENSION && literal(instruction) == extension.as_bytes() {
            return true;
        }
        rest = next;
    }
    false
}

/// The string operand that follows an instruction's first word.
fn literal(instruction: &[u32]) -> Vec<u8> {
    instruction.iter().skip(1).flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect()
}

const PRESETS: [Preset; 3] = [
    Preset {
        flag: "-O",
        passes: &[
            "--wrap-opkill",
            "--eliminate-dead-branches",
            "--merge-return",
            "--inline-entry-points-exhaustive",
            "--eliminate-dead-functions",
            "--eliminate-dead-code-aggressive",
            "--private-to-local",
            "--eliminate-local-single-block",
            "--eliminate-local-single-store",
            "--eliminate-dead-code-aggressive",
            "--scalar-replacement",
            "--convert-local-access-chains",
            "--eliminate-local-single-block",
            "--eliminate-local-single-store",
            "--eliminate-dead-code-aggressive",
            "--eliminate-local-multi-store",
            "--eliminate-dead-code-aggressive",
            "--ccp",
            "--eliminate-dead-code-aggressive",
            "--loop-unroll",
            "--eliminate-dead-branches",
            "--redundancy-elimination",
            "--combine-access-chains",
            "--simplify-instructions",
            "--scalar-replacement",
            "--convert-local-access-chains",
            "--eliminate-local-single-block",
            "--eliminate-local-single-store",
            "--eliminate-dead-code-aggressive",
            "--ssa-rewrite",
            "--eliminate-dead-code-aggressive",
            "--vector-dce",
            "--eliminate-dead-inserts",
            "--eliminate-dead-branches",
            "--simplify-instructions",
            "--if-conversion",
            "--copy-propagate-arrays",
            "--reduce-load-size",
            "--eliminate-dead-code-aggressive",
            "--merge-blocks",
            "--redundancy-elimination",
            "--eliminate-dead-branches",
            "--merge-blocks",
            "--simplify-instructions",
        ],
        unless_extension: None,
    },
    Preset {
        flag: "-Os",
        passes: &[
            "--wrap-opkill",
            "--eliminate-dead-branches",
            "--merge-return",
            "--inline-entry-points-exhaustive",
            "--eliminate-dead-functions",
            "--private-to-local",
            "--scalar-replacement",
            "--eliminate-local-multi-store",
            "--ccp",
            "--loop-unroll",
            "--eliminate-dead-branches",
            "--simplify-instructions",
            "--scalar-replacement",
            "--eliminate-local-single-store",
            "--if-conversion",
            "--simplify-instructions",
            "--eliminate-dead-code-aggressive",
            "--eliminate-dead-branches",
            "--merge-blocks",
            "--convert-local-access-chains",
            "--eliminate-local-single-block",
            "--eliminate-dead-code-aggressive",
            "--copy-propagate-arrays",
            "--vector-dce",
            "--eliminate-dead-inserts",
            "--eliminate-dead-members",
            "--eliminate-local-single-store",
            "--merge-blocks",
            "--eliminate-local-multi-store",
            "--redundancy-elimination",
            "--simplify-instructions",
            "--eliminate-dead-code-aggressive",
            "--cfg-cleanup",
        ],
        unless_extension: None,
    },
    Preset {
        flag: "--legalize-hlsl",
        passes: &[
            "--wrap-opkill",
            "--eliminate-dead-branches",
            "--merge-return",
            "--inline-entry-points-exhaustive",
            "--eliminate-dead-functions",
            "--private-to-local",
            "--fix-storage-class",
            "--eliminate-local-single-block",
            "--eliminate-local-single-store",
            "--eliminate-dead-code-aggressive",
            "--scalar-replacement",
            "--eliminate-local-single-block",
            "--eliminate-local-single-store",
            "--eliminate-dead-code-aggressive",
            "--eliminate-local-multi-store",
            "--eliminate-dead-code-aggressive",
            "--ccp",
            "--loop-unroll",
            "--eliminate-dead-branches",
            "--simplify-instructions",
            "--eliminate-dead-code-aggressive",
            "--copy-propagate-arrays",
            "--vector-dce",
            "--eliminate-dead-inserts",
            "--reduce-load-size",
            "--eliminate-dead-code-aggressive",
            "--remove-unused-interface-variables",
            "--interpolate-fixup",
            "--fix-opextinst-opcodes",
        ],
        unless_extension: Some("SPV_EXT_fragment_shader_interlock"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::assemble;

    #[test]
    fn legalisation_is_covered_unless_the_module_has_interlocks() {
        let plain = "OpCapability Shader\nOpExtension \"SPV_KHR_storage_buffer_storage_class\"\n";
        let interlock = format!("{plain}OpExtension \"SPV_EXT_fragment_shader_interlock\"\n");
        for (text, covered) in [(plain, true), (&interlock, false)] {
            let words = assemble(text, None).unwrap();
            assert_eq!(preset("--legalize-hlsl").unwrap().covers(&words), covered);
            assert!(preset("-O").unwrap().covers(&words));
        }
    }

    #[test]
    fn words_that_are_no_module_declare_nothing() {
        for words in [&[][..], &[1, 2, 3], &[0; 9], &[0, 0, 0, 0, 0, 0xffff_000a, 7]] {
            assert!(!declares_extension(words, "x"));
        }
    }
}
