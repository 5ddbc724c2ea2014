//! What changed and never ran, in words.

use crate::check::Exercised;
use crate::ir::Line;

/// Lines that are named.
const NAMED: usize = 4;

/// What follows a verdict that says nothing of them.
pub fn text(exercised: &Exercised) -> String {
    let sides = [("before", &exercised.before), ("after", &exercised.after)];
    let told = sides.iter().filter(|(_, module)| !module.changed_never_ran.is_empty());
    let told: Vec<String> =
        told.map(|(name, module)| format!("{} of {name}", lines(&module.changed_never_ran))).collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("; but what was changed in {} never ran", told.join(" and ")),
    }
}

fn lines(lines: &[Line]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = match lines.len().saturating_sub(NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("{} {}{rest}", if lines.len() == 1 { "line" } else { "lines" }, named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_lines_are_named_and_the_others_counted() {
        let mut exercised = Exercised::default();
        assert_eq!(text(&exercised), "");
        exercised.after.changed_never_ran = vec![41];
        assert_eq!(text(&exercised), "; but what was changed in line 41 of after never ran");
        exercised.before.changed_never_ran = vec![1, 2, 3, 5, 8, 13];
        assert_eq!(
            text(&exercised),
            "; but what was changed in lines 1, 2, 3, 5 and 2 more of before and line 41 of after never ran"
        );
    }
}
