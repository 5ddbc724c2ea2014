//! Files of the user, up to a length: what never ends, such as a device, is an error.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes of a module or of a text, at most: more than ten times what the largest modules have.
pub const MAX_LENGTH: u64 = 64 << 20;

/// The bytes of a file.
///
/// # Errors
/// Those of reading, and [`ErrorKind::FileTooLarge`] for more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_from(File::open(path)?, limit)
}

/// As [`read`], from what is open already.
///
/// # Errors
/// As for [`read`].
pub fn read_from(source: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it is longer than {limit} bytes")));
    }
    Ok(bytes)
}

/// A file as UTF-8 text.
///
/// # Errors
/// As for [`read`], with [`MAX_LENGTH`], and [`ErrorKind::InvalidData`] for what is no such text.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read(path, MAX_LENGTH)?;
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is no UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_an_error() {
        let kind = |source: &[u8], limit| read_from(source, limit).map_err(|error| error.kind());
        assert_eq!(kind(b"four", 4), Ok(b"four".to_vec()));
        assert_eq!(kind(b"fives", 4), Err(ErrorKind::FileTooLarge));
        let endless = read_from(std::io::repeat(0), 1 << 16).map_err(|error| error.kind());
        assert_eq!(endless, Err(ErrorKind::FileTooLarge));
    }
}
