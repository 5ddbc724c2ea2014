//! The choices that a report rests on, named in every report (DESIGN section 1).

use std::collections::BTreeMap;

use serde::Serialize;

/// Everything that a result depends on beside the modules. Serialised as `choices` in JSON, in this
/// order; see `docs/json.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choices {
    pub model: String,
    pub revision: String,
    pub chains: bool,
    pub races: String,
    pub legacy: String,
    pub progress: String,
    pub hang: String,
    pub environment: String,
    pub reconvergence: String,
    pub floats: String,
    /// Kinds of violations that are not reported.
    pub ignore: Vec<String>,
    /// What the modules were validated for; empty for the validator's default.
    pub target_env: String,
    pub launch: LaunchChoice,
    pub inputs: InputChoice,
    pub bounds: BoundsChoice,
    /// Version of spirv-tv.
    pub version: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchChoice {
    pub entry: String,
    pub workgroups: [u32; 3],
    pub local_size: [u32; 3],
    /// Whether the local size was changed from what the module was compiled for.
    pub local_size_rewritten: bool,
    pub subgroup_size: u32,
    /// Specialisation values that were given, by SpecId.
    pub specialisation: BTreeMap<String, u64>,
    /// Aliased bindings: slot and the slot whose memory it is.
    pub aliases: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputChoice {
    pub count: u32,
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundsChoice {
    pub spin_bound: u32,
    pub max_instructions: u64,
    pub max_executions: u64,
    /// Bytes.
    pub max_memory: u64,
    /// Seconds; null for none.
    pub timeout: Option<f64>,
}
