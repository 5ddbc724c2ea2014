//! The files of a request and of its answer (`docs/executor.md`). Neither side trusts the other: a file counts only if it
//! is a plain file in the folder, and as long as it must be.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::case::{Address, Case, Kind, Resource, Robustness, Slot, SpecialisationValue};
use crate::{Description, Execution, Observation};

/// The version of the protocol.
pub const PROTOCOL: &str = "spirv-tv.executor/1";

/// The file of a request.
const REQUEST: &str = "request.json";

/// The file of an answer.
const ANSWER: &str = "answer.json";

const MODULE: &str = "module.spv";

const PUSH: &str = "push.bin";

/// The length of a JSON file, in bytes.
const LONGEST_JSON: u64 = 16 << 20;

/// The length of a module or of initial contents, in bytes.
const LONGEST_FILE: u64 = 1 << 30;

/// How many different observations an answer may have.
pub const MOST_OBSERVATIONS: usize = 4096;

/// What an executor is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// What it is.
    Describe,
    /// To run a case.
    Run(Box<Case>),
}

#[derive(Serialize, Deserialize)]
struct RequestJson {
    protocol: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
enum What {
    Describe,
    Run(Box<RunJson>),
}

#[derive(Serialize, Deserialize)]
struct RunJson {
    module: String,
    entry: String,
    workgroups: [u32; 3],
    local_size: [u32; 3],
    subgroup_size: Option<u32>,
    specialisation: Vec<SpecialisationValue>,
    push: Option<String>,
    resources: Vec<ResourceJson>,
    addresses: Vec<Address>,
    #[serde(default)]
    unwanted: Vec<usize>,
    robustness: Robustness,
    times: u32,
    time_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct ResourceJson {
    name: String,
    slot: Option<Slot>,
    #[serde(flatten)]
    kind: Kind,
    size: usize,
    file: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct AnswerJson {
    protocol: String,
    #[serde(flatten)]
    status: Status,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
enum Status {
    Described { device: Description },
    Finished { runs: Vec<ObservationJson> },
    Unsupported { missing: Vec<String> },
    TimedOut,
    Crashed { message: String },
    DeviceLost { message: String },
    OutOfMemory { message: String },
    Failed { message: String },
}

#[derive(Serialize, Deserialize)]
struct ObservationJson {
    count: u32,
    memory: Vec<Option<String>>,
    #[serde(default)]
    addresses: Vec<Option<u64>>,
}

fn write_json(folder: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    fs::write(folder.join(name), serde_json::to_vec(value)?)
}

/// Writes the request for a description.
///
/// # Errors
/// What the system says.
pub fn write_describe(folder: &Path) -> io::Result<()> {
    write_json(folder, REQUEST, &RequestJson { protocol: PROTOCOL.to_owned(), what: What::Describe })
}

/// Writes the request for a run.
///
/// # Errors
/// What the system says.
pub fn write_case(folder: &Path, case: &Case) -> io::Result<()> {
    let module: Vec<u8> = case.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(folder.join(MODULE), module)?;
    let push = match case.push.is_empty() {
        true => None,
        false => {
            fs::write(folder.join(PUSH), &case.push)?;
            Some(PUSH.to_owned())
        }
    };
    let mut resources = Vec::with_capacity(case.resources.len());
    for (index, Resource { name, slot, kind, bytes }) in case.resources.iter().enumerate() {
        let file = match kind {
            Kind::Sampler { .. } | Kind::SameAs { .. } => None,
            _ => {
                let file = format!("{index}.bin");
                fs::write(folder.join(&file), bytes)?;
                Some(file)
            }
        };
        resources.push(ResourceJson {
            name: name.clone(),
            slot: *slot,
            kind: kind.clone(),
            size: bytes.len(),
            file,
        });
    }
    let run = RunJson {
        module: MODULE.to_owned(),
        entry: case.entry.clone(),
        workgroups: case.workgroups,
        local_size: case.local_size,
        subgroup_size: case.subgroup_size,
        specialisation: case.specialisation.clone(),
        push,
        resources,
        addresses: case.addresses.clone(),
        unwanted: case.unwanted.clone(),
        robustness: case.robustness,
        times: case.times,
        time_ms: u64::try_from(case.time.as_millis()).unwrap_or(u64::MAX),
    };
    let what = What::Run(Box::new(run));
    write_json(folder, REQUEST, &RequestJson { protocol: PROTOCOL.to_owned(), what })
}

/// Reads a request.
///
/// # Errors
/// A file is missing or wrong.
pub fn read_request(folder: &Path) -> io::Result<Request> {
    let request: RequestJson = serde_json::from_slice(&read(folder, REQUEST, Length::AtMost(LONGEST_JSON))?)?;
    if request.protocol != PROTOCOL {
        return Err(wrong(format!("{REQUEST}: the protocol is '{}' and not {PROTOCOL}", request.protocol)));
    }
    let run = match request.what {
        What::Describe => return Ok(Request::Describe),
        What::Run(run) => run,
    };
    let module = read(folder, &run.module, Length::AtMost(LONGEST_FILE))?;
    if module.len() % 4 != 0 {
        return Err(wrong(format!("{}: {} bytes are no words", run.module, module.len())));
    }
    let words = module.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let push = match &run.push {
        Some(file) => read(folder, file, Length::AtMost(LONGEST_FILE))?,
        None => Vec::new(),
    };
    let mut resources = Vec::with_capacity(run.resources.len());
    for ResourceJson { name, slot, kind, size, file } in run.resources {
        let bytes = match &file {
            Some(file) => read(folder, file, Length::Exactly(size))?,
            None => Vec::new(),
        };
        resources.push(Resource { name, slot, kind, bytes });
    }
    Ok(Request::Run(Box::new(Case {
        words: words.collect(),
        entry: run.entry,
        workgroups: run.workgroups,
        local_size: run.local_size,
        subgroup_size: run.subgroup_size,
        specialisation: run.specialisation,
        push,
        resources,
        addresses: run.addresses,
        unwanted: run.unwanted,
        robustness: run.robustness,
        times: run.times,
        time: Duration::from_millis(run.time_ms),
    })))
}

/// Writes what an executor is.
///
/// # Errors
/// What the system says.
pub fn write_description(folder: &Path, description: &Result<Description, Execution>) -> io::Result<()> {
    match description {
        Ok(device) => write_answer(folder, Status::Described { device: device.clone() }),
        Err(execution) => write_execution(folder, execution),
    }
}

/// Writes what came of a case.
///
/// # Errors
/// What the system says.
pub fn write_execution(folder: &Path, execution: &Execution) -> io::Result<()> {
    let message = |message: &String| message.clone();
    let status = match execution {
        Execution::Finished(observations) => Status::Finished { runs: write_contents(folder, observations)? },
        Execution::Unsupported(missing) => Status::Unsupported { missing: missing.clone() },
        Execution::TimedOut(_) => Status::TimedOut,
        Execution::Crashed(said) => Status::Crashed { message: message(said) },
        Execution::DeviceLost(said) => Status::DeviceLost { message: message(said) },
        Execution::OutOfMemory(said) => Status::OutOfMemory { message: message(said) },
        Execution::Failed(said) | Execution::Invalid(said) | Execution::NotRun(said) => {
            Status::Failed { message: message(said) }
        }
    };
    write_answer(folder, status)
}

fn write_contents(folder: &Path, observations: &[Observation]) -> io::Result<Vec<ObservationJson>> {
    let mut runs = Vec::with_capacity(observations.len());
    for (number, Observation { count, memory, addresses }) in observations.iter().enumerate() {
        let mut files = Vec::with_capacity(memory.len());
        for (index, bytes) in memory.iter().enumerate() {
            files.push(match bytes {
                Some(bytes) => {
                    let file = format!("{index}.{number}.bin");
                    fs::write(folder.join(&file), bytes)?;
                    Some(file)
                }
                None => None,
            });
        }
        runs.push(ObservationJson { count: *count, memory: files, addresses: addresses.clone() });
    }
    Ok(runs)
}

fn write_answer(folder: &Path, status: Status) -> io::Result<()> {
    write_json(folder, ANSWER, &AnswerJson { protocol: PROTOCOL.to_owned(), status })
}

fn answer(folder: &Path) -> io::Result<Status> {
    let answer: AnswerJson = serde_json::from_slice(&read(folder, ANSWER, Length::AtMost(LONGEST_JSON))?)
        .map_err(|error| wrong(format!("{ANSWER}: {error}")))?;
    match answer.protocol == PROTOCOL {
        true => Ok(answer.status),
        false => Err(wrong(format!("{ANSWER}: the protocol is '{}' and not {PROTOCOL}", answer.protocol))),
    }
}

/// Reads what an executor is.
///
/// # Errors
/// What it answered instead.
pub fn read_description(folder: &Path) -> Result<Description, Execution> {
    match answer(folder).map_err(|error| Execution::Invalid(error.to_string()))? {
        Status::Described { device } => Ok(device),
        Status::Finished { .. } => Err(Execution::Invalid(format!("{ANSWER}: it has no description"))),
        other => Err(failure(other, Duration::ZERO)),
    }
}

/// Reads what came of a case. What is no answer is [`Execution::Invalid`].
pub fn read_execution(folder: &Path, case: &Case) -> Execution {
    let read = answer(folder).and_then(|status| match status {
        Status::Finished { runs } => observations(folder, case, runs).map(Execution::Finished),
        Status::Described { .. } => Err(wrong(format!("{ANSWER}: it has a description and no result"))),
        other => Ok(failure(other, case.time)),
    });
    read.unwrap_or_else(|error| Execution::Invalid(error.to_string()))
}

/// What a status says that is neither a description nor a result.
fn failure(status: Status, time: Duration) -> Execution {
    match status {
        Status::Unsupported { missing } => Execution::Unsupported(missing),
        Status::TimedOut => Execution::TimedOut(time),
        Status::Crashed { message } => Execution::Crashed(message),
        Status::DeviceLost { message } => Execution::DeviceLost(message),
        Status::OutOfMemory { message } => Execution::OutOfMemory(message),
        Status::Failed { message } => Execution::Failed(message),
        Status::Described { .. } | Status::Finished { .. } => Execution::Invalid(String::new()),
    }
}

fn observations(folder: &Path, case: &Case, runs: Vec<ObservationJson>) -> io::Result<Vec<Observation>> {
    let times = case.times;
    let total = runs.iter().map(|run| u64::from(run.count)).sum::<u64>();
    if runs.is_empty() || runs.iter().any(|run| run.count == 0) || total > u64::from(times) {
        return Err(wrong(format!("{ANSWER}: {total} runs are told where 1 to {times} were wanted")));
    }
    if runs.len() > MOST_OBSERVATIONS {
        return Err(wrong(format!("{ANSWER}: more than {MOST_OBSERVATIONS} different results")));
    }
    let mut known = BTreeSet::new();
    let mut observations = Vec::with_capacity(runs.len());
    for ObservationJson { count, memory, mut addresses } in runs {
        if memory.len() != case.resources.len() {
            let (told, all) = (memory.len(), case.resources.len());
            return Err(wrong(format!("{ANSWER}: contents of {told} resources where there are {all}")));
        }
        let mut contents = Vec::with_capacity(memory.len());
        for (index, (file, resource)) in memory.into_iter().zip(&case.resources).enumerate() {
            let is_wanted = !case.unwanted.contains(&index);
            contents.push(match file {
                // Two results that differ only in what nobody wants to know are the same.
                Some(_) if !is_wanted => None,
                Some(file) => Some(read(folder, &file, Length::Exactly(resource.bytes.len()))?),
                None if resource.is_writable() && is_wanted => {
                    return Err(wrong(format!("{ANSWER}: there are no contents of {}", resource.name)))
                }
                None => None,
            });
        }
        addresses.resize(case.resources.len(), None);
        let is_new = known.insert(contents.clone());
        if !is_new && !case.unwanted.is_empty() {
            let same = observations.iter_mut().find(|one: &&mut Observation| one.memory == contents);
            same.into_iter().for_each(|one| one.count += count);
            continue;
        }
        observations.push(Observation { count, memory: contents, addresses });
    }
    match known.len() == observations.len() {
        true => Ok(observations),
        false => Err(wrong(format!("{ANSWER}: two results are the same"))),
    }
}

/// How long a file must be, in bytes.
#[derive(Clone, Copy)]
enum Length {
    AtMost(u64),
    Exactly(usize),
}

/// Reads a plain file that lies in the folder itself.
fn read(folder: &Path, name: &str, length: Length) -> io::Result<Vec<u8>> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
    let is_name = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', ':', '\0']);
    if !is_name {
        return Err(wrong(format!("'{name}' is not the name of a file in the folder")));
    }
    if !fs::symlink_metadata(folder).map_err(told)?.is_dir() {
        return Err(wrong("the folder is no folder any more".to_owned()));
    }
    let file = open(&folder.join(name)).map_err(told)?;
    let meta = file.metadata().map_err(told)?;
    if !meta.is_file() {
        return Err(wrong(format!("{name} is no plain file")));
    }
    let most = match length {
        Length::AtMost(most) if meta.len() > most => {
            return Err(wrong(format!("{name} has {} bytes, more than {most}", meta.len())))
        }
        Length::Exactly(wanted) if u64::try_from(wanted).ok() != Some(meta.len()) => {
            return Err(wrong(format!("{name} has {} bytes and not {wanted}", meta.len())))
        }
        Length::AtMost(_) | Length::Exactly(_) => meta.len(),
    };
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(most).read_to_end(&mut bytes).map_err(told)?;
    Ok(bytes)
}

/// Opens a file and no link, and does not wait where it is a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Opens a file and no link.
#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path)?.is_file() {
        true => OpenOptions::new().read(true).open(path),
        false => Err(wrong("it is no plain file".to_owned())),
    }
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests;
