//! Why there are no cases.

use std::io;
use std::path::PathBuf;

/// Why there are no cases.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or folder cannot be looked into.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A name that no file of results could hold.
    #[error("{}: this name is not UTF-8, and results could not name it", _0.display())]
    Name(PathBuf),
    /// A folder has nothing in it.
    #[error("{}: nothing in this folder is a case: there are .spv and .spvasm files, .foz files, and folders with a before and an after", _0.display())]
    Empty(PathBuf),
    /// Quotes that do not close.
    #[error("'{0}': a quotation mark is open")]
    Quotes(String),
    /// Two cases have one name.
    #[error("two cases have the name '{0}', with other modules, flags or launches")]
    Twice(String),
    /// A manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A database cannot be read.
    #[error("{}: {why}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The manifest.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is no TOML, or has keys that there are not.
    #[error("{}: {error}", path.display())]
    Toml {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<toml::de::Error>,
    },
    /// A group makes no sense.
    #[error("{}: [[cases]] number {group}: {why}", path.display())]
    Group {
        /// The manifest.
        path: PathBuf,
        /// The group, from 1.
        group: usize,
        /// What is wrong with it.
        why: String,
    },
}
