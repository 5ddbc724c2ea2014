//! `docs/passes.md` says what the table of passes says.

use std::path::Path;

use spirv_tv_toolchain::passes::{markdown_table, Assumption};

const BEGIN: &str = "<!-- table of passes -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn the_document_agrees_with_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/passes.md");
    let document = std::fs::read_to_string(&path).expect("docs/passes.md");
    let (head, rest) = document.split_once(BEGIN).expect("the mark before the table");
    let (table, tail) = rest.split_once(END).expect("the mark after the table");
    if std::env::var_os("SPIRV_TV_BLESS").is_some() {
        let rewritten = format!("{head}{BEGIN}\n{}\n{END}{tail}", markdown_table());
        std::fs::write(&path, rewritten).expect("docs/passes.md is writable");
    } else {
        assert_eq!(table.trim(), markdown_table().trim(), "run again with SPIRV_TV_BLESS=1");
    }
    for assumption in Assumption::ALL {
        let entry = format!("- **{}**: {}", assumption.name(), assumption.meaning());
        assert!(head.contains(&entry), "docs/passes.md does not explain {assumption} as the code does");
    }
}
