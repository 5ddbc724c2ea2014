//! Judges an execution graph that is built by hand: message passing without any synchronisation.
//!
//! Invocation 0 writes the data (unit 0), then the flag (unit 1). Invocation 1 reads the flag, then the data, which it
//! finds unwritten. The Vulkan memory model allows that, because nothing orders the accesses of two invocations; as
//! the accesses of the data are not atomic, they race.
//!
//! ```sh
//! cargo run --release -p spirv-tv-model --example graph
//! ```

use std::sync::Arc;

use smallvec::smallvec;
use spirv_tv_model::consistency::{executions, Judge};
use spirv_tv_model::event::{ClassSet, FunctionId, InstId, Order, Scope};
use spirv_tv_model::graph::{Agent, Event, EventId, Graph, Kind, Source, Unit};
use spirv_tv_model::vulkan::Variant;

fn access(agent: u32, kind: Kind, unit: Unit, atomic: bool) -> Event {
    Event {
        agent,
        kind,
        units: smallvec![unit],
        sources: smallvec![],
        read: smallvec![],
        written: smallvec![],
        reference: 0,
        class: ClassSet::UNIFORM,
        atomic,
        scope: Scope::Device,
        order: Order::Relaxed,
        semantics: ClassSet::default(),
        make_available: false,
        make_visible: false,
        non_private: true,
        available: None,
        visible: None,
        volatile: false,
        inst: InstId { function: FunctionId(0), index: 0 },
        line: 0,
        place: None,
    }
}

fn read(agent: u32, unit: Unit, atomic: bool, source: Source) -> Event {
    Event { sources: smallvec![source], ..access(agent, Kind::Read, unit, atomic) }
}

fn main() {
    const FLAG_WRITE: EventId = 1;
    let events = [
        access(0, Kind::Write, 0, false),
        access(0, Kind::Write, 1, true),
        read(1, 1, true, Source::Event(FLAG_WRITE)),
        read(1, 0, false, Source::Initial),
    ];
    let agent = |workgroup| Agent { subgroup: workgroup, workgroup, queue_family: 0 };
    let graph = Graph {
        events: events.into_iter().map(Arc::new).collect(),
        agents: [agent(0), agent(1)].into(),
        ..Graph::default()
    };
    let variant = Variant::default();
    let Some(allowed) = executions(&graph, variant) else {
        println!("there are too many orders of the writes");
        return;
    };
    println!("the model {} the graph", if allowed.is_empty() { "forbids" } else { "allows" });
    for relations in &allowed {
        for race in (Judge { graph: &graph, relations, variant }).data_races() {
            println!("events {} and {} race at unit {}", race.first, race.second, race.unit);
        }
    }
}
