//! A Vulkan device as an executor.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use spirv_tv_executor::case::{Case, Robustness};
use spirv_tv_executor::folder::MOST_OBSERVATIONS;
use spirv_tv_executor::{Description, Execution, Executor, Observation};

use crate::device::{Device, Wanted};
use crate::error::{Error, ErrorKind};
use crate::job_of::{self, Placed};
use crate::validation::Validation;

/// Repetitions end when so much of the time has passed, so that what was observed is told.
const SHARE_OF_TIME: f64 = 0.75;

/// The bytes of memory that observations may take.
const MOST_BYTES: usize = 1 << 28;

/// A Vulkan device. One is opened for each kind of robust access that a case asks for, and kept.
pub struct VulkanExecutor {
    wanted: Wanted,
    opened: Mutex<HashMap<u8, Device>>,
}

impl VulkanExecutor {
    /// The device that is wanted, which is opened when it is needed.
    pub fn new(wanted: Wanted) -> Self {
        VulkanExecutor { wanted, opened: Mutex::default() }
    }

    fn on<T>(&self, robustness: Robustness, work: impl FnOnce(&Device) -> T) -> Result<T, Error> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let device = match opened.entry(robustness as u8) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Device::open_wanted(&Wanted { robustness, ..self.wanted.clone() })?)
            }
        };
        Ok(work(device))
    }
}

impl Executor for VulkanExecutor {
    fn describe(&self) -> Result<Description, Execution> {
        self.on(Robustness::None, description).map_err(told)
    }

    fn execute(&self, case: &Case) -> Execution {
        self.on(case.robustness, |device| device.execute(case))
            .unwrap_or_else(|error| open_failed(error, case.robustness))
    }
}

impl Device {
    /// Runs a case, as an executor does, whatever robust access it asks for.
    pub fn execute(&self, case: &Case) -> Execution {
        let placed = match job_of::job(case) {
            Ok(placed) => placed,
            Err(why) => return Execution::Failed(why),
        };
        let lacking = self.lacking(case);
        if !lacking.is_empty() {
            return Execution::Unsupported(lacking);
        }
        let observed = observe(self, case, &placed);
        if let Some(objections) = self.validation.as_ref().and_then(Validation::take) {
            return Execution::Failed(objections);
        }
        match observed {
            Ok(observations) => Execution::Finished(observations),
            Err(error) if error.kind == ErrorKind::TimedOut => Execution::TimedOut(case.time),
            Err(error) => told(error),
        }
    }
}

/// A device may lack robust access only.
fn open_failed(error: Error, robustness: Robustness) -> Execution {
    match robustness {
        Robustness::Robust | Robustness::Robust2 if error.message.starts_with("the device lacks ") => {
            Execution::Unsupported(vec![error.message.trim_start_matches("the device lacks ").to_owned()])
        }
        Robustness::None | Robustness::Robust | Robustness::Robust2 => told(error),
    }
}

fn told(error: Error) -> Execution {
    match error.kind {
        ErrorKind::DeviceLost => Execution::DeviceLost(error.message),
        ErrorKind::OutOfMemory => Execution::OutOfMemory(error.message),
        ErrorKind::TimedOut => Execution::TimedOut(std::time::Duration::ZERO),
        ErrorKind::Other => Execution::Failed(error.message),
    }
}

/// Runs the case as often as is wanted, unless the time or the room for observations is used up before.
fn observe(device: &Device, case: &Case, placed: &Placed<'_>) -> Result<Vec<Observation>, Error> {
    let begun = std::time::Instant::now();
    let mut known: HashMap<Vec<Option<Vec<u8>>>, usize> = HashMap::new();
    let mut observations: Vec<Observation> = Vec::new();
    let (mut left, mut bytes) = (case.times.max(1), 0);
    device.run_repeatedly(&placed.job, case.time, |ended| {
        let memory: Vec<Option<Vec<u8>>> = placed
            .places
            .iter()
            .zip(&case.resources)
            .enumerate()
            .map(|(index, (place, resource))| {
                let is_told = resource.is_writable() && !case.unwanted.contains(&index);
                ended.contents.get(*place).filter(|_| is_told).cloned()
            })
            .collect();
        match known.get(&memory) {
            Some(index) => observations[*index].count += 1,
            None => {
                bytes += memory.iter().flatten().map(Vec::len).sum::<usize>();
                known.insert(memory.clone(), observations.len());
                let addresses =
                    placed.places.iter().map(|place| ended.addresses.get(*place).copied().flatten());
                let addresses = addresses.collect();
                observations.push(Observation { count: 1, memory, addresses });
            }
        }
        left -= 1;
        let is_late = begun.elapsed().as_secs_f64() > case.time.as_secs_f64() * SHARE_OF_TIME;
        left > 0 && !is_late && bytes < MOST_BYTES && observations.len() < MOST_OBSERVATIONS
    })?;
    Ok(observations)
}

fn description(device: &Device) -> Description {
    let (capabilities, lacks) = device.capabilities();
    let limits = &device.limits;
    let [x, y, z] = limits.max_compute_work_group_size;
    let numbers = [
        ("invocations of a workgroup", limits.max_compute_work_group_invocations),
        ("size of a workgroup in x", x),
        ("size of a workgroup in y", y),
        ("size of a workgroup in z", z),
        ("bytes of Workgroup memory", limits.max_compute_shared_memory_size),
        ("bytes of push constants", limits.max_push_constants_size),
        ("bytes of a storage buffer", limits.max_storage_buffer_range),
        ("bytes of a uniform buffer", limits.max_uniform_buffer_range),
        ("descriptor sets", limits.max_bound_descriptor_sets),
    ];
    let mut notes = Vec::new();
    if device.is_lavapipe() {
        notes.extend(LAVAPIPE.map(str::to_owned));
    }
    let sizes = device.subgroup_sizes;
    if sizes.least < sizes.most {
        notes.push(format!("a pipeline may have subgroups of {} to {}", sizes.least, sizes.most));
    }
    Description {
        name: device.name().to_owned(),
        subgroup_size: device.subgroup_size(),
        capabilities,
        lacks,
        limits: numbers.map(|(what, most)| (what.to_owned(), u64::from(most))).into(),
        notes,
    }
}

/// What is known of lavapipe, measured on Mesa 22.3.6.
const LAVAPIPE: [&str; 4] = [
    "invocations of a workgroup run one after the other, up to the next barrier: a loop in which one waits for another one \
     of its workgroup never ends by itself",
    "loops are cut without notice after 65,535 turns in all",
    "workgroups run at once on threads (LP_NUM_THREADS); of weak behaviour it shows what the processor does: on x86-64, \
     stores that are seen late by others",
    "there is no control of denormals",
];
