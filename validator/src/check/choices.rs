//! The choices that a verdict depends on. Every report names them (docs/semantics.md, section 3).

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::launches::PassedOver;
use super::options::{Bounds, CheckOptions};
use crate::launch::OutOfBounds;
use crate::model::memory_model::{MemoryModel, Parameter};

/// Everything that a result depends on beside the modules. Serialised as `choices` in JSON, in this
/// order; see `docs/json.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choices {
    /// The name of the memory model.
    pub model: String,
    /// What distinguishes its variant, each under its name.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// What a data race does: `--races`.
    pub races: String,
    /// How older memory models are read: `--legacy`.
    pub legacy: String,
    /// Which executions progress rules out: always `fair`.
    pub progress: String,
    /// What an endless loop without effects may do: `--hang`.
    pub hang: String,
    /// Who else accesses memory: `--environment`.
    pub environment: String,
    /// Who reconverges with whom: `--reconvergence`.
    pub reconvergence: String,
    /// What an access outside of a buffer or image does: `--out-of-bounds`.
    pub out_of_bounds: &'static str,
    /// The same in after, where that is something else: `--after-out-of-bounds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_out_of_bounds: Option<&'static str>,
    /// How results of float operations are compared: `--float`.
    pub floats: String,
    /// `no` where after must have each SpecId that matters to before: `--spec-may-freeze`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec_may_freeze: Option<&'static str>,
    /// Kinds of violations that are not reported.
    pub ignore: Vec<String>,
    /// What the modules were validated for.
    pub target_env: String,
    /// One per entry point, two where one workgroup was tried as well, and one for each further specialisation; in JSON the object alone where there is one.
    #[serde(serialize_with = "one_or_list")]
    pub launch: Vec<LaunchChoice>,
    /// The inputs that were run.
    pub inputs: InputChoice,
    /// The bounds of the searches.
    pub bounds: BoundsChoice,
    /// Version of spirv-tv.
    pub version: String,
}

/// The parameters of a memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters(pub Vec<(&'static str, Parameter)>);

impl Parameters {
    /// Those of a model.
    pub fn of(model: &dyn MemoryModel) -> Parameters {
        Parameters(model.parameters())
    }
}

/// As text reports list them: texts alone, flags by their names.
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, value)| match value {
            Parameter::Text(text) => write!(f, " {text}"),
            Parameter::Flag(flag) => write!(f, ", {name} {}", if *flag { "on" } else { "off" }),
        })
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                Parameter::Text(text) => map.serialize_entry(name, text)?,
                Parameter::Flag(flag) => map.serialize_entry(name, flag)?,
            }
        }
        map.end()
    }
}

/// The launch of an entry point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchChoice {
    /// The entry point's name.
    pub entry: String,
    /// Number of workgroups, in x, y and z.
    pub workgroups: [u32; 3],
    /// Invocations of a workgroup, in x, y and z.
    pub local_size: [u32; 3],
    /// Whether the local size was changed from what the module was compiled for.
    pub local_size_rewritten: bool,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// The invocations are the fragments of a quad.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quad: bool,
    /// Specialisation values that were given or varied, by SpecId.
    pub specialisation: BTreeMap<String, u64>,
    /// Those that the tool chose, as `--spec` takes them: a launch beside that with the defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub varied: BTreeMap<u32, String>,
    /// Aliased bindings: slot and the slot whose memory it is.
    pub aliases: BTreeMap<String, String>,
    /// Samplers, as `--sampler` takes them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub samplers: BTreeMap<String, String>,
    /// Physical pointers in the push constants: byte offset, then buffer and bytes into it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub push_pointers: BTreeMap<String, String>,
    /// Why the verdict rests on another launch of the entry point, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<PassedOver>,
}

impl LaunchChoice {
    /// Whether it is one of those that have other values of specialisation constants than the user's and the defaults.
    pub fn is_varied(&self) -> bool {
        !self.varied.is_empty()
    }

    /// The values that the tool chose, each as `--spec` takes it.
    pub fn varied_specs(&self) -> Vec<String> {
        self.varied.iter().map(|(id, value)| format!("{id}={value}")).collect()
    }
}

/// The inputs of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputChoice {
    /// How many were run.
    pub count: usize,
    /// On how many more both modules ran once, one invocation after the other, to find those to run.
    #[serde(skip_serializing_if = "is_zero")]
    pub looked_at: usize,
    /// The seed of the automatic ones.
    pub seed: u64,
}

/// The bounds of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundsChoice {
    /// Iterations of one loop with events in each before a run is cut.
    pub spin_bound: u32,
    /// Instructions of one execution, over all invocations.
    pub max_instructions: u64,
    /// Executions of one search.
    pub max_executions: u64,
    /// Bytes.
    pub max_memory: u64,
    /// Seconds; null for none.
    pub timeout: Option<f64>,
    /// Seconds for each step of `opt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_timeout: Option<f64>,
}

impl Choices {
    /// The choices of these options with these launches and this number of inputs.
    pub fn of(options: &CheckOptions, launch: Vec<LaunchChoice>, inputs: usize) -> Choices {
        let bounds = &options.bounds;
        Choices {
            model: options.model.name().to_owned(),
            parameters: Parameters::of(&*options.model),
            races: options.races.name().to_owned(),
            legacy: options.legacy.name().to_owned(),
            progress: "fair".to_owned(),
            hang: if options.strict_hangs { "strict" } else { "lenient" }.to_owned(),
            environment: "quiet".to_owned(),
            reconvergence: reconvergence_name(options.structural_reconvergence).to_owned(),
            out_of_bounds: options.out_of_bounds.name(),
            after_out_of_bounds: Some(options.out_of_bounds_after())
                .filter(|after| *after != options.out_of_bounds)
                .map(OutOfBounds::name),
            floats: options.floats.name(),
            spec_may_freeze: options.spec_must_stay.then_some("no"),
            ignore: options.ignore.iter().map(ToString::to_string).collect(),
            target_env: options.target_env.clone(),
            launch,
            inputs: InputChoice { count: inputs, looked_at: 0, seed: options.launch.seed.unwrap_or(0) },
            bounds: BoundsChoice::of(bounds),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What `--reconvergence` calls the choice.
pub const fn reconvergence_name(structural: bool) -> &'static str {
    if structural {
        "structural"
    } else {
        "inconclusive"
    }
}

impl BoundsChoice {
    /// The bounds as reports name them.
    pub fn of(bounds: &Bounds) -> Self {
        BoundsChoice {
            spin_bound: bounds.spin_bound,
            max_instructions: bounds.max_instructions,
            max_executions: bounds.max_executions,
            max_memory: bounds.max_memory,
            timeout: bounds.timeout.map(|timeout| timeout.as_secs_f64()),
            step_timeout: bounds.step_timeout.map(|timeout| timeout.as_secs_f64()),
        }
    }
}

fn one_or_list<S: Serializer>(launches: &[LaunchChoice], serializer: S) -> Result<S::Ok, S::Error> {
    match launches {
        [one] => one.serialize(serializer),
        several => several.serialize(serializer),
    }
}
