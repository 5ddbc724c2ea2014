//! The protocol between parent and child: frames. A frame begins with its number of parts; each part is a number
//! of bytes, followed by the bytes. Numbers have 32 bits, lowest byte first.

use std::io::{self, Read, Write};

/// Writes a frame.
pub(super) fn write(to: &mut impl Write, parts: &[&[u8]]) -> io::Result<()> {
    let number = |len: usize| {
        let number = u32::try_from(len).map_err(|_| io::Error::other("more than 4 GiB at once"))?;
        io::Result::Ok(number.to_le_bytes())
    };
    to.write_all(&number(parts.len())?)?;
    for part in parts {
        to.write_all(&number(part.len())?)?;
        to.write_all(part)?;
    }
    to.flush()
}

/// Reads a frame; `None` where nothing comes any more.
pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Vec<Vec<u8>>>> {
    let mut number = [0; 4];
    if from.read(&mut number[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut number[1..])?;
    let mut parts = Vec::new();
    for _ in 0..u32::from_le_bytes(number) {
        from.read_exact(&mut number)?;
        let len = u64::from(u32::from_le_bytes(number));
        let mut part = Vec::new();
        if from.by_ref().take(len).read_to_end(&mut part)? as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        parts.push(part);
    }
    Ok(Some(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_one_after_the_other() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[b"one", b"", b"three"]).unwrap();
        write(&mut bytes, &[]).unwrap();
        let mut from = &bytes[..];
        assert_eq!(read(&mut from).unwrap(), Some(vec![b"one".to_vec(), Vec::new(), b"three".to_vec()]));
        assert_eq!(read(&mut from).unwrap(), Some(Vec::new()));
        assert_eq!(read(&mut from).unwrap(), None);
        for cut in [1, 5, 9] {
            assert!(read(&mut &bytes[..cut]).is_err());
        }
    }
}
