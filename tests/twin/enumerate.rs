//! Brute force: every reads-from, every orientation of the mutually-ordered writes, every final write.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::model::{Derived, Execution, ReadsFrom, Source, Variant};
use super::program::{Compiled, New, Program, Values, BUFFER_WORDS};
use super::relation::Relation;

/// What a run shows: final words of the buffer, and what each read read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    pub memory: Vec<u32>,
    pub results: Vec<u32>,
}

/// All consistent executions of a program.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub outcomes: BTreeSet<Outcome>,
    /// Classes of reads-from and final values.
    pub executions: usize,
    pub racy: bool,
    /// Some execution synchronizes two threads.
    pub synchronises: bool,
    /// Some execution has a cycle of program order, reads-from and control barriers.
    pub load_buffering: bool,
}

/// Most conditions of a program: each doubles the choices.
const MAX_CONDITIONS: usize = 6;

/// Rounds in which executions give values to others.
pub const MAX_ROUNDS: usize = 16;

/// The sources of each (read, location) that no choice of the others can forbid: location order only
/// grows with synchronization, so what is impossible without any stays so.
pub fn sources(execution: &Execution) -> Vec<((usize, usize), Vec<Source>)> {
    let least = execution.derive(&ReadsFrom::new(), &Relation::empty(execution.operations.len()));
    let mut sources = Vec::new();
    for (read, operation) in execution.operations.iter().enumerate() {
        let super::model::Action::Access(access) = &operation.action else { continue };
        if !access.reads {
            continue;
        }
        for &location in &access.locations {
            let ordered = &least.location_ordered[location];
            let writes = execution.writes_of(location);
            let shadowed = |write: Option<usize>| {
                writes.iter().any(|&between| {
                    ordered.contains(between, read)
                        && write.is_none_or(|write| ordered.contains(write, between))
                })
            };
            let mut possible: Vec<Source> = writes
                .iter()
                .filter(|&&write| write != read && !ordered.contains(read, write) && !shadowed(Some(write)))
                .map(|&write| Source::Write(write))
                .collect();
            if !shadowed(None) {
                possible.push(Source::Initial);
            }
            sources.push(((read, location), possible));
        }
    }
    sources
}

/// All acyclic orientations of the pairs of mutually-ordered writes that agree with the order that
/// locations have without synchronization.
pub fn modification_orders(execution: &Execution) -> Vec<Relation> {
    let size = execution.operations.len();
    let least = execution.derive(&ReadsFrom::new(), &Relation::empty(size));
    let mutual = execution.mutually_ordered();
    let forced = |a: usize, b: usize| least.location_ordered.iter().any(|ordered| ordered.contains(a, b));
    let mut orders = vec![Relation::empty(size)];
    for (a, b) in mutual.pairs() {
        let writes = execution.operations[a].writes() && execution.operations[b].writes();
        if a > b || !writes {
            continue;
        }
        let mut extended = Vec::new();
        for order in orders {
            for (first, second) in [(a, b), (b, a)] {
                if forced(second, first) {
                    continue;
                }
                let mut order = order.clone();
                order.insert(first, second);
                if order.is_acyclic() {
                    extended.push(order);
                }
            }
        }
        orders = extended;
    }
    orders
}

/// All choices of a source for each read.
pub fn reads_from(sources: &[((usize, usize), Vec<Source>)]) -> Vec<ReadsFrom> {
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

/// The values that a read may have before its source is executed, by location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What writes of executions found so far give.
    produced: BTreeMap<usize, BTreeSet<u32>>,
    /// What read-modify-writes of these would give, had they read a produced or an initial value.
    attempted: BTreeMap<usize, BTreeSet<u32>>,
}

impl Known {
    fn values(&self, location: usize) -> BTreeSet<u32> {
        let values =
            |known: &BTreeMap<usize, BTreeSet<u32>>| known.get(&location).cloned().unwrap_or_default();
        &values(&self.produced) | &values(&self.attempted)
    }

    /// The values of all locations.
    fn all(&self) -> BTreeSet<u32> {
        self.produced.values().chain(self.attempted.values()).flatten().copied().collect()
    }
}

/// Every assignment of values to the reads that re-execution confirms. Where a value depends on itself,
/// only known values are tried: those of all locations, because whichever read of the circle has a known
/// value, the others follow from it, and only copies make a circle that is true of itself. Each value that is tried
/// takes one of `tries`; where none is left, the answer says nothing.
pub fn solve(
    program: &Program,
    compiled: &Compiled,
    reads_from: &ReadsFrom,
    known: &Known,
    mut read: Values,
    tries: &mut usize,
) -> Vec<Values> {
    let written = |write: (usize, usize), read: &Values| compiled.written[&write].value(read);
    let source_value = |(id, location): (usize, usize), read: &Values| match reads_from[&(id, location)] {
        Source::Initial => Some(program.initial(location)),
        Source::Write(write) => written((write, location), read),
    };
    loop {
        let mut changed = false;
        for &place in reads_from.keys() {
            if let (false, Some(value)) = (read.contains_key(&place), source_value(place, &read)) {
                read.insert(place, value);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    if let Some(&open) = reads_from.keys().find(|place| !read.contains_key(place)) {
        let mut solutions = Vec::new();
        for value in known.all() {
            let Some(left) = tries.checked_sub(1) else { break };
            *tries = left;
            let mut read = read.clone();
            read.insert(open, value);
            solutions.extend(solve(program, compiled, reads_from, known, read, tries));
        }
        return solutions;
    }
    let confirmed = reads_from.keys().all(|&place| source_value(place, &read) == Some(read[&place]))
        && compiled.conditions.iter().all(|condition| {
            let value = |place: &Option<(usize, usize)>| place.map_or(0, |place| read[&place]);
            condition.reads.iter().all(|(place, wanted)| value(place) == *wanted) == condition.holds
        });
    if confirmed {
        vec![read]
    } else {
        Vec::new()
    }
}

/// All consistent executions; `None` where there are more than `max_candidates` candidates, or values
/// count up for ever.
pub fn enumerate(program: &Program, variant: Variant, max_candidates: usize) -> Option<Found> {
    let conditions = program.conditions();
    if conditions > MAX_CONDITIONS {
        return None;
    }
    let choices = (0..1usize << conditions)
        .map(|bits| (0..conditions).map(|bit| bits >> bit & 1 == 1).collect::<Vec<bool>>());
    let compiled: Vec<Compiled> = choices.filter_map(|choice| program.compile(&choice, variant)).collect();
    let mut spaces = Vec::new();
    let mut candidates = 0usize;
    for compiled in &compiled {
        let sources = sources(&compiled.execution);
        let count = sources.iter().try_fold(1usize, |n, (_, possible)| n.checked_mul(possible.len()))?;
        if count > max_candidates || mutual_write_pairs(&compiled.execution) > 12 {
            return None;
        }
        let orders = modification_orders(&compiled.execution);
        candidates += count * orders.len();
        if candidates > max_candidates {
            return None;
        }
        spaces.push(Candidates {
            compiled,
            mutual: compiled.execution.mutually_ordered(),
            reads_from: reads_from(&sources),
            orders,
            derived: HashMap::new(),
            inconsistent: HashSet::new(),
        });
    }
    // Values that only a cycle justifies come from what other executions produce: to a fixed point.
    let mut next = Known::default();
    let mut tries = usize::MAX;
    for _ in 0..MAX_ROUNDS {
        let known = next.clone();
        let mut found = Found::default();
        let mut classes = BTreeSet::new();
        for candidates in &mut spaces {
            let compiled = candidates.compiled;
            for number in 0..candidates.reads_from.len() {
                let reads_from = candidates.reads_from[number].clone();
                for values in solve(program, compiled, &reads_from, &known, Values::new(), &mut tries) {
                    if !can_be_executed(compiled, &reads_from, &values, &known) {
                        continue;
                    }
                    for order in 0..candidates.orders.len() {
                        let Some(derived) = candidates.consistent(number, order) else { continue };
                        let order = &candidates.orders[order];
                        let candidate =
                            Candidate { compiled, reads_from: &reads_from, order, values: &values, derived };
                        judge(program, &candidate, &known, &mut found, &mut classes, &mut next);
                    }
                }
            }
        }
        found.executions = classes.len();
        if next == known {
            return Some(found);
        }
    }
    None
}

fn mutual_write_pairs(execution: &Execution) -> usize {
    let writes = |id: usize| execution.operations[id].writes();
    execution.mutually_ordered().pairs().filter(|&(a, b)| a < b && writes(a) && writes(b)).count()
}

/// The candidates of one choice of conditions, and what is known of them.
struct Candidates<'c> {
    compiled: &'c Compiled,
    mutual: Relation,
    reads_from: Vec<ReadsFrom>,
    orders: Vec<Relation>,
    /// By synchronizes-with.
    derived: HashMap<Relation, Rc<Derived>>,
    inconsistent: HashSet<(usize, usize)>,
}

impl Candidates<'_> {
    /// The derived relations of a reads-from and an order, by number, if they are consistent.
    fn consistent(&mut self, reads_from: usize, order: usize) -> Option<Rc<Derived>> {
        if self.inconsistent.contains(&(reads_from, order)) {
            return None;
        }
        let execution = &self.compiled.execution;
        let (chosen, oriented) = (&self.reads_from[reads_from], &self.orders[order]);
        let synchronizes_with = execution.synchronizes_with(chosen, &self.mutual, oriented);
        let derive = || Rc::new(execution.derive_from(synchronizes_with.clone()));
        let derived = self.derived.entry(synchronizes_with.clone()).or_insert_with(derive).clone();
        if execution.is_consistent(chosen, oriented, &derived) {
            return Some(derived);
        }
        self.inconsistent.insert((reads_from, order));
        None
    }
}

/// A choice of everything that is chosen.
struct Candidate<'c> {
    compiled: &'c Compiled,
    reads_from: &'c ReadsFrom,
    order: &'c Relation,
    values: &'c Values,
    derived: Rc<Derived>,
}

/// Nothing comes out of thin air: the operations can be executed one after the other, barriers when
/// everybody has arrived, where a read needs its source executed before, or its value known from
/// executions that need no such guess (or only guesses that are known).
pub fn can_be_executed(compiled: &Compiled, reads_from: &ReadsFrom, values: &Values, known: &Known) -> bool {
    let execution = &compiled.execution;
    let size = execution.operations.len();
    let mut executed = vec![false; size];
    let arrived = |id: usize, executed: &[bool]| {
        (0..size).all(|before| executed[before] || !execution.program_order.contains(before, id))
    };
    loop {
        let next = (0..size).find(|&id| {
            let read_is_ready =
                reads_from.iter().filter(|((read, _), _)| *read == id).all(|(place, source)| {
                    let is_executed = match *source {
                        Source::Initial => true,
                        Source::Write(write) => executed[write],
                    };
                    is_executed || known.values(place.1).contains(&values[place])
                });
            let mut instances = compiled.barrier_instances.values().filter(|members| members.contains(&id));
            let all_arrived =
                instances.all(|members| members.iter().all(|&member| arrived(member, &executed)));
            !executed[id] && arrived(id, &executed) && read_is_ready && all_arrived
        });
        match next {
            Some(id) => executed[id] = true,
            None => return executed.iter().all(|&executed| executed),
        }
    }
}

/// Notes the values that an execution's writes give.
pub fn learn(program: &Program, compiled: &Compiled, values: &Values, known: &Known, next: &mut Known) {
    let value =
        |write: (usize, usize)| compiled.written[&write].value(values).expect("all reads have values");
    for &(write, location) in compiled.written.keys() {
        next.produced.entry(location).or_default().insert(value((write, location)));
    }
    for update in &compiled.updates {
        // Words of a pair change independently of each other, save for what is compared.
        let readable = |location: usize| {
            let mut readable = known.produced.get(&location).cloned().unwrap_or_default();
            readable.insert(program.initial(location));
            readable
        };
        let succeeds = |words: &[(usize, u32)]| words.iter().all(|&(at, word)| readable(at).contains(&word));
        for (location, new) in &update.words {
            let attempted = next.attempted.entry(*location).or_default();
            match *new {
                New::Value(_) if !succeeds(&update.compared) => {}
                New::Value(new) => attempted.extend(new.value(values)),
                New::Added(add) => {
                    attempted.extend(readable(*location).iter().map(|old| old.wrapping_add(add)))
                }
            }
        }
    }
}

fn judge(
    program: &Program,
    candidate: &Candidate,
    known: &Known,
    found: &mut Found,
    classes: &mut BTreeSet<(Values, ReadsFrom, Vec<u32>)>,
    next: &mut Known,
) {
    let Candidate { compiled, reads_from, order, values, ref derived } = *candidate;
    let execution = &compiled.execution;
    let value =
        |write: (usize, usize)| compiled.written[&write].value(values).expect("all reads have values");
    learn(program, compiled, values, known, next);
    found.racy |= !execution.data_races(derived).is_empty();
    found.synchronises |= derived
        .synchronizes_with
        .pairs()
        .any(|(a, b)| execution.operations[a].agent != execution.operations[b].agent);
    found.load_buffering |= has_load_buffering(compiled, reads_from);
    let results: Vec<u32> =
        compiled.results.iter().map(|place| place.map_or(0, |place| values[&place])).collect();
    let mut finals: Vec<Vec<u32>> = vec![Vec::new()];
    for location in 0..BUFFER_WORDS.min(program.location_count()) {
        let sources = match execution.location_count() > location {
            true => execution.final_sources(location, order, derived),
            false => vec![Source::Initial],
        };
        let options: BTreeSet<u32> = sources
            .into_iter()
            .map(|source| match source {
                Source::Initial => program.initial(location),
                Source::Write(write) => value((write, location)),
            })
            .collect();
        finals = finals
            .into_iter()
            .flat_map(|memory| {
                options.iter().map(move |&value| {
                    let mut memory = memory.clone();
                    memory.push(value);
                    memory
                })
            })
            .collect();
    }
    for memory in finals {
        classes.insert((values.clone(), reads_from.clone(), memory.clone()));
        found.outcomes.insert(Outcome { memory, results: results.clone() });
    }
}

/// Whether program order, reads-from and control barriers (everybody arrives before anybody leaves)
/// have a cycle, so that no order of execution gives this.
pub fn has_load_buffering(compiled: &Compiled, reads_from: &ReadsFrom) -> bool {
    let mut order = compiled.execution.program_order.clone();
    for (&(read, _), source) in reads_from {
        if let Source::Write(write) = *source {
            order.insert(write, read);
        }
    }
    let size = compiled.execution.operations.len();
    for members in compiled.barrier_instances.values() {
        for before in 0..size {
            for after in 0..size {
                let po = &compiled.execution.program_order;
                if members.iter().any(|&m| po.contains(before, m))
                    && members.iter().any(|&m| po.contains(m, after))
                {
                    order.insert(before, after);
                }
            }
        }
    }
    !order.is_acyclic()
}
