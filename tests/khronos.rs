//! The Vulkan memory model against the litmus tests of the Khronos Alloy model
//! (`../shared/conformance/khronos`): every expectation, by enumeration of reads-from.

use std::collections::BTreeMap;
use std::path::Path;

use spirv_tv::event::{ClassSet, Order, Scope};
use spirv_tv::ir::{FunctionId, InstId};
use spirv_tv::model::consistency::Judge;
use spirv_tv::model::graph::{Agent, Event, Graph, Kind, Source};
use spirv_tv::model::vulkan::{self, Revision, Variant};

/// A test: a graph without reads-from, and per read the sources that its values allow.
struct Litmus {
    graph: Graph,
    candidates: Vec<(usize, Vec<Source>)>,
    expectations: Vec<Expectation>,
}

struct Expectation {
    text: String,
    satisfiable: bool,
    chains: bool,
    races: Option<bool>,
}

fn event(agent: u32, line: u32, tokens: &[&str]) -> Event {
    let has = |token: &str| tokens.contains(&token);
    let kind = match tokens[0] {
        "st" => Kind::Write,
        "ld" => Kind::Read,
        "rmw" => Kind::Update,
        "membar" => Kind::Fence,
        "cbar" => Kind::Barrier { instance: 0, execution: Scope::Device },
        "avdevice" => Kind::DeviceAvailability,
        "visdevice" => Kind::DeviceVisibility,
        other => panic!("line {line}: unknown instruction {other}"),
    };
    let scope = match () {
        () if has("scopesg") => Scope::Subgroup,
        () if has("scopewg") => Scope::Workgroup,
        () if has("scopeqf") => Scope::QueueFamily,
        () => Scope::Device,
    };
    let atomic = has("atom") || kind == Kind::Update;
    let order = match (has("acq"), has("rel")) {
        (false, false) => Order::Relaxed,
        (true, false) => Order::Acquire,
        (false, true) => Order::Release,
        (true, true) => Order::AcquireRelease,
    };
    let class = |name: &str, set| if has(name) { set } else { ClassSet::default() };
    let available = (atomic || has("av")).then_some(scope);
    let visible = (atomic || has("vis")).then_some(scope);
    Event {
        agent,
        kind,
        units: Default::default(),
        sources: Default::default(),
        read: Default::default(),
        written: Default::default(),
        reference: 0,
        class: class("sc0", ClassSet::UNIFORM).union(class("sc1", ClassSet::WORKGROUP)),
        atomic,
        scope,
        order,
        semantics: class("semsc0", ClassSet::UNIFORM).union(class("semsc1", ClassSet::WORKGROUP)),
        make_available: has("semav"),
        make_visible: has("semvis"),
        non_private: atomic || has("nonpriv") || has("av") || has("vis"),
        available,
        visible,
        volatile: false,
        inst: InstId { function: FunctionId(0), index: line },
        line,
        place: None,
    }
}

fn parse(text: &str) -> Litmus {
    let mut graph = Graph::default();
    let mut agent = Agent { subgroup: 0, workgroup: 0, queue_family: 0 };
    let mut groups_open = false;
    let (mut variables, mut aliases) = (BTreeMap::new(), Vec::new());
    let (mut accesses, mut synchronized, mut expectations) = (Vec::new(), Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first().filter(|_| !line.starts_with("//")) else { continue };
        let thread = |offset: usize| words.get(offset).and_then(|word| word.parse::<u32>().ok());
        match *first {
            "NEWQF" => {
                agent.queue_family += 1;
                agent.workgroup += 1;
                agent.subgroup += 1;
            }
            "NEWWG" => {
                agent.workgroup += 1;
                agent.subgroup += 1;
            }
            "NEWSG" => agent.subgroup += 1,
            "NEWTHREAD" => {
                graph.agents.push(agent);
                groups_open = true;
            }
            "SLOC" => aliases.push((words[1].to_owned(), words[2].to_owned())),
            "SSW" => synchronized.push((thread(1).unwrap(), thread(2).unwrap())),
            "SATISFIABLE" | "NOSOLUTION" => expectations.push(Expectation {
                text: line.to_owned(),
                satisfiable: *first == "SATISFIABLE",
                chains: !line.contains("NOCHAINS"),
                races: match () {
                    () if line.contains("#dr=0") => Some(false),
                    () if line.contains("#dr>0") => Some(true),
                    () => None,
                },
            }),
            instruction => {
                assert!(groups_open, "line {}: no thread", number + 1);
                let tokens: Vec<&str> = instruction.split('.').collect();
                let mut event = event(graph.agents.len() as u32 - 1, number as u32 + 1, &tokens);
                if let Kind::Barrier { .. } = event.kind {
                    event.kind =
                        Kind::Barrier { instance: words[1].parse().unwrap(), execution: event.scope };
                }
                let mut values = Vec::new();
                if event.accesses() {
                    let next = variables.len() as u32;
                    event.reference = *variables.entry(words[1].to_owned()).or_insert(next);
                    values = words.iter().skip(3).map(|value| value.parse::<u64>().unwrap()).collect();
                }
                accesses.push((words.get(1).map(|name| (*name).to_owned()), values));
                graph.events.push(event);
            }
        }
    }
    let mut location: BTreeMap<String, u32> = variables.clone();
    for (a, b) in aliases {
        if let (Some(x), Some(y)) = (location.get(&a).copied(), location.get(&b).copied()) {
            location.values_mut().filter(|unit| **unit == y).for_each(|unit| *unit = x);
        }
    }
    for (id, event) in graph.events.iter_mut().enumerate() {
        if event.accesses() {
            event.units.push(location[accesses[id].0.as_ref().unwrap()]);
        }
    }
    for (a, b) in synchronized {
        for (i, x) in graph.events.iter().enumerate() {
            for (j, y) in graph.events.iter().enumerate() {
                if x.agent == a && y.agent == b {
                    graph.system_synchronizes_with.push((i as u32, j as u32));
                }
            }
        }
    }
    let mut candidates = Vec::new();
    for (id, event) in graph.events.iter().enumerate().filter(|(_, event)| event.reads()) {
        let value = accesses[id].1.first().copied();
        let mut sources = Vec::new();
        if value.is_none_or(|value| value == 0) {
            sources.push(Source::Initial);
        }
        for (other, write) in graph.events.iter().enumerate() {
            let written = accesses[other].1.last().copied();
            if other != id
                && write.writes()
                && write.units == event.units
                && (value.is_none() || value == written)
            {
                sources.push(Source::Event(other as u32));
            }
        }
        candidates.push((id, sources));
    }
    Litmus { graph, candidates, expectations }
}

/// For each variant of the chains: whether a race-free and whether a racy execution exists.
fn executions(litmus: &mut Litmus, chains: bool, depth: usize, found: &mut [bool; 2]) {
    let variant = Variant { revision: Revision::R2025, chains };
    if let Some((read, sources)) = litmus.candidates.get(depth).cloned() {
        for source in sources {
            litmus.graph.events[read].sources = [source].into_iter().collect();
            executions(litmus, chains, depth + 1, found);
        }
        return;
    }
    let relations = vulkan::relations(&litmus.graph, variant);
    let judge = Judge { graph: &litmus.graph, relations: &relations, variant };
    if judge.is_consistent() {
        found[usize::from(!judge.data_races().is_empty())] = true;
    }
}

#[test]
fn the_khronos_litmus_tests_are_met() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/khronos");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let mut surprises = Vec::new();
    let (mut files, mut checked) = (0, 0);
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        files += 1;
        let mut litmus = parse(&std::fs::read_to_string(&path).unwrap());
        for expectation in std::mem::take(&mut litmus.expectations) {
            // A condition on the size of a release sequence is no statement about outcomes.
            if expectation.text.contains("#rs") {
                continue;
            }
            let mut found = [false; 2];
            executions(&mut litmus, expectation.chains, 0, &mut found);
            let exists = match expectation.races {
                None => found[0] || found[1],
                Some(racy) => found[usize::from(racy)],
            };
            checked += 1;
            if exists != expectation.satisfiable {
                surprises.push(format!(
                    "{}: {}",
                    path.file_name().unwrap().to_string_lossy(),
                    expectation.text
                ));
            }
        }
    }
    assert!(files >= 80 && checked >= 100, "{files} files, {checked} expectations");
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}
