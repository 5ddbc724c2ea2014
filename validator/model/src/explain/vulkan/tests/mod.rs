//! Every kind of explanation, held against snapshots (`cargo insta review`, or `INSTA_UPDATE=always`).
//!
//! Executions are written as text, one event a line, numbered by line: `0: store x nonprivate`. `from` gives
//! the line that a read takes its value from, 0 for the initial value.

use std::sync::Arc;

use crate::consistency::{executions, Judge};
use crate::event::{ClassSet, Order, Scope};
use crate::event::{FunctionId, InstId};
use crate::graph::{Agent, Event, Graph, Kind, Source};
use crate::memory_model::MemoryModel;
use crate::vulkan::{self, Revision, Variant};

mod properties;

use super::derivation::Deriver;
use super::{forbidden, race};
use crate::explain::Names;

struct Letters;

const PLACES: [&str; 7] = ["x", "y", "z", "a", "b", "c", "d"];

impl Names for Letters {
    fn place(&self, event: &Event) -> Option<String> {
        let (object, _) = event.place?;
        PLACES.get(object as usize).map(|name| (*name).to_owned())
    }
}

const SCOPES: [Scope; 5] =
    [Scope::Invocation, Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device];

fn scope(name: &str) -> Scope {
    SCOPES.into_iter().find(|scope| scope.name() == name).unwrap_or_else(|| panic!("scope {name}"))
}

/// An event out of words: `store x`, `load x`, `update x`, `fence`, `barrier`, then in any order
/// `nonprivate`, `available=S`, `visible=S`, `atomic=S`, `scope=S`, `acquire`, `release`, `acqrel`, `Uniform`,
/// `Workgroup`, `MakeAvailable`, `MakeVisible`, `from=N`, `through=N` (another reference), `line=N`,
/// `inst=N` (another instruction on that line).
fn event(line: u32, agent: u32, words: &[&str]) -> Event {
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let has = |name: &str| words.contains(&name);
    let number = |name: &str| value(name).map(|text| text.parse::<u32>().unwrap());
    let kind = match words[0] {
        "store" => Kind::Write,
        "load" => Kind::Read,
        "update" => Kind::Update,
        "fence" => Kind::Fence,
        "barrier" => Kind::Barrier {
            instance: number("instance").unwrap_or(0),
            execution: scope(value("execution").unwrap_or("Workgroup")),
        },
        other => panic!("{other}"),
    };
    let accesses = matches!(kind, Kind::Write | Kind::Read | Kind::Update);
    let place = accesses.then(|| PLACES.iter().position(|name| *name == words[1]).unwrap() as u32);
    let atomic = value("atomic").map(scope);
    let reads = matches!(kind, Kind::Read | Kind::Update);
    let order = match (has("acquire"), has("release"), has("acqrel")) {
        (true, _, _) => Order::Acquire,
        (_, true, _) => Order::Release,
        (_, _, true) => Order::AcquireRelease,
        _ => Order::Relaxed,
    };
    let classes = [("Uniform", ClassSet::UNIFORM), ("Workgroup", ClassSet::WORKGROUP)];
    let semantics = classes.iter().filter(|(name, _)| has(name));
    let line = number("line").unwrap_or(line);
    let source = match number("from") {
        None | Some(0) => Source::Initial,
        Some(line) => Source::Event(line - 1),
    };
    Event {
        agent,
        kind,
        units: place.into_iter().chain(has("wide").then_some(100)).collect(),
        sources: reads.then_some(source).into_iter().collect(),
        read: Default::default(),
        written: Default::default(),
        reference: number("through").unwrap_or(0),
        class: if has("shared") { ClassSet::WORKGROUP } else { ClassSet::UNIFORM },
        atomic: atomic.is_some(),
        scope: atomic.or(value("scope").map(scope)).unwrap_or(Scope::Invocation),
        order,
        semantics: semantics.fold(ClassSet::default(), |set, (_, class)| set.union(*class)),
        make_available: has("MakeAvailable"),
        make_visible: has("MakeVisible"),
        non_private: atomic.is_some() || has("nonprivate"),
        available: value("available").map(scope).or(atomic),
        visible: value("visible").map(scope).or(atomic),
        volatile: false,
        inst: InstId { function: FunctionId(0), index: number("inst").unwrap_or(line) },
        line,
        place: place.map(|object| (object, 0)),
    }
}

/// The graph of an execution. Invocations 0 and 1 are of one workgroup, in two subgroups; 2 and 3 of others.
fn graph(text: &str) -> Graph {
    let lines = text.trim().lines().enumerate().map(|(number, line)| {
        let (agent, rest) = line.trim().split_once(": ").unwrap();
        let words: Vec<&str> = rest.split_whitespace().collect();
        event(number as u32 + 1, agent.parse().unwrap(), &words)
    });
    let agent =
        |number: u32| Agent { subgroup: number, workgroup: number.saturating_sub(1), queue_family: 0 };
    Graph { events: lines.map(Arc::new).collect(), agents: (0..4).map(agent).collect(), ..Graph::default() }
}

fn variants() -> [Variant; 2] {
    [Revision::R2025, Revision::R2024].map(|revision| Variant { revision, chains: true })
}

fn numbered(text: &str) -> String {
    let lines = text.trim().lines().enumerate();
    lines.map(|(number, line)| format!("{:2}  {}\n", number + 1, line.trim())).collect()
}

fn is_execution(graph: &Graph, variant: Variant) -> bool {
    executions(graph, variant).is_none_or(|executions| !executions.is_empty())
}

/// The execution, and why each revision forbids it; once where both say the same.
fn told_forbidden(text: &str) -> String {
    let graph = graph(text);
    let told = variants().map(|variant| {
        assert_derivations_agree(&graph, variant);
        let explanation = forbidden(&graph, variant, &Letters);
        assert_eq!(explanation.is_none(), is_execution(&graph, variant));
        explanation.map_or_else(|| "allowed".to_owned(), |explanation| explanation.to_string())
    });
    let [newer, older] = &told;
    match newer == older {
        true => format!("{}\n{newer}", numbered(text)),
        false => format!("{}\n2025: {newer}\n2024: {older}", numbered(text)),
    }
}

/// A derivation ends with the time, and says so.
#[test]
fn relations_are_derived_in_time_or_not_at_all() {
    let graph = graph("0: store x nonprivate\n1: load x nonprivate from=0");
    let variant = Variant::default();
    let in_time = variant.relations_in_time(&graph, &|| false).expect("there is time");
    assert_eq!(in_time.happens_before, vulkan::relations(&graph, variant).happens_before);
    // At each question that is asked.
    for left in 0..3 {
        let asked = std::cell::Cell::new(0);
        let is_over = || asked.replace(asked.get() + 1) >= left;
        assert!(variant.relations_in_time(&graph, &is_over).is_none(), "{left}");
    }
}

/// The execution, and why its first race is one.
fn told_race(text: &str) -> String {
    let graph = graph(text);
    let variant = Variant::default();
    assert_derivations_agree(&graph, variant);
    let relations = vulkan::relations(&graph, variant);
    let races = Judge { graph: &graph, relations: &relations, variant }.data_races();
    let first = *races.first().expect("a race");
    format!("{}\n{}", numbered(text), race(&graph, first, variant, &Letters))
}

/// What the model orders is derived, and nothing else.
fn assert_derivations_agree(graph: &Graph, variant: Variant) {
    let relations = vulkan::relations(graph, variant);
    let deriver = Deriver::new(graph, &relations, variant);
    for a in 0..graph.events.len() {
        for b in 0..graph.events.len() {
            let way = deriver.happens_before(a, b);
            assert_eq!(way.is_some(), relations.happens_before.contains(a, b), "{a} {b}");
            for location in &relations.locations {
                let ordered = relations.ordered_units(a, b).any(|unit| unit == location.unit);
                let both = [a, b].iter().all(|event| location.events.contains(&(*event as u32)));
                if a != b && both {
                    let derived = deriver.location_ordered(a, b, location.unit);
                    assert_eq!(derived.is_some(), ordered, "{a} {b} at {}", location.unit);
                }
            }
        }
    }
}

macro_rules! forbidden_snapshot {
    ($name:ident, $text:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(told_forbidden($text));
        }
    };
}

macro_rules! race_snapshot {
    ($name:ident, $text:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(told_race($text));
        }
    };
}

forbidden_snapshot!(
    coherence_of_two_reads,
    "0: store x atomic=Device
     2: store x atomic=Device
     1: load x atomic=Device from=1
     1: load x atomic=Device from=2
     3: load x atomic=Device from=2
     3: load x atomic=Device from=1"
);
forbidden_snapshot!(
    coherence_of_a_write_and_a_read,
    "0: store x atomic=Device
     0: store x atomic=Device
     2: load x atomic=Device from=2
     2: load x atomic=Device from=1"
);
forbidden_snapshot!(
    a_read_from_its_own_future,
    "0: load x atomic=Device from=2
     0: store x atomic=Device"
);
forbidden_snapshot!(
    the_initial_value_overwritten,
    "0: store x atomic=Device
     0: load x atomic=Device from=0"
);
forbidden_snapshot!(
    message_passing_by_release_and_acquire,
    "0: store x nonprivate available=Device
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=2
     2: load x nonprivate visible=Device from=0"
);
forbidden_snapshot!(
    message_passing_by_memory_barriers,
    "0: store x nonprivate
     0: fence scope=Device release Uniform MakeAvailable
     0: store y atomic=Device
     2: load y atomic=Device from=3
     2: fence scope=Device acquire Uniform MakeVisible
     2: load x nonprivate from=0"
);
forbidden_snapshot!(
    message_passing_by_a_control_barrier,
    "0: store x nonprivate shared
     0: barrier scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible line=2
     1: barrier scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible line=2
     1: load x nonprivate shared from=0"
);
forbidden_snapshot!(
    message_passing_by_chains,
    "0: store x nonprivate
     0: barrier scope=Workgroup acqrel Uniform MakeAvailable line=2
     1: barrier scope=Workgroup acqrel Uniform line=2
     1: store y atomic=Device release Uniform MakeAvailable
     2: load y atomic=Device acquire Uniform MakeVisible from=4
     2: load x nonprivate from=0"
);
forbidden_snapshot!(
    a_shadowed_plain_write,
    "2: store x nonprivate available=Device
     2: store x nonprivate available=Device
     2: store y atomic=Device release Uniform
     0: load y atomic=Device acquire Uniform from=3
     0: load x nonprivate visible=Device from=1"
);
forbidden_snapshot!(
    one_orientation_is_forced,
    "0: store x atomic=Device
     0: store y atomic=Device release Uniform
     0: load y atomic=Device acquire Uniform from=6
     0: load x atomic=Device from=1
     2: store x atomic=Device
     2: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=2
     2: load x atomic=Device from=5"
);
// The stores of invocations 0 and 2 are mutually ordered, and those of 1 and 3, but not with each other. Each of
// the four combinations closes a cycle, but no single orientation does.
forbidden_snapshot!(
    scoped_modification_order_both_ways,
    "0: store x atomic=Device
     0: store a atomic=Device release Uniform
     0: load b atomic=Device acquire Uniform from=6
     0: load x nonprivate visible=Device from=9
     2: store x atomic=Device
     2: store b atomic=Device release Uniform
     2: load a atomic=Device acquire Uniform from=2
     2: load x nonprivate visible=Device from=13
     1: store x atomic=Device through=1
     1: store c atomic=Device release Uniform
     1: load d atomic=Device acquire Uniform from=14
     1: load x nonprivate visible=Device through=1 from=1
     3: store x atomic=Device through=1
     3: store d atomic=Device release Uniform
     3: load c atomic=Device acquire Uniform from=10
     3: load x nonprivate visible=Device through=1 from=5"
);
// Line 5 is mutually ordered with line 4, but not with line 3: before line 4 it would end the release sequence
// of line 2. What is stored to a can be ordered in two ways.
forbidden_snapshot!(
    release_sequences_in_every_order,
    "0: store x nonprivate available=Device
     0: store y atomic=Device release Uniform
     2: update y atomic=Device from=2
     1: update y atomic=Device from=3
     0: store y atomic=Workgroup
     1: load y atomic=Workgroup from=5
     3: load y atomic=Device acquire Uniform from=4
     3: load x nonprivate visible=Device from=0
     0: store a atomic=Device
     2: store a atomic=Device
     1: update a atomic=Device from=10"
);
forbidden_snapshot!(
    an_update_that_is_not_atomic,
    "0: update x atomic=Device from=0
     2: update x atomic=Device from=0"
);
forbidden_snapshot!(
    a_write_between_an_update_and_its_source,
    "0: store x atomic=Device
     0: store x atomic=Device
     2: load x atomic=Device from=2
     2: update x atomic=Device from=1"
);

race_snapshot!(
    a_private_access,
    "0: store x shared
     0: barrier scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible line=2
     1: barrier scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible line=2
     1: load x nonprivate shared from=1"
);
race_snapshot!(
    scope_of_a_release_too_narrow,
    "0: store x nonprivate available=Device
     0: store y atomic=Device
     0: fence scope=Workgroup release Uniform MakeAvailable
     0: store y atomic=Device
     2: load y atomic=Device from=4
     2: fence scope=Device acquire Uniform MakeVisible
     2: load x nonprivate visible=Device from=1"
);
race_snapshot!(
    atomics_of_scopes_too_narrow,
    "0: store x atomic=Workgroup
     2: load x atomic=Workgroup from=1"
);
race_snapshot!(
    a_storage_class_bit_that_is_missing,
    "0: store x nonprivate shared
     0: barrier scope=Workgroup acqrel Uniform MakeAvailable MakeVisible line=2
     1: barrier scope=Workgroup acqrel Uniform MakeAvailable MakeVisible line=2
     1: load x nonprivate shared from=1"
);
race_snapshot!(
    availability_that_is_missing,
    "0: store x nonprivate
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform MakeVisible from=2
     2: load x nonprivate from=1"
);
race_snapshot!(
    visibility_that_is_missing,
    "0: store x nonprivate available=Device
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=2
     2: load x nonprivate from=1"
);
race_snapshot!(
    availability_at_a_narrow_scope,
    "0: store x nonprivate available=Workgroup
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=2
     2: load x nonprivate visible=Device from=1"
);
race_snapshot!(
    relaxed_atomics,
    "0: store x nonprivate available=Device
     0: store y atomic=Device
     2: load y atomic=Device from=2
     2: load x nonprivate visible=Device from=1"
);
race_snapshot!(
    a_relaxed_barrier,
    "0: store x nonprivate shared
     0: barrier scope=Workgroup line=2
     1: barrier scope=Workgroup line=2
     1: load x nonprivate shared from=1"
);
race_snapshot!(
    different_barrier_instances,
    "0: store x nonprivate shared
     0: barrier instance=1 scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible
     1: barrier instance=2 scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible
     1: load x nonprivate shared from=1"
);
race_snapshot!(
    execution_scope_too_narrow,
    "0: store x nonprivate shared
     0: barrier execution=Subgroup scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible line=2
     1: barrier execution=Subgroup scope=Workgroup acqrel Workgroup MakeAvailable MakeVisible line=2
     1: load x nonprivate shared from=1"
);
race_snapshot!(
    atomics_of_different_sizes,
    "0: store x atomic=Device
     2: load x atomic=Device wide from=1"
);
race_snapshot!(
    no_synchronization_at_all,
    "0: store x
     2: load x from=1"
);
race_snapshot!(
    a_release_that_was_not_seen,
    "0: store x nonprivate available=Device
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=0
     2: load x nonprivate visible=Device from=0"
);
race_snapshot!(
    a_store_after_the_release,
    "0: store y atomic=Device release Uniform
     0: store x nonprivate available=Device
     2: load y atomic=Device acquire Uniform from=1
     2: load x nonprivate visible=Device from=0"
);
race_snapshot!(
    different_references,
    "0: store x nonprivate available=Device
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=2
     2: load x nonprivate visible=Device through=1 from=1"
);
race_snapshot!(
    one_access_is_not_atomic,
    "0: store x atomic=Device
     2: load x nonprivate visible=Device from=1"
);
race_snapshot!(
    one_instruction_in_two_invocations,
    "0: store x line=1
     2: store x line=1"
);
race_snapshot!(
    several_instructions_on_a_line,
    "0: store x nonprivate available=Device line=1 inst=1
     0: store y atomic=Device line=2 inst=2
     2: load y atomic=Device from=2 line=1 inst=3
     2: load x nonprivate visible=Device from=1 line=2 inst=4"
);
race_snapshot!(
    two_things_are_missing,
    "0: store x
     0: store y atomic=Device release Uniform
     2: load y atomic=Device acquire Uniform from=2
     2: load x from=1"
);

#[test]
fn from_reads_lead_to_the_writes_behind_what_is_read() {
    let graph = graph(
        "0: store x nonprivate
         0: store x nonprivate
         1: load x nonprivate from=1
         1: load x nonprivate from=0
         1: load y nonprivate from=0",
    );
    let pairs = variants().map(|variant| variant.reads_before(&graph, &vulkan::relations(&graph, variant)));
    // The first store is location-ordered before the second, which counts in revision 2025 alone.
    assert_eq!(pairs, [vec![(2, 1), (3, 0), (3, 1)], vec![(3, 0), (3, 1)]]);
}
