//! The twin's model on the litmus tests of the Khronos Alloy model (`../shared/conformance/khronos`).

use std::collections::BTreeMap;
use std::path::Path;

use super::enumerate::modification_orders;
use super::model::{
    Access, Action, Agent, Execution, Operation, ReadsFrom, Scope, Semantics, Source, Variant,
};
use super::relation::Relation;

struct Litmus {
    execution: Execution,
    /// Sources of each read that its value allows.
    sources: Vec<((usize, usize), Vec<Source>)>,
    expectations: Vec<(String, bool)>,
}

fn parse(text: &str) -> Litmus {
    let mut agent = Agent { subgroup: 0, workgroup: 0, queue_family: 0 };
    let mut agents: Vec<Agent> = Vec::new();
    let mut variables: BTreeMap<String, usize> = BTreeMap::new();
    let mut aliases = Vec::new();
    let mut synchronized: Vec<(usize, usize)> = Vec::new();
    let mut operations: Vec<Operation> = Vec::new();
    let mut values: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut expectations = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(&first) = words.first() else { continue };
        match first {
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
            "NEWTHREAD" => agents.push(agent),
            "SLOC" => aliases.push((words[1].to_owned(), words[2].to_owned())),
            "SSW" => synchronized.push((words[1].parse().unwrap(), words[2].parse().unwrap())),
            "SATISFIABLE" | "NOSOLUTION" => expectations.push((line.to_owned(), first == "SATISFIABLE")),
            _ => {
                let tokens: Vec<&str> = first.split('.').collect();
                let has = |token: &str| tokens.contains(&token);
                let scope = match () {
                    () if has("scopesg") => Scope::Subgroup,
                    () if has("scopewg") => Scope::Workgroup,
                    () if has("scopeqf") => Scope::QueueFamily,
                    () => Scope::Device,
                };
                let bit = |name: &str, bit: u8| if has(name) { bit } else { 0 };
                let semantics = Semantics {
                    acquire: has("acq"),
                    release: has("rel"),
                    classes: bit("semsc0", 1) | bit("semsc1", 2),
                    make_available: has("semav"),
                    make_visible: has("semvis"),
                };
                let action = match tokens[0] {
                    "membar" => Action::Barrier { control: None },
                    "cbar" => Action::Barrier { control: Some((words[1].parse().unwrap(), scope)) },
                    "avdevice" => Action::DeviceAvailability,
                    "visdevice" => Action::DeviceVisibility,
                    kind => {
                        let next = variables.len();
                        let variable = *variables.entry(words[1].to_owned()).or_insert(next);
                        let atomic = has("atom") || kind == "rmw";
                        Action::Access(Access {
                            reads: kind != "st",
                            writes: kind != "ld",
                            atomic,
                            non_private: atomic || has("nonpriv") || has("av") || has("vis"),
                            class: bit("sc0", 1) | bit("sc1", 2),
                            reference: variable,
                            locations: vec![variable],
                            available: ((atomic && kind != "ld") || has("av")).then_some(scope),
                            visible: ((atomic && kind != "st") || has("vis")).then_some(scope),
                        })
                    }
                };
                let agent = agents.len() - 1;
                if semantics.make_available {
                    operations.push(Operation {
                        agent,
                        action: Action::SemanticAvailability,
                        scope,
                        semantics,
                    });
                }
                if matches!(action, Action::Access(_)) {
                    let given = words.iter().skip(3).map(|value| value.parse().unwrap()).collect();
                    values.insert(operations.len(), given);
                }
                operations.push(Operation { agent, action, scope, semantics });
                if semantics.make_visible {
                    operations.push(Operation {
                        agent,
                        action: Action::SemanticVisibility,
                        scope,
                        semantics,
                    });
                }
            }
        }
    }
    let mut location: Vec<usize> = (0..variables.len()).collect();
    for (a, b) in aliases {
        if let (Some(&a), Some(&b)) = (variables.get(&a), variables.get(&b)) {
            let (keep, merged) = (location[a], location[b]);
            location.iter_mut().filter(|l| **l == merged).for_each(|l| *l = keep);
        }
    }
    for operation in &mut operations {
        if let Action::Access(access) = &mut operation.action {
            access.locations = vec![location[access.reference]];
        }
    }
    let size = operations.len();
    let program_order = Relation::of(size, |a, b| a < b && operations[a].agent == operations[b].agent);
    let system_synchronizes_with =
        Relation::of(size, |a, b| synchronized.contains(&(operations[a].agent, operations[b].agent)));
    let variant = Variant { from_reads_by_location_order: true, chains: true };
    let execution = Execution { agents, operations, program_order, system_synchronizes_with, variant };
    let mut sources = Vec::new();
    for (read, operation) in execution.operations.iter().enumerate() {
        let Action::Access(access) = &operation.action else { continue };
        if !access.reads {
            continue;
        }
        let location = access.locations[0];
        let wanted = values[&read].first().copied();
        let mut possible = Vec::new();
        if wanted.is_none_or(|value| value == 0) {
            possible.push(Source::Initial);
        }
        for write in execution.writes_of(location) {
            if write != read && (wanted.is_none() || values[&write].last().copied() == wanted) {
                possible.push(Source::Write(write));
            }
        }
        sources.push(((read, location), possible));
    }
    Litmus { execution, sources, expectations }
}

/// Whether a race-free and whether a racy consistent execution exists.
fn executions(execution: &Execution, sources: &[((usize, usize), Vec<Source>)]) -> [bool; 2] {
    let orders = modification_orders(execution);
    let mut found = [false; 2];
    for reads_from in super::enumerate::reads_from(sources) {
        for order in &orders {
            let derived = execution.derive(&reads_from, order);
            if execution.is_consistent(&reads_from, order, &derived) {
                found[usize::from(!execution.data_races(&derived).is_empty())] = true;
            }
        }
    }
    found
}

/// The empty choice where nothing reads, so that the product of sources is never empty by mistake.
#[test]
fn no_reads_give_one_choice() {
    assert_eq!(super::enumerate::reads_from(&[]), vec![ReadsFrom::new()]);
}

#[test]
fn the_twin_meets_the_khronos_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/khronos");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "test"));
    paths.sort();
    let mut surprises = Vec::new();
    let mut checked = 0;
    for path in &paths {
        let litmus = parse(&std::fs::read_to_string(path).unwrap());
        for (text, satisfiable) in &litmus.expectations {
            // A condition on the size of a release sequence is no statement about outcomes.
            if text.contains("#rs") {
                continue;
            }
            let mut execution = litmus.execution.clone();
            execution.variant.chains = !text.contains("NOCHAINS");
            let [race_free, racy] = executions(&execution, &litmus.sources);
            let exists = match () {
                () if text.contains("#dr=0") => race_free,
                () if text.contains("#dr>0") => racy,
                () => race_free || racy,
            };
            checked += 1;
            if exists != *satisfiable {
                surprises.push(format!("{}: {text}", path.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    assert!(paths.len() >= 80 && checked >= 100, "{} files, {checked} expectations", paths.len());
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}
