//! Brute force over programs with loops: all ways of all invocations together, unrolled k and k + 1 turns.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::graph::{is_fair, joined, Choices, Graph, Kind, TooMany};
use super::program::{Program, Statement};
use super::unroll::{frame, paths, Bound, Names, Path};
use crate::enumerate::{can_be_executed, has_load_buffering, learn, solve, Known, Outcome, MAX_ROUNDS};
use crate::model::{Derived, ReadsFrom, Source, Variant};
use crate::program::{Values, BUFFER_WORDS};
use crate::relation::{Relation, MAX_ELEMENTS};

/// Why a program is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Undefined {
    DataRace,
    DivisionByZero,
    DivergentBarrier,
}

/// What a program may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Of the executions without a fault, racy ones included.
    pub outcomes: BTreeSet<Outcome>,
    /// Whether some execution is endless, and without a fault.
    pub hangs: bool,
    pub undefined: BTreeSet<Undefined>,
    /// Some execution has a cycle of program order, reads-from and control barriers.
    pub load_buffering: bool,
    /// Some endless execution reads what an endless invocation writes anew in every turn.
    pub shifts: bool,
}

/// How much the twin looks at.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Turns, and one turn more.
    pub turns: usize,
    pub operations: usize,
    pub graphs: usize,
    /// Choices of reads-from and scoped modification order, of all locations.
    pub candidates: usize,
    /// Of one after the other, on the way to these.
    pub steps: usize,
    /// Values of reads that depend on themselves.
    pub tries: usize,
}

impl Size {
    /// One turn more, and as much as that takes.
    pub fn deeper(self) -> Size {
        let more = |count: usize| count.saturating_mul(20);
        Size {
            turns: self.turns + 1,
            operations: 2 * self.operations,
            graphs: more(self.graphs),
            candidates: more(self.candidates),
            steps: more(self.steps),
            tries: more(self.tries),
        }
    }
}

/// What the twin says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Found(Found),
    /// With one turn more there is more.
    Grows,
    TooLarge,
}

/// Everything that the program may do.
pub fn behaviours(program: &Program, variant: Variant, size: Size) -> Answer {
    match all(program, variant, size) {
        Err(TooMany) => Answer::TooLarge,
        Ok([fewer, more]) => {
            let nothing = more.outcomes.is_empty() && !more.hangs && more.undefined.is_empty();
            let same = fewer.outcomes == more.outcomes
                && fewer.hangs == more.hangs
                && fewer.undefined == more.undefined;
            match same && !nothing {
                true => Answer::Found(more),
                false => Answer::Grows,
            }
        }
    }
}

/// A graph, its choices, and what was found out about them.
struct Space {
    graph: Graph,
    choices: Choices,
    /// With k turns, with k + 1.
    counts_for: [bool; 2],
    derived: HashMap<Relation, Rc<Derived>>,
    /// By number of reads-from: the consistent ones of its orders.
    consistent: BTreeMap<usize, Vec<(Relation, Rc<Derived>)>>,
}

fn all(program: &Program, variant: Variant, size: Size) -> Result<[Found; 2], TooMany> {
    let mut spaces = spaces(program, variant, size)?;
    let frame = frame(program);
    let mut next = Known::default();
    let mut tries = size.tries;
    for _ in 0..MAX_ROUNDS {
        let known = next.clone();
        let mut found = [Found::default(), Found::default()];
        for space in &mut spaces {
            let Some(count) = space.choices.count() else { return Err(TooMany) };
            for number in 0..count {
                let (reads_from, orders) = space.choices.reads_from(number);
                let compiled = &space.graph.compiled;
                let solutions = solve(&frame, compiled, &reads_from, &known, Values::new(), &mut tries);
                if tries == 0 {
                    return Err(TooMany);
                }
                for values in solutions {
                    let is_allowed = can_be_executed(compiled, &reads_from, &values, &known)
                        && repeats_values(&space.graph, &values);
                    if !is_allowed {
                        continue;
                    }
                    let consistent = match space.consistent.get(&number) {
                        Some(consistent) => consistent.clone(),
                        None => {
                            let orders = joined(compiled.execution.size(), &orders);
                            let judged = consistent(&space.graph, &reads_from, orders, &mut space.derived);
                            space.consistent.insert(number, judged.clone());
                            judged
                        }
                    };
                    if consistent.is_empty() {
                        continue;
                    }
                    learn(&frame, compiled, &values, &known, &mut next);
                    for (order, derived) in &consistent {
                        let execution =
                            Execution { graph: &space.graph, reads_from: &reads_from, order, derived };
                        for (found, counts) in found.iter_mut().zip(space.counts_for) {
                            if counts {
                                execution.judge(program, &values, found);
                            }
                        }
                    }
                }
            }
        }
        if next == known {
            return Ok(found);
        }
    }
    Err(TooMany)
}

/// The orders that are consistent, and fair.
fn consistent(
    graph: &Graph,
    reads_from: &ReadsFrom,
    orders: Vec<Relation>,
    known: &mut HashMap<Relation, Rc<Derived>>,
) -> Vec<(Relation, Rc<Derived>)> {
    let execution = &graph.compiled.execution;
    let mutual = execution.mutually_ordered();
    let mut consistent = Vec::new();
    for order in orders {
        let synchronizes_with = execution.synchronizes_with(reads_from, &mutual, &order);
        let derive = || Rc::new(execution.derive_from(synchronizes_with.clone()));
        let derived = known.entry(synchronizes_with.clone()).or_insert_with(derive).clone();
        if execution.is_consistent(reads_from, &order, &derived)
            && (graph.kind != Kind::Endless || is_fair(graph, reads_from, &order, &derived))
        {
            consistent.push((order, derived));
        }
    }
    consistent
}

/// The last turns of endless loops read and write the values of the turns before.
fn repeats_values(graph: &Graph, values: &Values) -> bool {
    let written = &graph.compiled.written;
    graph.shift.iter().all(|(&before, &last)| {
        (0..graph.compiled.execution.location_count()).all(|location| {
            let value = |operation: usize| {
                let written = written.get(&(operation, location)).map(|write| write.value(values));
                (values.get(&(operation, location)), written)
            };
            value(before) == value(last)
        })
    })
}

struct Execution<'e> {
    graph: &'e Graph,
    reads_from: &'e ReadsFrom,
    order: &'e Relation,
    derived: &'e Derived,
}

impl Execution<'_> {
    fn judge(&self, program: &Program, values: &Values, found: &mut Found) {
        let graph = self.graph;
        let execution = &graph.compiled.execution;
        if !execution.data_races(self.derived).is_empty() {
            found.undefined.insert(Undefined::DataRace);
        }
        found.load_buffering |= has_load_buffering(&graph.compiled, self.reads_from);
        if graph.faulted {
            found.undefined.insert(Undefined::DivisionByZero);
        }
        match graph.kind {
            Kind::Divergent => {
                found.undefined.insert(Undefined::DivergentBarrier);
            }
            Kind::Endless if !graph.faulted => {
                found.hangs = true;
                found.shifts |= graph.shift.iter().any(|(&before, &last)| {
                    let source = |read: usize| {
                        self.reads_from.iter().find(|((of, _), _)| *of == read).map(|(_, source)| *source)
                    };
                    source(before) != source(last)
                });
            }
            Kind::Finished if !graph.faulted => {
                let results = self.results(program, values);
                for memory in self.final_memories(program, values) {
                    found.outcomes.insert(Outcome { memory, results: results.clone() });
                }
            }
            Kind::Endless | Kind::Finished => {}
        }
    }

    /// What each invocation read.
    fn results(&self, program: &Program, values: &Values) -> Vec<u32> {
        let reads = program.reads();
        let value = |register: Option<(usize, usize)>| register.map_or(0, |read| values[&read]);
        let of_one = |registers: &Vec<Option<(usize, usize)>>| -> Vec<u32> {
            reads.iter().map(|&number| value(registers[number])).collect()
        };
        self.graph.registers.iter().flat_map(of_one).collect()
    }

    fn final_memories(&self, program: &Program, values: &Values) -> Vec<Vec<u32>> {
        let execution = &self.graph.compiled.execution;
        let mut memories = vec![Vec::new()];
        for (location, &initial) in program.initial.iter().enumerate().take(BUFFER_WORDS) {
            let sources = match location < execution.location_count() {
                true => execution.final_sources(location, self.order, self.derived),
                false => vec![Source::Initial],
            };
            let value = |source: Source| match source {
                Source::Initial => initial,
                Source::Write(write) => self.graph.compiled.written[&(write, location)]
                    .value(values)
                    .expect("all reads have values"),
            };
            let finals: BTreeSet<u32> = sources.into_iter().map(value).collect();
            memories = memories
                .into_iter()
                .flat_map(|memory: Vec<u32>| {
                    finals.iter().map(move |&value| [&memory[..], &[value]].concat()).collect::<Vec<_>>()
                })
                .collect();
        }
        memories
    }
}

/// All graphs with their choices.
fn spaces(program: &Program, variant: Variant, size: Size) -> Result<Vec<Space>, TooMany> {
    let k = size.turns;
    // The first turn of an endless loop may read what is written before it, the others what each other writes.
    let more = usize::from(program.code.iter().any(Statement::has_writing_loop));
    let mut names = Names::default();
    let mut spaces = Vec::new();
    let mut left = size;
    let endless = |turns: usize| Bound { turns, endless: Some(turns + more) };
    for (bound, counts_for) in [
        (Bound { turns: k + 1, endless: None }, [true, true]),
        (endless(k), [true, false]),
        (endless(k + 1), [false, true]),
    ] {
        let threads = program.shape.threads();
        let paths = (0..threads)
            .map(|thread| paths(program, thread, bound, &mut names, size.graphs).ok_or(TooMany))
            .collect::<Result<Vec<Vec<Path>>, TooMany>>()?;
        let count = paths.iter().try_fold(1usize, |count, paths| count.checked_mul(paths.len()));
        left.graphs = count.and_then(|count| left.graphs.checked_sub(count)).ok_or(TooMany)?;
        for_each_combination(&paths, &mut Vec::new(), &mut |chosen| {
            let operations: usize = chosen.iter().map(|path| path.steps.len()).sum();
            if operations > size.operations.min(MAX_ELEMENTS) {
                return Err(TooMany);
            }
            let Some(graph) = Graph::new(program, chosen, bound, variant, &mut names) else { return Ok(()) };
            if bound.endless.is_some() && !graph.is_endless() {
                return Ok(());
            }
            let Some(choices) = graph.choices(program, &mut left.steps)? else { return Ok(()) };
            let count = choices.candidates().ok_or(TooMany)?;
            left.candidates = left.candidates.checked_sub(count).ok_or(TooMany)?;
            let few = graph.turns <= k;
            spaces.push(Space {
                graph,
                choices,
                counts_for: [counts_for[0] && few, counts_for[1]],
                derived: HashMap::new(),
                consistent: BTreeMap::new(),
            });
            Ok(())
        })?;
    }
    Ok(spaces)
}

fn for_each_combination<'p>(
    paths: &'p [Vec<Path>],
    chosen: &mut Vec<&'p Path>,
    visit: &mut impl FnMut(&[&'p Path]) -> Result<(), TooMany>,
) -> Result<(), TooMany> {
    let Some((first, others)) = paths.split_first() else { return visit(chosen) };
    for path in first {
        chosen.push(path);
        for_each_combination(others, chosen, visit)?;
        chosen.pop();
    }
    Ok(())
}
