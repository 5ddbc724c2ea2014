//! Answers of earlier runs in a folder, which many processes and machines may share.
//!
//! An entry is a file by the hash of everything that it depends on. It is written beside its place and then moved there,
//! so that nobody reads half of one, and begins with a hash of the rest, so that a damaged one is noticed: it counts as
//! missing, and is written anew.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::status::Status;

/// What is kept of an answer. Lines and names of modules are not among it: they are told anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What became of the case.
    pub status: Status,
    /// Why, without lines and names.
    pub detail: String,
    /// Of both modules, what was changed and never ran: positions among the instructions that are not for debugging.
    pub never_ran: [Vec<usize>; 2],
    /// Whether both modules are the same program.
    pub proved: bool,
    /// A hash of both modules without names and lines, where there is one.
    pub modules: Option<String>,
    /// The names of the inputs that were run, in order.
    pub inputs: Vec<String>,
    /// The launch on which it fails: an answer that is a failure is told anew with it.
    pub launch: Option<Launch>,
}

/// A launch with everything that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// What the input is called that it gives.
    pub input: String,
    /// The launch file.
    pub text: String,
    /// The names and bytes of the files that it names.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A folder of answers.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    readonly: bool,
}

impl Cache {
    /// The answers in a folder, which is made if it is not there. With `readonly` none are added, and the folder need not
    /// be there.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn open(folder: &Path, readonly: bool) -> io::Result<Cache> {
        if !readonly {
            fs::create_dir_all(folder)?;
        }
        Ok(Cache { folder: folder.to_owned(), readonly })
    }

    /// The answer with this key, if there is one that is whole.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let bytes = fs::read(self.path(key)).ok()?;
        let split = bytes.iter().position(|byte| *byte == b'\n')?;
        let (hash, rest) = (bytes.get(..split)?, bytes.get(split + 1..)?);
        let is_whole = hash == checksum(key, rest).as_bytes();
        is_whole.then(|| serde_json::from_slice(rest).ok()).flatten()
    }

    /// Keeps an answer. An earlier one is replaced at once: readers have one or the other.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn put<T: Serialize>(&self, key: &str, value: &T) -> io::Result<()> {
        if self.readonly {
            return Ok(());
        }
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let rest = serde_json::to_vec(value)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        file.write_all(checksum(key, &rest).as_bytes())?;
        file.write_all(b"\n")?;
        file.write_all(&rest)?;
        file.persist(&path).map(|_| ()).map_err(|error| error.error)
    }

    fn path(&self, key: &str) -> PathBuf {
        // A folder with very many files is slow on some systems.
        let (first, rest) = key.split_at_checked(2).unwrap_or((key, ""));
        self.folder.join(first).join(rest)
    }
}

/// An entry that was moved to another key is damaged, too.
fn checksum(key: &str, rest: &[u8]) -> String {
    crate::hash(&[key.as_bytes(), b"\n", rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(detail: &str) -> Entry {
        Entry {
            status: Status::Pass,
            detail: detail.to_owned(),
            never_ran: [vec![], vec![3]],
            proved: false,
            modules: Some("m".to_owned()),
            inputs: vec!["zeros".to_owned()],
            launch: Some(Launch {
                input: "zeros".to_owned(),
                text: "x = 1".to_owned(),
                files: vec![("a.bin".to_owned(), vec![0, 255])],
            }),
        }
    }

    #[test]
    fn damaged_entries_count_as_missing() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = Cache::open(folder.path(), false)?;
        let key = crate::hash(b"key");
        assert_eq!(cache.get::<Entry>(&key), None);
        cache.put(&key, &entry("first"))?;
        assert_eq!(cache.get(&key), Some(entry("first")));
        let path = cache.path(&key);
        let whole = fs::read(&path)?;
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 1;
            fs::write(&path, &damaged)?;
            assert_eq!(cache.get::<Entry>(&key), None, "byte {position}");
            fs::write(&path, &whole[..position])?;
            assert_eq!(cache.get::<Entry>(&key), None, "cut to {position}");
        }
        cache.put(&key, &entry("second"))?;
        assert_eq!(cache.get(&key), Some(entry("second")));
        let other = crate::hash(b"other");
        fs::create_dir_all(cache.path(&other).parent().unwrap_or(folder.path()))?;
        fs::rename(&path, cache.path(&other))?;
        assert_eq!(cache.get::<Entry>(&other), None);
        Ok(())
    }

    #[test]
    fn nothing_is_added_where_that_is_not_allowed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = Cache::open(&folder.path().join("none"), true)?;
        cache.put("abcd", &entry(""))?;
        assert_eq!(cache.get::<Entry>("abcd"), None);
        assert_eq!(fs::read_dir(folder.path())?.count(), 0);
        Ok(())
    }

    #[test]
    fn many_write_at_once() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = Cache::open(folder.path(), false)?;
        let key = crate::hash(b"key");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        assert!(cache.put(&key, &entry("same")).is_ok());
                        assert_eq!(cache.get(&key), Some(entry("same")));
                    }
                });
            }
        });
        let left = fs::read_dir(cache.path(&key).parent().unwrap_or(folder.path()))?.count();
        assert_eq!(left, 1);
        Ok(())
    }
}
