//! The table of ARCHITECTURE.md against the code: which folder uses which.

#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/table.rs"]
mod table;
#[path = "architecture/uses.rs"]
mod uses;

use std::path::Path;

use modules::Modules;
use table::Table;

#[test]
fn folders_use_what_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let table = Table::read(&document, "Data flow", &["validator"]);
    let table = table.unwrap_or_else(|error| panic!("ARCHITECTURE.md, {error}"));
    let differences = table.differences(&Modules::read(&root));
    assert!(differences.is_empty(), "ARCHITECTURE.md and the code differ:\n{}", differences.join("\n"));
}
