//! The table of passes as a document.

use super::{Argument, Pass, PASSES};

/// The table in Markdown, as `docs/passes.md` has it.
pub fn markdown_table() -> String {
    let mut table = String::from("| flag | class | assumption | why |\n| --- | --- | --- | --- |\n");
    for pass in PASSES {
        let assumptions: Vec<&str> =
            pass.class.assumptions().iter().map(|assumption| assumption.name()).collect();
        table.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            usage(pass).replace('|', "\\|"),
            pass.class.name(),
            assumptions.join(", "),
            pass.reason,
        ));
    }
    table
}

/// The flag as one types it.
fn usage(pass: &Pass) -> String {
    match pass.argument {
        Argument::None => pass.flag.to_owned(),
        Argument::Optional { placeholder, .. } => format!("{}[={placeholder}]", pass.flag),
        Argument::Required { placeholder, .. } => format!("{}={placeholder}", pass.flag),
    }
}
