//! Where in the source of a module an instruction comes from.

use crate::check::Source;
use crate::correspondence::Inst;
use crate::ir::Line;

/// The file, line and column of an instruction's source, as the OpLine in front of it names them: it holds to the end of
/// the block, to the next OpLine, or to OpNoLine. `None` where the module does not say it.
pub(super) fn source_place(module: &Source, line: Line) -> Option<String> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let lines: Vec<&str> = module.text.lines().take(before).collect();
    // Lines of instructions do not matter here.
    let mut insts = lines.iter().rev().filter_map(|text| Inst::parse(0, text));
    let found = insts.find(|inst| is_end(inst.opcode) || inst.opcode == "OpLine")?;
    let &[file, line, column] = found.operands.get(..3)? else { return None };
    let file = lines.iter().find_map(|text| {
        let inst = Inst::parse(0, text)?;
        let name =
            (inst.opcode == "OpString" && inst.result == Some(file)).then(|| inst.operands.first())??;
        Some(name.trim_matches('"').to_owned())
    })?;
    (found.opcode == "OpLine").then(|| format!("{file}:{line}:{column}"))
}

/// Whether an OpLine does not hold beyond such an instruction.
fn is_end(opcode: &str) -> bool {
    matches!(
        opcode,
        "OpNoLine"
            | "OpLabel"
            | "OpBranch"
            | "OpBranchConditional"
            | "OpSwitch"
            | "OpReturn"
            | "OpReturnValue"
            | "OpKill"
            | "OpUnreachable"
            | "OpFunctionEnd"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_place_holds_to_the_end_of_its_block() {
        let text = "%f = OpString \"a b.comp\"\n%main = OpFunction %void None %t\n%l = OpLabel\nOpLine %f 7 3\nOpStore %a %b\n\
                    OpStore %c %d\nOpBranch %m\n%m = OpLabel\nOpStore %a %b\nOpLine %f 9 1\nOpStore %a %b\nOpNoLine\nOpNop\n";
        let module = Source { name: String::new(), text: text.to_owned().into() };
        let places = [5, 6, 7, 9, 11, 13].map(|line| source_place(&module, line));
        let seven = Some("a b.comp:7:3".to_owned());
        assert_eq!(
            places,
            [seven.clone(), seven.clone(), seven, None, Some("a b.comp:9:1".to_owned()), None]
        );
        assert_eq!(source_place(&module, 0), None);
        assert_eq!(source_place(&module, 99), None);
    }
}
