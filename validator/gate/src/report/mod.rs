//! The results of a run as files: for other runs, for CI, for people.
//!
//! The same results give the same bytes.

mod csv;
mod html;
mod junit;
#[cfg(test)]
mod samples;
mod sarif;
mod summary;
mod words;

use std::io;
use std::path::{Path, PathBuf};

pub use csv::{failures_csv, results_csv};
pub use html::html;
pub use junit::junit;
pub use sarif::sarif;
pub use summary::summary;

/// Why a report was not written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file or folder.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A table.
    #[error("cannot make a CSV table: {0}")]
    Csv(#[from] ::csv::Error),
    /// A JUnit report.
    #[error("cannot make a JUnit report: {0}")]
    Junit(#[from] quick_junit::SerializeError),
    /// A SARIF log.
    #[error("cannot make a SARIF log: {0}")]
    Sarif(#[from] serde_json::Error),
}

/// Writes a report, and makes the folders that it is in.
///
/// # Errors
///
/// Where a folder or the file cannot be written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), ReportError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, contents))
        .map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_gets_its_folder_or_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/results.csv");
        write(&path, "x,Pass\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x,Pass\n");
        let below_a_file = path.join("c");
        let error = write(&below_a_file, "").unwrap_err().to_string();
        assert!(error.contains(&below_a_file.display().to_string()), "{error}");
    }
}
