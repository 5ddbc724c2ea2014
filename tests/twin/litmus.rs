//! Litmus tests in the syntax of the Khronos Alloy model, and the twin's answers to them.

use std::collections::BTreeMap;

use super::model::{
    Access, Action, Agent, Execution, Operation, ReadsFrom, Scope, Semantics, Source, Variant,
};
use super::relation::Relation;

/// A test as one candidate execution without its reads-from.
pub struct Litmus {
    pub execution: Execution,
    /// Every thread gets through its control barriers, and they stand so that there is an execution.
    pub barriers_pass: bool,
    /// Sources of each read that its value allows.
    pub sources: Vec<((usize, usize), Vec<Source>)>,
    pub expectations: Vec<Expectation>,
}

/// Whether some consistent execution is as the condition says.
pub struct Expectation {
    pub text: String,
    pub satisfiable: bool,
    pub chains: bool,
    /// Race-free (false) or racy (true) executions only.
    pub races: Option<bool>,
}

impl Expectation {
    /// `None` for a condition on the size of a release sequence, which is no statement about outcomes.
    fn parse(line: &str) -> Option<Expectation> {
        let has = |token: &str| line.contains(token);
        (!has("#rs")).then(|| Expectation {
            text: line.to_owned(),
            satisfiable: line.starts_with("SATISFIABLE"),
            chains: !has("NOCHAINS"),
            races: if has("#dr=0") { Some(false) } else { has("#dr>0").then_some(true) },
        })
    }
}

pub fn parse(text: &str) -> Litmus {
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
            "SATISFIABLE" | "NOSOLUTION" => expectations.extend(Expectation::parse(line)),
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
                    classes: bit("semsc0", 1) | bit("semsc1", 2) | bit("semsc2", 4),
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
                            non_private: has("nonpriv") || has("av") || has("vis"),
                            class: bit("sc0", 1) | bit("sc1", 2) | bit("sc2", 4),
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
    let variant = Variant::NEWEST;
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
    let barriers_pass = are_in_order(&execution);
    Litmus { execution, barriers_pass, sources, expectations }
}

/// No two barriers of one instance are in one thread; and where two of one instance and two of another are in
/// two threads, they come in the same order.
fn are_in_order(execution: &Execution) -> bool {
    let instance = |id: usize| match execution.operations[id].action {
        Action::Barrier { control } => control.map(|(instance, _)| instance),
        _ => None,
    };
    let size = execution.size();
    let same = Relation::of(size, |a, b| instance(a).is_some() && instance(a) == instance(b));
    let before = |a: usize, b: usize| execution.program_order.contains(a, b);
    let pairs: Vec<(usize, usize)> = same.pairs().collect();
    pairs.iter().all(|&(a, b)| {
        let crossed = pairs.iter().any(|&(x, y)| before(a, x) && before(y, b));
        !before(a, b) && !crossed
    })
}

/// All orientations of the pairs of mutually-ordered writes that are orders. Unlike
/// [`super::enumerate::modification_orders`], this rests on no axiom of the model.
pub fn modification_orders(execution: &Execution) -> Vec<Relation> {
    let writes = |id: usize| execution.operations[id].writes();
    let mut orders = vec![Relation::empty(execution.size())];
    for (a, b) in execution.mutually_ordered().pairs() {
        if !writes(a) || !writes(b) {
            continue;
        }
        let mut extended = Vec::new();
        for order in orders {
            if order.contains(a, b) || order.contains(b, a) {
                extended.push(order);
                continue;
            }
            for (first, second) in [(a, b), (b, a)] {
                let mut order = order.clone();
                order.insert(first, second);
                extended.push(order);
            }
        }
        orders = extended;
        orders.retain(Relation::is_acyclic);
    }
    orders
}

/// All choices of a source for each read.
pub fn all_reads_from(sources: &[((usize, usize), Vec<Source>)]) -> Vec<ReadsFrom> {
    let mut all = vec![ReadsFrom::new()];
    for (read, possible) in sources {
        let extend = |chosen: ReadsFrom| {
            possible.iter().map(move |&source| {
                let mut chosen = chosen.clone();
                chosen.insert(*read, source);
                chosen
            })
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}

impl Litmus {
    /// Whether there is an execution as each expectation says.
    pub fn answers(&self, variant: Variant) -> Vec<bool> {
        let mut known: BTreeMap<bool, [bool; 2]> = BTreeMap::new();
        let answer = |expectation: &Expectation| {
            let variant = Variant { chains: variant.chains && expectation.chains, ..variant };
            let [race_free, racy] = *known.entry(variant.chains).or_insert_with(|| self.executions(variant));
            match expectation.races {
                None => race_free || racy,
                Some(false) => race_free,
                Some(true) => racy,
            }
        };
        self.expectations.iter().map(answer).collect()
    }

    /// The expectations that are not met.
    pub fn surprises(&self, variant: Variant) -> Vec<&str> {
        let met = self.expectations.iter().zip(self.answers(variant));
        met.filter(|(expected, found)| expected.satisfiable != *found).map(|(e, _)| e.text.as_str()).collect()
    }

    /// Whether a race-free and whether a racy consistent execution exists.
    fn executions(&self, variant: Variant) -> [bool; 2] {
        let execution = Execution { variant, ..self.execution.clone() };
        let orders = modification_orders(&execution);
        let mut found = [false; 2];
        if !self.barriers_pass {
            return found;
        }
        for reads_from in all_reads_from(&self.sources) {
            for order in &orders {
                let derived = execution.derive(&reads_from, order);
                if execution.is_consistent(&reads_from, order, &derived) {
                    found[usize::from(!execution.data_races(&derived).is_empty())] = true;
                }
                if found == [true; 2] {
                    return found;
                }
            }
        }
        found
    }
}
