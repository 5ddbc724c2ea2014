//! The header and the entries of a database, and what they hold.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::ZlibDecoder;

use super::FossilizeError;

/// What a database begins with. Three bytes without a use and the version follow.
pub(super) const MAGIC: &[u8; 12] = b"\x81FOSSILIZEDB";

/// How a payload is stored.
pub(super) const RAW: u32 = 1;
pub(super) const DEFLATED: u32 = 2;

/// Bytes of an object, at most: far more than any module has, and little for memory.
const MOST_BYTES: u32 = 256 << 20;

/// Hexadecimal digits of a tag and of a hash, and bytes of a header.
const TAG: usize = 24;
const HASH: usize = 16;
const HEADER: usize = TAG + HASH + 16;

/// The name and the header of an entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) tag: u128,
    pub(super) hash: u64,
    /// Where it begins, in bytes from the beginning of the database.
    at: u64,
    stored_size: u32,
    format: u32,
    /// CRC-32 of the payload as stored; 0 for none.
    crc: u32,
    payload_size: u32,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}.{:016x} at byte {}", self.tag, self.hash, self.at)
    }
}

/// What an entry holds, or why that cannot be had.
type Payload = Result<Vec<u8>, String>;

/// Hands on each entry that is wanted. Gives a remark if something was left out at the end.
pub(super) fn read(
    source: &mut (impl Read + Seek),
    mut wanted: impl FnMut(&Entry) -> bool,
    mut take: impl FnMut(Entry, Payload),
) -> Result<Option<String>, FossilizeError> {
    let length = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    let mut beginning = [0; 16];
    if length < beginning.len() as u64 {
        return Err(FossilizeError::NoDatabase);
    }
    source.read_exact(&mut beginning)?;
    let [magic @ .., _, _, _, version] = beginning;
    if magic != *MAGIC {
        return Err(FossilizeError::NoDatabase);
    }
    if !(5..=6).contains(&version) {
        return Err(FossilizeError::Version(version));
    }
    let mut at = beginning.len() as u64;
    while at < length {
        let cut = format!("the last entry, at byte {at}, is cut off and left out");
        let left = length - at;
        if left < HEADER as u64 {
            return Ok(Some(cut));
        }
        let mut header = [0; HEADER];
        source.read_exact(&mut header)?;
        let Some(entry) = Entry::read(at, &header) else {
            return Ok(Some(format!(
                "what is at byte {at} is no entry: it and all that follows is left out"
            )));
        };
        let size = u64::from(entry.stored_size);
        if left - (HEADER as u64) < size {
            return Ok(Some(cut));
        }
        at += HEADER as u64 + size;
        if wanted(&entry) {
            let payload = entry.payload(source)?;
            take(entry, payload);
        }
        source.seek(SeekFrom::Start(at))?;
    }
    Ok(None)
}

impl Entry {
    /// `None` where the name is not made of hexadecimal digits.
    fn read(at: u64, header: &[u8; HEADER]) -> Option<Entry> {
        let (name, sizes) = header.split_at_checked(TAG + HASH)?;
        if !name.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let (tag, hash) = std::str::from_utf8(name).ok()?.split_at_checked(TAG)?;
        let mut words =
            sizes.chunks_exact(4).filter_map(|word| <[u8; 4]>::try_from(word).ok()).map(u32::from_le_bytes);
        Some(Entry {
            tag: u128::from_str_radix(tag, 16).ok()?,
            hash: u64::from_str_radix(hash, 16).ok()?,
            at,
            stored_size: words.next()?,
            format: words.next()?,
            crc: words.next()?,
            payload_size: words.next()?,
        })
    }

    /// Reads the payload, which comes next in `source`.
    fn payload(&self, source: &mut impl Read) -> io::Result<Payload> {
        if self.stored_size.max(self.payload_size) > MOST_BYTES {
            return Ok(Err(format!("it has more than {} MiB", MOST_BYTES >> 20)));
        }
        let mut stored = Vec::new();
        source.take(self.stored_size.into()).read_to_end(&mut stored)?;
        Ok(self.check(stored))
    }

    fn check(&self, stored: Vec<u8>) -> Payload {
        if self.crc != 0 && crc32fast::hash(&stored) != self.crc {
            return Err("it is damaged: its CRC-32 is another one".to_owned());
        }
        let payload = match self.format {
            RAW => stored,
            DEFLATED => {
                let mut payload = Vec::new();
                // One byte more than there may be, so that a longer one is noticed.
                ZlibDecoder::new(stored.as_slice())
                    .take(u64::from(self.payload_size) + 1)
                    .read_to_end(&mut payload)
                    .map_err(|error| format!("it is damaged: {error}"))?;
                payload
            }
            other => return Err(format!("its payload has the unknown format {other}")),
        };
        if payload.len() as u64 != u64::from(self.payload_size) {
            return Err(format!("it is damaged: its payload does not have {} bytes", self.payload_size));
        }
        Ok(payload)
    }
}
