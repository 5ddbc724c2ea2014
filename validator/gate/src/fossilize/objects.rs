//! Shader modules and pipelines in the payloads of a database.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use serde::de::DeserializeOwned;
use serde::Deserialize;
use serde_json::Value;

use super::{Specialisation, Stage, SHADER_MODULE};

/// The JSON of a payload. Objects stand under their hashes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    version: u32,
    #[serde(default)]
    shader_modules: BTreeMap<String, Value>,
    #[serde(default)]
    compute_pipelines: BTreeMap<String, Value>,
    #[serde(default)]
    graphics_pipelines: BTreeMap<String, Value>,
    #[serde(default)]
    raytracing_pipelines: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Module {
    /// In bytes.
    code_size: u64,
    /// Where the code is behind the JSON, and its bytes there.
    varint_offset: Option<u64>,
    varint_size: Option<u64>,
    /// Older ones have it here, in Base64.
    code: Option<String>,
}

#[derive(Deserialize)]
struct Pipeline {
    stage: Option<Value>,
    #[serde(default)]
    stages: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PipelineStage {
    module: String,
    name: String,
    stage: u32,
    specialization_info: Option<SpecializationInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecializationInfo {
    data_size: usize,
    data: String,
    #[serde(default)]
    map_entries: Vec<MapEntry>,
}

#[derive(Deserialize)]
struct MapEntry {
    #[serde(rename = "constantID")]
    constant: u32,
    offset: usize,
    size: usize,
}

/// How a pipeline uses a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// Its hash.
    pub(super) module: u64,
    pub(super) entry: String,
    pub(super) stage: Stage,
    pub(super) specialisation: Specialisation,
}

impl Use {
    /// The least use of a module.
    pub(super) fn first_of(module: u64) -> Use {
        Use { module, entry: String::new(), stage: Stage(0), specialisation: Vec::new() }
    }

    /// The name of the case, for the first pipeline of this use.
    pub(super) fn name(&self, (tag, pipeline): (u128, u64)) -> String {
        let name = format!("{SHADER_MODULE}.{:016x}.{}", self.module, self.entry);
        if self.specialisation.is_empty() {
            return name;
        }
        format!("{name}.{tag}.{pipeline:016x}")
    }
}

/// Objects by their hash, or why one cannot be had.
type Found<T> = Vec<(u64, Result<T, String>)>;

/// The modules of a payload.
pub(super) fn modules(payload: &[u8]) -> Result<Found<Arc<[u32]>>, String> {
    let (document, code) = document(payload)?;
    let mut found = Vec::new();
    for (hash, module) in document.shader_modules {
        found.push((hash_of(&hash)?, read(module).and_then(|module| words(&module, code))));
    }
    Ok(found)
}

/// What the pipelines of a payload use.
pub(super) fn uses(payload: &[u8]) -> Result<Found<Use>, String> {
    let (document, _) = document(payload)?;
    let mut found = Vec::new();
    let pipelines = document
        .compute_pipelines
        .into_iter()
        .chain(document.graphics_pipelines)
        .chain(document.raytracing_pipelines);
    for (hash, pipeline) in pipelines {
        let hash = hash_of(&hash)?;
        let pipeline: Pipeline = read(pipeline)?;
        for stage in pipeline.stage.into_iter().chain(pipeline.stages) {
            found.push((hash, read(stage).and_then(use_of)));
        }
    }
    Ok(found)
}

/// The JSON of a payload, and what is behind the zero byte that ends it.
fn document(payload: &[u8]) -> Result<(Document, &[u8]), String> {
    let mut parts = payload.splitn(2, |byte| *byte == 0);
    let json = parts.next().unwrap_or_default();
    let code = parts.next().unwrap_or_default();
    let document: Document = serde_json::from_slice(json).map_err(not_understood)?;
    if !(5..=6).contains(&document.version) {
        return Err(format!("its JSON has the unknown version {}", document.version));
    }
    Ok((document, code))
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(not_understood)
}

fn not_understood(error: serde_json::Error) -> String {
    format!("its JSON is not understood: {error}")
}

fn hash_of(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| format!("{text:?} is no hash"))
}

fn words(module: &Module, code: &[u8]) -> Result<Arc<[u32]>, String> {
    let words: Vec<u32> = match (module.varint_offset, module.varint_size, &module.code) {
        (Some(offset), Some(size), _) => {
            let (from, size) = (usize::try_from(offset).ok(), usize::try_from(size).ok());
            let bytes =
                from.and_then(|from| code.get(from..)).zip(size).and_then(|(code, size)| code.get(..size));
            varints(bytes.ok_or("its code is not in the payload")?)?
        }
        (_, _, Some(text)) => {
            let bytes = base64(text)?;
            let words = bytes.chunks_exact(4);
            if !words.remainder().is_empty() {
                return Err("its code is not made of words".to_owned());
            }
            words.filter_map(|word| word.try_into().ok()).map(u32::from_le_bytes).collect()
        }
        _ => return Err("it has no code".to_owned()),
    };
    if words.len() as u64 * 4 != module.code_size {
        return Err(format!("it should have {} bytes of code and has {}", module.code_size, words.len() * 4));
    }
    Ok(words.into())
}

/// Words in groups of seven bits, the lowest first; a byte's highest bit says that another one of the word follows.
fn varints(bytes: &[u8]) -> Result<Vec<u32>, String> {
    let mut words = Vec::new();
    let mut word = 0u64;
    let mut shift = 0;
    for byte in bytes {
        word |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            words.push(u32::try_from(word).map_err(|_| "its code has what is no word")?);
            (word, shift) = (0, 0);
        } else if shift > 28 {
            return Err("its code has what is no word".to_owned());
        }
    }
    if shift > 0 {
        return Err("its code ends within a word".to_owned());
    }
    Ok(words)
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| format!("its Base64 is not understood: {error}"))
}

fn use_of(stage: PipelineStage) -> Result<Use, String> {
    let specialisation = stage.specialization_info.map_or(Ok(Vec::new()), specialisation)?;
    let module = hash_of(&stage.module)?;
    Ok(Use { module, entry: stage.name, stage: Stage(stage.stage), specialisation })
}

/// Values by SpecId.
fn specialisation(info: SpecializationInfo) -> Result<Specialisation, String> {
    let bytes = base64(&info.data)?;
    let data = bytes.get(..info.data_size).ok_or("its specialisation has less data than it says")?;
    let mut values = BTreeMap::new();
    for MapEntry { constant, offset, size } in info.map_entries {
        let value = offset.checked_add(size).and_then(|end| data.get(offset..end));
        let value = value.ok_or_else(|| format!("specialisation constant {constant} is not in its data"))?;
        values.insert(constant, value.to_vec());
    }
    Ok(values.into_iter().collect())
}
