//! A table of layers in a document, and whether the code keeps to it.
//!
//! Its first column has the folders and files of a row, its last one is "may use". Both name them in backticks, with commas
//! between them; "–" is none. `(crate)` behind them says that they are crates, `(common)` that every row below may use
//! them. All others lie in the folder that the table is about, unless they begin with its name: those lie in a crate in its
//! folder. `mod.rs` is the folder's own file. An entry of "may use" may be deeper, `folder/file.rs`, and then allows that
//! much.

use std::collections::BTreeSet;

use super::modules::{Module, Modules, Reference};

const CRATE: &str = "(crate)";
const COMMON: &str = "(common)";

/// Folders or files that belong together.
#[derive(Debug)]
struct Row {
    line: usize,
    names: Vec<Name>,
    common: bool,
    may_use: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    /// As the document has it.
    text: String,
    module: Module,
    /// Without what is inside of the module.
    alone: bool,
}

impl Name {
    fn covers(&self, module: &Module) -> bool {
        if self.alone {
            *module == self.module
        } else {
            module.starts_with(&self.module)
        }
    }
}

#[derive(Debug)]
pub struct Table {
    /// The folder that it is about.
    folder: Module,
    rows: Vec<Row>,
}

impl Table {
    /// The first table under a heading of a document, about a folder.
    ///
    /// # Errors
    /// What of it cannot be read, with its line.
    pub fn read(document: &str, heading: &str, folder: &[&str]) -> Result<Self, String> {
        let folder: Module = folder.iter().map(|name| (*name).to_owned()).collect();
        let is_heading = |text: &str| text.starts_with('#') && text.trim_start_matches('#').trim() == heading;
        let lines = (1..).zip(document.lines()).skip_while(|(_, text)| !is_heading(text));
        let in_section = lines.skip(1).take_while(|(_, text)| !text.starts_with('#'));
        let mut table = in_section
            .skip_while(|(_, text)| !text.starts_with('|'))
            .take_while(|(_, text)| text.starts_with('|'));
        let (line, titles) = table.next().ok_or_else(|| format!("no table is under \"{heading}\""))?;
        if cells(titles).last() != Some(&"may use") {
            return Err(format!("line {line}: the last column is not \"may use\""));
        }
        let mut rows = Vec::new();
        for (line, text) in table.skip(1) {
            let row = Row::read(line, text, &folder, &rows);
            rows.push(row.map_err(|error| format!("line {line}: {error}"))?);
        }
        Ok(Self { folder, rows })
    }

    /// Everything in which table and code differ.
    pub fn differences(&self, modules: &Modules) -> Vec<String> {
        let mut differences = self.of_rows(modules);
        let crates = modules.inside(&[]).filter(|it| self.has_crates() && **it != self.folder);
        for module in modules.inside(&self.folder).chain(crates) {
            if self.row_of(module).is_none() {
                differences.push(format!("{} is in no row", module.join("/")));
            }
        }
        let mut used = BTreeSet::new();
        differences.extend(modules.references().iter().filter_map(|it| self.difference(it, &mut used)));
        for (row, of_row) in self.rows.iter().enumerate() {
            for name in of_row.may_use.iter().filter(|name| !used.contains(&(row, &name.text))) {
                differences.push(format!("line {}: nobody there uses {}", of_row.line, name.text));
            }
        }
        differences
    }

    /// Whether it is about a whole crate; then all others have rows, too.
    fn has_crates(&self) -> bool {
        self.folder.len() == 1
    }

    /// What is wrong with the table itself: what it names must be there, once, and above its users.
    fn of_rows(&self, modules: &Modules) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut seen = BTreeSet::new();
        for (at, row) in self.rows.iter().enumerate() {
            let mut say =
                |name: &Name, what: &str| wrong.push(format!("line {}: {} {what}", row.line, name.text));
            for name in row.names.iter().chain(&row.may_use) {
                if !modules.contains(&name.module) {
                    say(name, "is not there");
                }
            }
            for name in row.names.iter().filter(|name| !seen.insert(&name.module)) {
                say(name, "is in two rows");
            }
            for name in &row.may_use {
                match self.row_of(&name.module) {
                    Some(used) if used < at && !self.rows[used].common => {}
                    Some(used) if used < at => say(name, "is common"),
                    _ => say(name, "is in no row above"),
                }
            }
        }
        wrong
    }

    /// What a path of the code does that the table does not allow. Notes the entries that allow it.
    fn difference<'a>(&'a self, it: &Reference, used: &mut BTreeSet<(usize, &'a String)>) -> Option<String> {
        let user = self.row_of(&it.from)?;
        let place = format!("{}:{}: {}", it.file.display(), it.line, it.path);
        let Some(target) = self.row_of(&it.to) else {
            let is_ours = self.has_crates() || it.to.starts_with(&self.folder);
            return is_ours.then(|| format!("{place} is in no row"));
        };
        if user == target || self.rows[target].common && target < user {
            return None;
        }
        let allowed: Vec<_> = self.rows[user].may_use.iter().filter(|name| name.covers(&it.to)).collect();
        used.extend(allowed.iter().map(|name| (user, &name.text)));
        let names =
            |row: usize| self.rows[row].names.iter().map(|it| &it.text[..]).collect::<Vec<_>>().join(", ");
        allowed
            .is_empty()
            .then(|| format!("{place} is in {}, which {} may not use", names(target), names(user)))
    }

    /// The row that has a module.
    fn row_of(&self, module: &Module) -> Option<usize> {
        self.rows.iter().position(|row| row.names.iter().any(|name| name.covers(module)))
    }
}

impl Row {
    /// Reads a row; `above` are those before it.
    fn read(line: usize, text: &str, folder: &[String], above: &[Row]) -> Result<Self, String> {
        let cells = cells(text);
        let [first, .., last] = &cells[..] else { return Err("it has no two columns".to_owned()) };
        let common = first.strip_suffix(COMMON);
        let of_crates = first.strip_suffix(CRATE);
        let base = if of_crates.is_some() { &[] } else { folder };
        let about = folder.first().map_or("", String::as_str);
        let mut may_use = names(last, folder, about)?;
        for name in &mut may_use {
            // Crates do not lie in the folder.
            if let Some(same) = above.iter().flat_map(|row| &row.names).find(|it| it.text == name.text) {
                *name = same.clone();
            }
        }
        let names = names(common.or(of_crates).unwrap_or(first), base, about)?;
        Ok(Self { line, names, common: common.is_some(), may_use })
    }
}

/// The cells of a line.
fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Names in backticks, with commas between them, of what lies in a folder, or in a crate in the folder of the crate that the
/// table is about.
fn names(cell: &str, folder: &[String], about: &str) -> Result<Vec<Name>, String> {
    let name = |text: &str| {
        let quoted = text.trim().strip_prefix('`').and_then(|text| text.strip_suffix('`'));
        let path = quoted.and_then(|text| text.strip_suffix('/').or(text.strip_suffix(".rs")));
        let (Some(text), Some(path)) = (quoted, path) else {
            return Err(format!("\"{}\" is no name of a folder or file in backticks", text.trim()));
        };
        let alone = text == "mod.rs" || text.ends_with("/mod.rs");
        let mut inner: Module = path.split('/').map(str::to_owned).collect();
        inner.truncate(inner.len() - usize::from(alone));
        let module = match inner.split_first() {
            Some((first, rest)) if first == about && !rest.is_empty() => rest.to_vec(),
            _ => [folder, &inner].concat(),
        };
        Ok(Name { text: text.to_owned(), module, alone })
    };
    cell.split(',').filter(|_| cell != "–").map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a table with these rows, about the validator or a folder of it, differs from these files.
    fn differences(folder: &[&str], rows: &[[&str; 2]], files: &[(&str, &str)]) -> Vec<String> {
        let rows = rows.iter().map(|[first, last]| format!("| {first} | words | {last} |\n"));
        let text = format!(
            "## Layers\n\nWords.\n\n| file | what | may use |\n| --- | --- | --- |\n{}",
            rows.collect::<String>()
        );
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned()));
        Table::read(&text, "Layers", folder).unwrap().differences(&Modules::of(files))
    }

    const ROWS: [[&str; 2]; 4] = [
        ["`tools/` (crate)", "–"],
        ["`ir/`, `value.rs` (common)", "–"],
        ["`low.rs`", "`tools/`"],
        ["`high/`", "`tools/`, `low.rs`"],
    ];
    const FILES: [(&str, &str); 6] = [
        ("tools/src/lib.rs", ""),
        ("validator/src/lib.rs", "mod ir; mod low; mod high; mod value;"),
        ("validator/src/ir/mod.rs", "use crate::value::Value;"),
        ("validator/src/value.rs", ""),
        ("validator/src/low.rs", "use crate::ir::Op;\nuse spirv_tv_tools::text;"),
        (
            "validator/src/high/mod.rs",
            "use spirv_tv_tools::text;\nfn f() { crate::low::g(crate::value::new()) }",
        ),
    ];

    /// The same with one file more or changed.
    fn with_file(path: &'static str, text: &'static str) -> Vec<String> {
        let mut files = FILES.to_vec();
        files.retain(|(other, _)| *other != path);
        files.push((path, text));
        differences(&["validator"], &ROWS, &files)
    }

    /// The same with one row changed.
    fn with_row(at: usize, row: [&str; 2]) -> Vec<String> {
        let mut rows = ROWS;
        rows[at] = row;
        differences(&["validator"], &rows, &FILES)
    }

    #[test]
    fn what_is_allowed() {
        assert_eq!(differences(&["validator"], &ROWS, &FILES), [""; 0]);
    }

    #[test]
    fn what_is_not_allowed() {
        let low = "use spirv_tv_tools::x;\n\nfn f() { crate::high::g() }";
        let expected = "validator/src/low.rs:3: crate::high::g is in high/, which low.rs may not use";
        assert_eq!(with_file("validator/src/low.rs", low), [expected]);
        let common = "validator/src/value.rs:1: crate::low::x is in low.rs, which ir/, value.rs may not use";
        assert_eq!(with_file("validator/src/value.rs", "use crate::low::x;"), [common]);
        let above = "tools/src/lib.rs:1: spirv_tv::ir::Op is in ir/, value.rs, which tools/ may not use";
        assert_eq!(with_file("tools/src/lib.rs", "use spirv_tv::ir::Op;"), [above]);
        let tools = "tools/src/lib.rs:1: spirv_tv::low::x is in low.rs, which tools/ may not use";
        assert_eq!(with_file("tools/src/lib.rs", "use spirv_tv::low::x;"), [tools]);
    }

    #[test]
    fn rows_and_modules_belong_together() {
        assert_eq!(with_file("validator/src/new/mod.rs", ""), ["validator/new is in no row"]);
        assert_eq!(with_file("new/src/lib.rs", ""), ["new is in no row"]);
        let unknown = "validator/src/high/x.rs:1: spirv_tv_new::y is in no row";
        assert_eq!(with_file("validator/src/high/x.rs", "use spirv_tv_new::y;"), [unknown]);
        assert_eq!(with_row(1, ["`ir/`, `value.rs`, `old/` (common)", "–"]), ["line 8: old/ is not there"]);
        assert_eq!(
            with_row(1, ["`ir/`, `value.rs`, `low.rs` (common)", "–"])[0],
            "line 9: low.rs is in two rows"
        );
    }

    #[test]
    fn entries_are_used_and_above() {
        let unused = ["line 9: ir/ is common", "line 9: nobody there uses ir/"];
        assert_eq!(with_row(2, ["`low.rs`", "`tools/`, `ir/`"]), unused);
        let below = ["line 9: high/ is in no row above", "line 9: nobody there uses high/"];
        assert_eq!(with_row(2, ["`low.rs`", "`tools/`, `high/`"]), below);
        assert_eq!(
            with_row(3, ["`high/`", "`tools/`, `low.rs`, `low/deep.rs`"])[0],
            "line 10: low/deep.rs is not there"
        );
    }

    #[test]
    fn entries_may_be_deeper() {
        let rows = [["`a/`", "–"], ["`b.rs`", "`a/deep.rs`"]];
        let files = [
            ("validator/src/lib.rs", ""),
            ("validator/src/a/mod.rs", ""),
            ("validator/src/a/deep.rs", ""),
            ("validator/src/b.rs", "use crate::a::deep::x;\nuse crate::a::y;"),
        ];
        let expected = "validator/src/b.rs:2: crate::a::y is in a/, which b.rs may not use";
        assert_eq!(differences(&["validator"], &rows, &files), [expected]);
        let rows = [["`a/`", "–"], ["`b.rs`", "`a/deep.rs`, `a/mod.rs`"]];
        assert_eq!(differences(&["validator"], &rows, &files), [""; 0]);
    }

    #[test]
    fn crates_may_lie_in_the_folder() {
        let rows = [
            ["`validator/graphs/event.rs` (common)", "–"],
            ["`validator/graphs/` (crate)", "–"],
            ["`low.rs`", "–"],
            ["`high.rs`", "`validator/graphs/`"],
        ];
        let files = [
            ("validator/src/lib.rs", "pub use spirv_tv_graphs as graphs;"),
            ("validator/src/low.rs", "use crate::graphs::event::x;\nuse crate::graphs::graph::y;"),
            ("validator/src/high.rs", "use spirv_tv_graphs::graph::y;"),
            ("validator/graphs/src/lib.rs", "mod event; mod graph;"),
            ("validator/graphs/src/event.rs", ""),
            ("validator/graphs/src/graph.rs", "use crate::event::x;"),
        ];
        let expected = "validator/src/low.rs:2: crate::graphs::graph::y is in validator/graphs/, which low.rs may not use";
        assert_eq!(differences(&["validator"], &rows, &files), [expected]);
    }

    /// Where others than its files use a folder, and what they use, is not such a table's affair.
    #[test]
    fn inside_of_a_folder() {
        let rows = [["`state.rs`", "–"], ["`search.rs`", "`state.rs`"], ["`mod.rs`", "`search.rs`"]];
        let files = [
            ("validator/src/lib.rs", ""),
            ("validator/src/low.rs", "use crate::high::search::run;"),
            ("validator/src/high/mod.rs", "mod search;\npub use search::run;\nuse state::State;"),
            ("validator/src/high/state.rs", "use crate::low::x;\nuse super::Settings;"),
            ("validator/src/high/search/part.rs", "use super::super::State;"),
            ("validator/src/high/search.rs", "use self::part::x;"),
        ];
        let expected = [
            "validator/src/high/mod.rs:3: state::State is in state.rs, which mod.rs may not use",
            "validator/src/high/state.rs:2: super::Settings is in mod.rs, which state.rs may not use",
        ];
        assert_eq!(differences(&["validator", "high"], &rows, &files), expected);
    }

    #[test]
    fn what_is_no_table() {
        let read = |text: &str| Table::read(text, "Layers", &["validator"]).map(|_| ());
        assert_eq!(read("## Others\n| a | may use |"), Err("no table is under \"Layers\"".to_owned()));
        assert_eq!(
            read("## Layers\n## Others\n| a | may use |"),
            Err("no table is under \"Layers\"".to_owned())
        );
        assert_eq!(
            read("## Layers\n| a | uses |"),
            Err("line 2: the last column is not \"may use\"".to_owned())
        );
        let row = |row: &str| read(&format!("# Layers\n| a | may use |\n| --- | --- |\n{row}"));
        assert_eq!(row("| `a/` | `b.rs`, `c/` |"), Ok(()));
        let error = "line 4: \"a\" is no name of a folder or file in backticks";
        assert_eq!(row("| a | – |"), Err(error.to_owned()));
        assert!(row("| `a/` | all above |").is_err());
        assert!(row("| `a/` | |").is_err());
    }
}
