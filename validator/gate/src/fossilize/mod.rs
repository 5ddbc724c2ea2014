//! Databases of Fossilize: shader modules, and the pipelines that say with which entry points and specialisation
//! constants they are used.
//!
//! A database (format of stream archives, versions 5 and 6) is a header and entries. An entry has a tag, which says what
//! kind of object it holds, a hash, and a payload, which is JSON and, behind a zero byte, code. What is damaged or unknown
//! is left out, and a remark says so.

mod container;
mod objects;
#[cfg(test)]
mod tests;
pub mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use container::Entry;
use objects::Use;

/// Tags of entries.
const SHADER_MODULE: u128 = 4;
const GRAPHICS_PIPELINE: u128 = 6;
const COMPUTE_PIPELINE: u128 = 7;
const RAY_TRACING_PIPELINE: u128 = 9;

/// Tags from this on are not known.
const TAGS: u128 = 11;

/// Why a database cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum FossilizeError {
    /// The system does not give the file.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It has another beginning.
    #[error("it is no Fossilize database")]
    NoDatabase,
    /// It is of a version with another format.
    #[error("it is a Fossilize database of version {0}, and versions 5 and 6 can be read")]
    Version(u8),
}

/// A stage of a pipeline: the value of a `VkShaderStageFlagBits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stage(pub u32);

impl Stage {
    /// A compute shader.
    pub const COMPUTE: Stage = Stage(0x20);
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            0x1 => "vertex",
            0x2 => "tessellation control",
            0x4 => "tessellation evaluation",
            0x8 => "geometry",
            0x10 => "fragment",
            0x20 => "compute",
            0x40 => "task",
            0x80 => "mesh",
            0x100 => "ray generation",
            0x200 => "any hit",
            0x400 => "closest hit",
            0x800 => "miss",
            0x1000 => "intersection",
            0x2000 => "callable",
            other => return write!(f, "stage {other:#x}"),
        };
        f.write_str(name)
    }
}

/// Specialisation constants: their SpecId and the bytes of their value.
pub type Specialisation = Vec<(u32, Vec<u8>)>;

/// A shader of a database as some pipeline uses it, or as it is where none does.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderCase {
    /// Its name, which is unique in the database: `4.MODULE` for a module that no pipeline uses, `4.MODULE.ENTRY`, and
    /// `4.MODULE.ENTRY.TAG.PIPELINE` where a pipeline specialises it, with hashes of 16 hexadecimal digits. The pipeline
    /// is the first one that uses it so.
    pub name: String,
    /// The module.
    pub words: Arc<[u32]>,
    /// The name of the entry point.
    pub entry: Option<String>,
    /// The stage that it is used for.
    pub stage: Option<Stage>,
    /// What the pipeline sets, by SpecId.
    pub specialisation: Specialisation,
}

/// The shaders of a database.
#[derive(Clone, Debug, Default)]
pub struct Database {
    modules: BTreeMap<u64, Arc<[u32]>>,
    /// The first pipeline of each use.
    uses: BTreeMap<Use, (u128, u64)>,
    remarks: Vec<String>,
}

impl Database {
    /// Reads the database in a file.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, or is no database. What is wrong inside of it is in the [remarks](Self::remarks).
    pub fn open(path: &Path) -> Result<Database, FossilizeError> {
        Database::read(BufReader::new(File::open(path)?))
    }

    /// Reads a database.
    ///
    /// # Errors
    ///
    /// As for [`Database::open`].
    pub fn read(mut source: impl Read + Seek) -> Result<Database, FossilizeError> {
        let mut database = Database::default();
        let mut seen = BTreeSet::new();
        let mut unknown = 0usize;
        let wanted = |entry: &Entry| {
            let tags = [SHADER_MODULE, GRAPHICS_PIPELINE, COMPUTE_PIPELINE, RAY_TRACING_PIPELINE];
            unknown += usize::from(entry.tag >= TAGS);
            // The first of several with one name counts.
            tags.contains(&entry.tag) && seen.insert((entry.tag, entry.hash))
        };
        let end = container::read(&mut source, wanted, |entry, payload| {
            if let Err(why) = payload.and_then(|payload| database.object(&entry, &payload)) {
                database.remarks.push(format!("{entry} is left out: {why}"));
            }
        })?;
        database.remarks.extend(end);
        if unknown > 0 {
            database.remarks.push(format!("entries with unknown tags are left out: {unknown}"));
        }
        database.drop_uses_of_missing_modules();
        if database.modules.is_empty() {
            database.remarks.push("the database has no shader modules".to_owned());
        }
        Ok(database)
    }

    /// What is left out and why, a line each, in the order of the file.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Every shader once for each entry point, stage and specialisation that some pipeline uses, by the module's hash.
    /// A module that no pipeline uses has no entry point.
    pub fn cases(&self) -> Vec<ShaderCase> {
        let mut names = BTreeSet::new();
        let mut cases = Vec::new();
        for (module, words) in &self.modules {
            let first = cases.len();
            let uses = self.uses.range(Use::first_of(*module)..);
            for (used, pipeline) in uses.take_while(|(used, _)| used.module == *module) {
                cases.push(ShaderCase {
                    name: unique(&mut names, used.name(*pipeline)),
                    words: Arc::clone(words),
                    entry: Some(used.entry.clone()),
                    stage: Some(used.stage),
                    specialisation: used.specialisation.clone(),
                });
            }
            if cases.len() == first {
                cases.push(ShaderCase {
                    name: unique(&mut names, format!("{SHADER_MODULE}.{module:016x}")),
                    words: Arc::clone(words),
                    entry: None,
                    stage: None,
                    specialisation: Vec::new(),
                });
            }
        }
        cases
    }

    /// Takes in what an entry holds.
    fn object(&mut self, entry: &Entry, payload: &[u8]) -> Result<(), String> {
        if entry.tag == SHADER_MODULE {
            for (hash, module) in objects::modules(payload)? {
                match module {
                    Ok(words) => drop(self.modules.entry(hash).or_insert(words)),
                    Err(why) => {
                        self.remarks.push(format!("shader module {hash:016x} is left out: {why}"));
                    }
                }
            }
            return Ok(());
        }
        for (pipeline, used) in objects::uses(payload)? {
            match used {
                Ok(used) => {
                    let first = self.uses.entry(used).or_insert((entry.tag, pipeline));
                    *first = (*first).min((entry.tag, pipeline));
                }
                Err(why) => {
                    self.remarks.push(format!("a stage of pipeline {pipeline:016x} is left out: {why}"));
                }
            }
        }
        Ok(())
    }

    fn drop_uses_of_missing_modules(&mut self) {
        let (modules, remarks) = (&self.modules, &mut self.remarks);
        self.uses.retain(|used, (_, pipeline)| {
            let there = modules.contains_key(&used.module);
            if !there {
                remarks.push(format!(
                    "pipeline {pipeline:016x} uses shader module {:016x}, which is not there",
                    used.module
                ));
            }
            there
        });
    }
}

/// This name, or with a number behind it where another case has it.
fn unique(names: &mut BTreeSet<String>, name: String) -> String {
    let mut found = name.clone();
    let mut number = 1usize;
    while !names.insert(found.clone()) {
        number += 1;
        found = format!("{name}.{number}");
    }
    found
}
