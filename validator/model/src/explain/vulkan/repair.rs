//! Changes of instructions that may order two accesses, and what a module without them lacks.
//!
//! A repair changes an instruction, so that all its events change: a barrier that both invocations
//! execute is repaired once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::{ClassSet, Order, Scope};
use crate::event::{InstId, Line};
use crate::explain::{class_names, instance_name, listed, order_name, Names};
use crate::graph::{Event, Graph, Kind};

/// What is changed about an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// NonPrivatePointer, or `Coherent` where the module declares that.
    NonPrivate,
    /// MakePointerAvailable at this scope.
    PointerAvailable(Scope),
    PointerVisible(Scope),
    /// The scope of the MakePointerAvailable that is there.
    WidenAvailable(Scope),
    WidenVisible(Scope),
    /// One storage class more in the semantics.
    Class(ClassSet),
    /// MakeAvailable in the semantics.
    MakeAvailable,
    MakeVisible,
    /// A memory scope at least this wide.
    Widen(Scope),
    /// An execution scope at least this wide.
    WidenExecution(Scope),
    /// Release semantics, for these storage classes.
    Release(ClassSet),
    Acquire(ClassSet),
    /// The dynamic instance of the control barrier on this line.
    Instance {
        instance: u32,
        line: Line,
    },
    /// The reference that the access on this line goes through.
    Reference {
        reference: u32,
        line: Line,
    },
    /// An atomic access at this scope.
    Atomic(Scope),
}

impl Change {
    /// What it costs to make it, or to think of it: scopes and bits first, then order, then what
    /// changes the program.
    pub(super) fn cost(self) -> u32 {
        match self {
            Change::WidenAvailable(_)
            | Change::WidenVisible(_)
            | Change::Widen(_)
            | Change::WidenExecution(_) => 9,
            Change::NonPrivate | Change::Class(_) | Change::MakeAvailable | Change::MakeVisible => 10,
            Change::PointerAvailable(_) | Change::PointerVisible(_) => 11,
            Change::Release(_) | Change::Acquire(_) => 15,
            Change::Instance { .. } => 25,
            Change::Reference { .. } => 30,
            Change::Atomic(_) => 40,
        }
    }
}

/// An instruction of the graph.
pub(super) type Site = (Line, InstId);

/// A change of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repair {
    pub(super) site: Site,
    pub(super) change: Change,
}

/// The instruction of an event.
pub(super) fn site(event: &Event) -> Site {
    (event.line, event.inst)
}

/// The graph with these changes made.
pub(super) fn apply(graph: &Graph, repairs: &[Repair], names: &dyn Names) -> Graph {
    let mut repaired = graph.clone();
    for event in repaired.events.iter_mut().map(Arc::make_mut) {
        let own = site(event);
        for Repair { change, .. } in repairs.iter().filter(|repair| repair.site == own) {
            make(event, *change, names);
        }
        // Relaxed semantics name no storage class.
        if event.order == Order::Relaxed {
            event.semantics = ClassSet::default();
        }
    }
    repaired
}

fn make(event: &mut Event, change: Change, names: &dyn Names) {
    match change {
        Change::NonPrivate => {
            event.non_private = true;
            if names.declares_coherence() {
                // What Coherent means for accesses of these modules.
                event.available = event.available.max(event.writes().then_some(Scope::QueueFamily));
                event.visible = event.visible.max(event.reads().then_some(Scope::QueueFamily));
            }
        }
        // Both bits need NonPrivatePointer; what is still private after all repairs has neither.
        Change::PointerAvailable(scope) | Change::WidenAvailable(scope) => {
            event.available = event.available.max(Some(scope));
        }
        Change::PointerVisible(scope) | Change::WidenVisible(scope) => {
            event.visible = event.visible.max(Some(scope));
        }
        Change::Class(class) => event.semantics = event.semantics.union(class),
        Change::MakeAvailable => event.make_available = true,
        Change::MakeVisible => event.make_visible = true,
        Change::Widen(scope) => {
            event.scope = event.scope.max(scope);
            if event.atomic {
                event.available = event.available.max(event.writes().then_some(scope));
                event.visible = event.visible.max(event.reads().then_some(scope));
            }
        }
        Change::WidenExecution(scope) => {
            if let Kind::Barrier { execution, .. } = &mut event.kind {
                *execution = (*execution).max(scope);
            }
        }
        Change::Release(classes) => {
            event.order = if event.order.acquires() { Order::AcquireRelease } else { Order::Release };
            event.semantics = event.semantics.union(classes);
        }
        Change::Acquire(classes) => {
            event.order = if event.order.releases() { Order::AcquireRelease } else { Order::Acquire };
            event.semantics = event.semantics.union(classes);
        }
        Change::Instance { instance: other, .. } => {
            if let Kind::Barrier { instance, .. } = &mut event.kind {
                *instance = other;
            }
        }
        Change::Reference { reference, .. } => event.reference = reference,
        Change::Atomic(scope) => {
            event.atomic = true;
            event.non_private = true;
            event.scope = scope;
            event.available = event.available.max(event.writes().then_some(scope));
            event.visible = event.visible.max(event.reads().then_some(scope));
        }
    }
}

/// Changes of bits, scopes and semantics that may order accesses of these classes by agents whose
/// narrowest common scope is `common`.
pub(super) fn of_semantics(graph: &Graph, race: [usize; 2], common: Scope, names: &dyn Names) -> Vec<Repair> {
    let events = &graph.events;
    let racing = race.map(|event| site(&events[event]));
    let of_race = events[race[0]].class.union(events[race[1]].class);
    let atomics = events.iter().filter(|event| event.atomic && event.order == Order::Relaxed);
    let of_atomics = atomics.fold(of_race, |classes, event| classes.union(event.class));
    let mut repairs = Vec::new();
    for (site, event) in sites(graph) {
        let mut add = |change| repairs.push(Repair { site, change });
        if racing.contains(&site) && !event.atomic {
            of_access(event, common, names, &mut add);
        }
        if event.atomic || event.is_fence() {
            of_synchronization(event, (of_race, of_atomics), common, names, &mut add);
        }
    }
    repairs
}

fn of_access(event: &Event, common: Scope, names: &dyn Names, add: &mut impl FnMut(Change)) {
    if !event.non_private {
        add(Change::NonPrivate);
    }
    if names.declares_coherence() {
        return;
    }
    match event.available {
        Some(scope) if scope < common => add(Change::WidenAvailable(common)),
        None if event.writes() => add(Change::PointerAvailable(common)),
        Some(_) | None => {}
    }
    match event.visible {
        Some(scope) if scope < common => add(Change::WidenVisible(common)),
        None if event.reads() => add(Change::PointerVisible(common)),
        Some(_) | None => {}
    }
}

fn of_synchronization(
    event: &Event,
    (of_race, of_all): (ClassSet, ClassSet),
    common: Scope,
    names: &dyn Names,
    add: &mut impl FnMut(Change),
) {
    let (writes, reads) = (event.is_fence() || event.writes(), event.is_fence() || event.reads());
    if writes && !event.releases() {
        add(Change::Release(of_race));
    }
    if reads && !event.acquires() {
        add(Change::Acquire(of_race));
    }
    // Barriers must name the class of the atomics beside them, too.
    let wanted = if event.is_fence() { of_all } else { of_race };
    for bit in (0..16).map(|bit| ClassSet(1 << bit)) {
        let comes_with_order = event.order == Order::Relaxed && of_race.contains(bit);
        if wanted.contains(bit) && !event.semantics.contains(bit) && !comes_with_order {
            add(Change::Class(bit));
        }
    }
    if !names.declares_coherence() {
        if writes && !event.make_available {
            add(Change::MakeAvailable);
        }
        if reads && !event.make_visible {
            add(Change::MakeVisible);
        }
    }
    if event.scope < common {
        add(Change::Widen(common));
    }
    if let Kind::Barrier { execution, .. } = event.kind {
        if execution < common {
            add(Change::WidenExecution(common));
        }
    }
}

/// The instructions of a graph, each with one of its events.
pub(super) fn sites(graph: &Graph) -> BTreeMap<Site, &Event> {
    let mut sites = BTreeMap::new();
    for event in &graph.events {
        sites.entry(site(event)).or_insert(event.as_ref());
    }
    sites
}

/// What an instruction lacks, in words: "has no WorkgroupMemory in its semantics". `far` says where the
/// other invocation is, for scopes: "invocation 1 is in another workgroup".
pub(super) fn lacks(
    event: &Event,
    changes: &[Change],
    names: &dyn Names,
    far: &dyn Fn(Scope) -> String,
) -> String {
    let mut repaired = event.clone();
    changes.iter().for_each(|change| make(&mut repaired, *change, names));
    let mut parts: Vec<String> = lacking_operands(event, changes, names).into_iter().collect();
    let mut missing: Vec<String> = class_names(ClassSet(repaired.semantics.0 & !event.semantics.0))
        .into_iter()
        .map(str::to_owned)
        .collect();
    let flags = [(Change::MakeAvailable, "MakeAvailable"), (Change::MakeVisible, "MakeVisible")];
    missing.extend(flags.iter().filter(|(flag, _)| changes.contains(flag)).map(|(_, name)| name.to_string()));
    if repaired.order != event.order {
        let with = if missing.is_empty() { String::new() } else { format!(" with {}", listed(&missing)) };
        parts.push(format!("is {}, not {}{with}", order_name(event.order), order_name(repaired.order)));
    } else if !missing.is_empty() {
        parts.push(format!("has no {} in its semantics", missing.join(" and no ")));
    }
    let image = if event.class == ClassSet::IMAGE { "Texel" } else { "Pointer" };
    let narrow =
        |what: String, scope: Scope| format!("{what} at {} scope only, and {}", scope.name(), far(scope));
    for change in changes {
        parts.push(match (change, event.kind) {
            (Change::Widen(_), _) => narrow("is".to_owned(), event.scope),
            (Change::WidenExecution(_), Kind::Barrier { execution, .. }) => {
                narrow("waits".to_owned(), execution)
            }
            (Change::WidenAvailable(_), _) => {
                narrow(format!("has Make{image}Available"), event.available.unwrap_or(Scope::Invocation))
            }
            (Change::WidenVisible(_), _) => {
                narrow(format!("has Make{image}Visible"), event.visible.unwrap_or(Scope::Invocation))
            }
            (Change::Reference { line, .. }, _) => {
                format!("goes through another reference than the access on line {line}")
            }
            (Change::Instance { line, .. }, _) => {
                format!("is another dynamic instance than the one on line {line}")
            }
            (Change::Atomic(_), _) => "is not atomic".to_owned(),
            (
                Change::NonPrivate
                | Change::PointerAvailable(_)
                | Change::PointerVisible(_)
                | Change::Class(_)
                | Change::MakeAvailable
                | Change::MakeVisible
                | Change::Release(_)
                | Change::Acquire(_)
                | Change::WidenExecution(_),
                _,
            ) => continue,
        });
    }
    listed(&parts)
}

/// What the memory operands of an access lack.
fn lacking_operands(event: &Event, changes: &[Change], names: &dyn Names) -> Option<String> {
    let private = changes.contains(&Change::NonPrivate);
    if private && names.declares_coherence() {
        return Some("is private (not declared Coherent)".to_owned());
    }
    let image = if event.class == ClassSet::IMAGE { "Texel" } else { "Pointer" };
    let operand = |change: &Change| match change {
        Change::NonPrivate => Some(format!("no NonPrivate{image}")),
        Change::PointerAvailable(_) => Some(format!("no Make{image}Available")),
        Change::PointerVisible(_) => Some(format!("no Make{image}Visible")),
        Change::WidenAvailable(_)
        | Change::WidenVisible(_)
        | Change::Class(_)
        | Change::MakeAvailable
        | Change::MakeVisible
        | Change::Widen(_)
        | Change::WidenExecution(_)
        | Change::Release(_)
        | Change::Acquire(_)
        | Change::Instance { .. }
        | Change::Reference { .. }
        | Change::Atomic(_) => None,
    };
    let missing: Vec<String> = changes.iter().filter_map(operand).collect();
    match (missing.is_empty(), private) {
        (true, _) => None,
        (false, true) => Some(format!("is private (it has {})", listed(&missing))),
        (false, false) => Some(format!("has {}", listed(&missing))),
    }
}

/// "invocation 1 is in another workgroup".
pub(super) fn elsewhere(scope: Scope, agent: u32, names: &dyn Names) -> String {
    match scope {
        Scope::Invocation => format!("{} is another one", names.agent(agent)),
        Scope::Subgroup | Scope::Workgroup | Scope::QueueFamily | Scope::Device | Scope::CrossDevice => {
            format!("{} is in another {}", names.agent(agent), instance_name(scope))
        }
    }
}
