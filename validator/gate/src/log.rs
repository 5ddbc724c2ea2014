//! The results of a run as they come: a file of lines, each a JSON object, the first of which says what the run is.
//!
//! A record is appended with one write. A run that is killed at any moment leaves whole lines and at most one that is
//! torn, which is cut off when the run is resumed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fs4::fs_std::FileExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::Record;
use crate::results::About;

/// The name of the file in the folder of a run.
pub const FILE: &str = "results.jsonl";

/// What a line behind the first one is.
pub trait Entry: Serialize + DeserializeOwned {
    /// The schema of the first line.
    const SCHEMA: &'static str;

    /// The name of the case that it is about.
    fn case(&self) -> &str;
}

impl Entry for Record {
    const SCHEMA: &'static str = "spirv-tv.gate/1";

    fn case(&self) -> &str {
        &self.case
    }
}

/// After how many records the file is brought to the disk: a machine that loses power loses no more.
const SYNC_EVERY: u32 = 64;

/// How long another process may hold the file before it counts as one that writes there.
const PATIENCE: Duration = Duration::from_millis(400);

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    schema: String,
    /// What the results rest on.
    #[serde(flatten)]
    pub about: About,
    /// What the cases and the options of the run come to, as a hash: a run is resumed with the same only.
    pub run: String,
}

/// What is wrong with a line, without the place in it.
fn without_place(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    error.to_string().trim_end_matches(&place).to_owned()
}

impl Head {
    /// That of a run of `gate`.
    pub fn new(about: About, run: String) -> Head {
        Head::of::<Record>(about, run)
    }

    /// That of a run with other entries.
    pub fn of<R: Entry>(about: About, run: String) -> Head {
        Head { schema: R::SCHEMA.to_owned(), about, run }
    }
}

/// Why results cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A line in its middle is no record.
    #[error("{}:{line}:{}: {}", path.display(), error.column(), without_place(error))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, 1-based.
        line: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// There are results already.
    #[error("{}: there are results of a run already: --resume goes on with it, another --out leaves them", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The results are those of another run.
    #[error("{}: these are results of another run, or of another build or other options; --resume needs the same", path.display())]
    Other {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes there.
    #[error("{}: another process is writing there", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// A file of results that records are appended to. No other process writes there meanwhile.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    since_sync: u32,
}

/// Results as they are read.
#[derive(Clone, Debug)]
pub struct Logged<R = Record> {
    /// The first line.
    pub head: Head,
    /// Records by case. The last one counts.
    pub records: BTreeMap<String, R>,
    /// Bytes of whole lines.
    whole: u64,
    /// Whether there was a torn line behind them.
    pub torn: bool,
}

impl Log {
    /// Begins the results of a run in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// Where there are results already, and where the file cannot be written.
    pub fn begin(folder: &Path, head: &Head) -> Result<Log, LogError> {
        std::fs::create_dir_all(folder).map_err(|error| LogError::Io { path: folder.to_owned(), error })?;
        let path = folder.join(FILE);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut log = Log::of(path, file)?;
        let length =
            log.file.metadata().map_err(|error| LogError::Io { path: log.path.clone(), error })?.len();
        if length > 0 {
            return Err(LogError::Exists { path: log.path });
        }
        log.line(head)?;
        log.sync()?;
        Ok(log)
    }

    /// Goes on with the results of a run in a folder, or begins them: the records that are there.
    ///
    /// # Errors
    /// Where the results are those of another run, or damaged.
    pub fn resume<R: Entry>(folder: &Path, head: &Head) -> Result<(Log, BTreeMap<String, R>), LogError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok((Log::begin(folder, head)?, BTreeMap::new()));
        }
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let mut log = Log::of(path, file)?;
        let Some(logged) = parse::<R>(&log.path, &mut log.file)? else {
            // Killed while it wrote the first line.
            log.cut(0)?;
            log.line(head)?;
            return Ok((log, BTreeMap::new()));
        };
        if logged.head != *head {
            return Err(LogError::Other { path: log.path });
        }
        log.cut(logged.whole)?;
        Ok((log, logged.records))
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn append<R: Entry>(&mut self, record: &R) -> Result<(), LogError> {
        self.line(record)?;
        self.since_sync += 1;
        if self.since_sync >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    /// Brings what was appended to the disk.
    ///
    /// # Errors
    /// Where the system cannot.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.since_sync = 0;
        self.file.sync_data().map_err(|error| LogError::Io { path: self.path.clone(), error })
    }

    fn of(path: PathBuf, file: io::Result<File>) -> Result<Log, LogError> {
        let file = file.map_err(|error| LogError::Io { path: path.clone(), error })?;
        let begun = Instant::now();
        loop {
            match FileExt::try_lock_exclusive(&file) {
                Ok(true) => return Ok(Log { path, file, since_sync: 0 }),
                // A process that is being started holds every file of its parent for a moment.
                Ok(false) if begun.elapsed() < PATIENCE => thread::sleep(PATIENCE / 20),
                Ok(false) => return Err(LogError::Busy { path }),
                Err(error) => return Err(LogError::Io { path, error }),
            }
        }
    }

    fn cut(&mut self, length: u64) -> Result<(), LogError> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        cut.map(|_| ()).map_err(|error| LogError::Io { path: self.path.clone(), error })
    }

    fn line<T: Serialize>(&mut self, value: &T) -> Result<(), LogError> {
        let mut bytes = serde_json::to_vec(value)
            .map_err(|error| LogError::Io { path: self.path.clone(), error: error.into() })?;
        bytes.push(b'\n');
        self.file.write_all(&bytes).map_err(|error| LogError::Io { path: self.path.clone(), error })
    }
}

/// Removes the results of a run, if there are some.
///
/// # Errors
/// Where they cannot be removed.
pub fn discard(folder: &Path) -> Result<(), LogError> {
    let path = folder.join(FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LogError::Io { path, error }),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads the results of a run.
///
/// # Errors
/// Where they cannot be read, are damaged, or have no first line.
pub fn read(folder: &Path) -> Result<Logged, LogError> {
    let path = match folder.is_dir() {
        true => folder.join(FILE),
        false => folder.to_owned(),
    };
    let io = |error| LogError::Io { path: path.clone(), error };
    let mut file = File::open(&path).map_err(io)?;
    parse(&path, &mut file)?.ok_or_else(|| io(io::Error::other("there are no results in it")))
}

fn parse<R: Entry>(path: &Path, file: &mut File) -> Result<Option<Logged<R>>, LogError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| LogError::Io { path: path.to_owned(), error })?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let torn = whole < bytes.len();
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    let mut lines = lines.zip(1..).filter(|(line, _)| !line.is_empty());
    let bad = |line: usize| move |error| LogError::Line { path: path.to_owned(), line, error };
    let Some((first, number)) = lines.next() else { return Ok(None) };
    let head: Head = serde_json::from_slice(first).map_err(bad(number))?;
    let mut records = BTreeMap::new();
    for (line, number) in lines {
        let record: R = serde_json::from_slice(line).map_err(bad(number))?;
        records.insert(record.case().to_owned(), record);
    }
    let whole = u64::try_from(whole).unwrap_or(u64::MAX);
    Ok(Some(Logged { head, records, whole, torn }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    fn head(run: &str) -> Head {
        Head::new(About::default(), run.to_owned())
    }

    #[test]
    fn a_run_that_was_killed_anywhere_goes_on() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let mut log = Log::begin(folder, &head("r"))?;
        for case in ["a", "b", "c"] {
            log.append(&Record::new(case, Status::Pass, "é"))?;
        }
        drop(log);
        let whole = std::fs::read(folder.join(FILE))?;
        for length in 0..=whole.len() {
            std::fs::write(folder.join(FILE), &whole[..length])?;
            let (mut log, known) = Log::resume::<Record>(folder, &head("r"))?;
            for case in ["a", "b", "c"] {
                if !known.contains_key(case) {
                    log.append(&Record::new(case, Status::Pass, "é"))?;
                }
            }
            drop(log);
            assert_eq!(std::fs::read(folder.join(FILE))?, whole, "{length}");
        }
        Ok(())
    }

    #[test]
    fn other_runs_are_told_apart() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let log = Log::begin(folder, &head("r"))?;
        assert!(matches!(Log::resume::<Record>(folder, &head("r")), Err(LogError::Busy { .. })));
        drop(log);
        assert!(matches!(Log::begin(folder, &head("r")), Err(LogError::Exists { .. })));
        assert!(matches!(Log::resume::<Record>(folder, &head("s")), Err(LogError::Other { .. })));
        std::fs::write(folder.join(FILE), "nonsense\n")?;
        assert!(matches!(read(folder), Err(LogError::Line { line: 1, .. })));
        Ok(())
    }
}
