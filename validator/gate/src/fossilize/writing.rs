//! Writes databases, for tests of what reads them.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use flate2::{write::ZlibEncoder, Compression};
use serde_json::json;

use super::container::{DEFLATED, MAGIC, RAW};
use super::{Stage, COMPUTE_PIPELINE, SHADER_MODULE};

/// A database of version 6 without entries.
pub fn empty() -> Vec<u8> {
    [MAGIC.as_slice(), &[0, 0, 0, 6]].concat()
}

/// Appends an entry, raw or deflated.
///
/// # Errors
///
/// Where the payload cannot be deflated or is too large.
pub fn append(
    database: &mut Vec<u8>,
    (tag, hash): (u128, u64),
    payload: &[u8],
    deflate: bool,
) -> io::Result<()> {
    let mut stored = payload.to_vec();
    if deflate {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(payload)?;
        stored = encoder.finish()?;
    }
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
    write!(database, "{tag:024x}{hash:016x}")?;
    let format = if deflate { DEFLATED } else { RAW };
    for word in [size(&stored)?, format, crc32fast::hash(&stored), size(payload)?] {
        database.extend(word.to_le_bytes());
    }
    database.extend(stored);
    Ok(())
}

/// The name and the payload of a shader module.
pub fn module(hash: u64, words: &[u32]) -> ((u128, u64), Vec<u8>) {
    let mut code = Vec::new();
    for word in words {
        let mut left = *word;
        while left >= 0x80 {
            code.extend((left | 0x80).to_le_bytes().first());
            left >>= 7;
        }
        code.extend(left.to_le_bytes().first());
    }
    let module =
        json!({ "flags": 0, "codeSize": words.len() * 4, "varintOffset": 0, "varintSize": code.len() });
    let json = json!({ "version": 6, "shaderModules": { format!("{hash:016x}"): module } });
    ((SHADER_MODULE, hash), [json.to_string().as_bytes(), &[0], &code].concat())
}

/// The name and the payload of a compute pipeline that uses this module, with specialisation constants by SpecId.
pub fn pipeline(hash: u64, module: u64, entry: &str, constants: &[(u32, u32)]) -> ((u128, u64), Vec<u8>) {
    let data: Vec<u8> = constants.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
    let entries = constants.iter().zip((0..).step_by(4));
    let entries: Vec<_> =
        entries.map(|((id, _), offset)| json!({ "constantID": id, "offset": offset, "size": 4 })).collect();
    let mut stage =
        json!({ "flags": 0, "name": entry, "module": format!("{module:016x}"), "stage": Stage::COMPUTE.0 });
    if !constants.is_empty() {
        let info = json!({ "mapEntries": entries, "dataSize": data.len(), "data": STANDARD.encode(&data) });
        stage.as_object_mut().map(|stage| stage.insert("specializationInfo".to_owned(), info));
    }
    let pipeline = json!({ "flags": 0, "layout": "0000000000000000", "stage": stage });
    let json = json!({ "version": 6, "computePipelines": { format!("{hash:016x}"): pipeline } });
    ((COMPUTE_PIPELINE, hash), json.to_string().into_bytes())
}
