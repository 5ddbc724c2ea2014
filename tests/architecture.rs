//! The tables of ARCHITECTURE.md against the code: which folder uses which. In the explorer, whose files share more than
//! others, no files use each other in a circle, and none is used by most. Documents and comments name files that are
//! there.

#[path = "architecture/citations.rs"]
mod citations;
#[path = "architecture/graph.rs"]
mod graph;
#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/table.rs"]
mod table;
#[path = "architecture/uses.rs"]
mod uses;

use std::path::Path;

use graph::FileGraph;
use modules::Modules;
use table::Table;

const EXPLORER: [&str; 2] = ["validator", "explore"];

/// The types that everything in the explorer works on.
const STATE: &str = "validator/src/explore/state/mod.rs";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|folder| folder.join("ARCHITECTURE.md").is_file())
        .expect("the package lies in the workspace")
}

fn compare(heading: &str, folder: &[&str]) {
    let document = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let table = Table::read(&document, heading, folder);
    let table = table.unwrap_or_else(|error| panic!("ARCHITECTURE.md, {error}"));
    let differences = table.differences(&Modules::read(root()));
    assert!(differences.is_empty(), "ARCHITECTURE.md and the code differ:\n{}", differences.join("\n"));
}

#[test]
fn folders_use_what_the_table_says() {
    compare("Data flow", &["validator"]);
}

#[test]
fn layers_of_the_explorer_use_what_the_table_says() {
    compare("Layers of the explorer", &EXPLORER);
}

#[test]
fn no_files_of_the_explorer_use_each_other_in_a_circle() {
    let circles = FileGraph::of(&Modules::read(root()), &EXPLORER).circles();
    assert!(circles.is_empty(), "circles of files: {circles:#?}");
}

#[test]
fn no_file_of_the_explorer_is_used_by_more_than_a_third() {
    let graph = FileGraph::of(&Modules::read(root()), &EXPLORER);
    let third = graph.files() / 3;
    assert!(third > 20, "only {} files were found", graph.files());
    let often: Vec<_> = graph.users().filter(|(file, users)| *users > third && file != STATE).collect();
    assert!(often.is_empty(), "more than {third} files use these: {often:?}");
}

#[test]
fn documents_and_comments_name_files_that_are_there() {
    let files = citations::files(root());
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.ends_with(".rs") || file.ends_with(".md")) {
        let text =
            std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let cited = citations::cited(&text, file.ends_with(".rs"));
        let missing = cited.into_iter().filter(|(_, name)| !citations::is_there(&files, name));
        wrong.extend(missing.map(|(line, name)| format!("{file}:{line}: {name}")));
    }
    assert!(wrong.is_empty(), "these name files that are not there:\n{}", wrong.join("\n"));
}
