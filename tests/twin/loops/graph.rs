//! One way of each invocation through the code, together, and what choices of reads-from and scoped modification
//! order these operations have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::program::Program;
use super::unroll::{frame, walk, Bound, End, Names, Path};
use crate::enumerate::sources;
use crate::model::{Derived, ReadsFrom, Source, Variant};
use crate::program::{Builder, Compiled, Computed};
use crate::relation::Relation;

/// How the invocations of a graph end, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All are finished.
    Finished,
    /// Some are endless; those who stand at barriers wait for these.
    Endless,
    /// At some barrier, nobody who has not come can come.
    Divergent,
}

pub struct Graph {
    pub compiled: Compiled,
    pub kind: Kind,
    pub ends: Vec<End>,
    pub faulted: bool,
    /// Turns of the loop with the most turns that somebody left.
    pub turns: usize,
    pub registers: Vec<Vec<Option<(usize, usize)>>>,
    /// What each operation of an endless loop is one turn later.
    later: BTreeMap<usize, usize>,
    /// The same from the last whole turn but one on: what must repeat.
    pub shift: BTreeMap<usize, usize>,
    /// The operations of endless turns, by how many turns they come after the last one but one.
    turn_of: BTreeMap<usize, usize>,
}

impl Graph {
    /// `None` where the paths don't go together.
    pub fn new(
        program: &Program,
        paths: &[&Path],
        bound: Bound,
        variant: Variant,
        names: &mut Names,
    ) -> Option<Graph> {
        let frame = frame(program);
        let mut builder = Builder::new(&frame);
        let mut walked = Vec::new();
        let mut first = Vec::new();
        for (thread, path) in paths.iter().enumerate() {
            first.push(builder.operations.len());
            let again = walk(program, thread, bound, &path.choices, &mut builder, names);
            walked.push(again.expect("as many choices as before").expect("not cut before"));
        }
        let kind = kind(program, &walked, &builder)?;
        let mut shift = BTreeMap::new();
        let mut turn_of = BTreeMap::new();
        let mut later = BTreeMap::new();
        for (path, first) in walked.iter().zip(first) {
            let End::Endless { turns, begun } = &path.end else { continue };
            let [.., before, last] = &turns[..] else { return None };
            let steps = |range: &Range<usize>| &path.steps[range.start - first..range.end - first];
            if steps(before) != steps(last) || !steps(last).starts_with(steps(begun)) {
                return None;
            }
            shift.extend(before.clone().zip(last.clone()).chain(last.clone().zip(begun.clone())));
            for (turn, operations) in [before, last, begun].into_iter().enumerate() {
                turn_of.extend(operations.clone().map(|operation| (operation, turn)));
            }
            let alike = turns.windows(2).filter(|turns| steps(&turns[0]) == steps(&turns[1]));
            later.extend(alike.flat_map(|turns| turns[0].clone().zip(turns[1].clone())));
            later.extend(last.clone().zip(begun.clone()));
        }
        Some(Graph {
            compiled: builder.finish(variant),
            kind,
            faulted: walked.iter().any(|path| path.faulted),
            turns: walked.iter().map(|path| path.turns).max().unwrap_or(0),
            registers: walked.iter().map(|path| path.registers.clone()).collect(),
            ends: walked.into_iter().map(|path| path.end).collect(),
            later,
            shift,
            turn_of,
        })
    }

    pub fn is_endless(&self) -> bool {
        self.ends.iter().any(|end| matches!(end, End::Endless { .. }))
    }
}

/// How all end, where barriers are passed by everybody or nobody.
fn kind(program: &Program, walked: &[Path], builder: &Builder) -> Option<Kind> {
    let shape = program.shape;
    let group = |thread: usize| shape.agent(thread).workgroup;
    let members = |workgroup: usize| (0..shape.threads()).filter(move |&thread| group(thread) == workgroup);
    for operations in builder.out.barrier_instances.values() {
        let agents: BTreeSet<usize> = operations.iter().map(|&id| builder.operations[id].agent).collect();
        let workgroup = group(*agents.first().expect("somebody passes it"));
        if members(workgroup).any(|member| !agents.contains(&member)) {
            return None;
        }
    }
    let mut kind = match walked.iter().any(|path| matches!(path.end, End::Endless { .. })) {
        true => Kind::Endless,
        false => Kind::Finished,
    };
    for workgroup in 0..shape.workgroups {
        let ends: Vec<&End> = members(workgroup).map(|member| &walked[member].end).collect();
        let standing = ends.iter().find(|end| matches!(end, End::Standing { .. }));
        let Some(standing) = standing else { continue };
        if ends.iter().all(|end| end == standing) {
            return None;
        }
        if !ends.iter().any(|end| matches!(end, End::Endless { .. } | End::Faulted)) {
            kind = Kind::Divergent;
        }
    }
    Some(kind)
}

/// Pairs of writes in scoped modification order.
pub type Order = Vec<(usize, usize)>;

/// The choices at one location.
struct Here {
    reads_from: ReadsFrom,
    orders: Vec<Order>,
}

/// Choices of reads-from and orders for all locations.
pub struct Choices {
    locations: Vec<Vec<Here>>,
}

/// Too many choices.
#[derive(Debug)]
pub struct TooMany;

/// One step less of those that are left.
pub fn take(steps: &mut usize) -> Result<(), TooMany> {
    *steps = steps.checked_sub(1).ok_or(TooMany)?;
    Ok(())
}

impl Graph {
    /// What a write gives a location, where that is the same whatever is read.
    fn constant(&self, write: usize, location: usize) -> Option<u32> {
        match self.compiled.written.get(&(write, location)) {
            Some(Computed::Constant(constant)) => Some(*constant),
            Some(Computed::Sum { .. }) | None => None,
        }
    }

    /// Whether the conditions of a read allow a value.
    fn may_read(&self, read: usize, location: usize, value: u32) -> bool {
        self.compiled.conditions.iter().all(|condition| {
            condition.reads.iter().all(|(place, equals)| {
                *place != Some((read, location)) || (*equals == value) == condition.holds
            })
        })
    }

    /// Whether each read has a source that fits, by constants alone.
    fn sources_fit(&self, program: &Program) -> bool {
        let execution = &self.compiled.execution;
        execution.operations.iter().enumerate().all(|(read, operation)| {
            let Some(access) = operation.access().filter(|access| access.reads) else { return true };
            access.locations.iter().all(|&location| {
                let fits =
                    |value: Option<u32>| value.is_none_or(|value| self.may_read(read, location, value));
                let initial = program.initial.get(location).copied().unwrap_or(0);
                fits(Some(initial))
                    || execution
                        .writes_of(location)
                        .into_iter()
                        .any(|write| write != read && fits(self.constant(write, location)))
            })
        })
    }

    /// All choices, of which each location's own is consistent with the order that its operations have without any
    /// synchronization: with some, there is more order. What is looked at is taken from `steps`.
    pub fn choices(&self, program: &Program, steps: &mut usize) -> Result<Option<Choices>, TooMany> {
        if !self.sources_fit(program) {
            return Ok(None);
        }
        let execution = &self.compiled.execution;
        let least = execution.derive(&ReadsFrom::new(), &Relation::empty(execution.size()));
        let mutual = execution.mutually_ordered();
        let sources = sources(execution);
        let mut locations = Vec::new();
        for (location, ordered) in least.location_ordered.iter().enumerate() {
            let sources: Vec<(usize, Vec<Source>)> = sources
                .iter()
                .filter(|((_, at), _)| *at == location)
                .map(|((read, _), possible)| {
                    let fits = |source: &&Source| match **source {
                        Source::Initial => {
                            let initial = program.initial.get(location).copied().unwrap_or(0);
                            self.may_read(*read, location, initial)
                        }
                        Source::Write(write) => self
                            .constant(write, location)
                            .is_none_or(|value| self.may_read(*read, location, value)),
                    };
                    (*read, possible.iter().filter(fits).copied().collect())
                })
                .collect();
            let mut found: BTreeMap<ReadsFrom, Vec<Order>> = BTreeMap::new();
            let writes = execution.writes_of(location);
            for order in orders(&writes, &mutual, ordered, steps)? {
                let mut base = ordered.clone();
                order.iter().for_each(|&(a, b)| base.insert(a, b));
                let (writes, mutual, sources) = (&writes[..], &mutual, &sources[..]);
                let found_here = Vec::new();
                let mut here = AtLocation {
                    graph: self,
                    location,
                    writes,
                    mutual,
                    base,
                    sources,
                    found: found_here,
                    steps,
                };
                here.choose(0, &mut ReadsFrom::new())?;
                for reads_from in here.found {
                    found.entry(reads_from).or_default().push(order.clone());
                }
            }
            if found.is_empty() {
                return Ok(None);
            }
            locations
                .push(found.into_iter().map(|(reads_from, orders)| Here { reads_from, orders }).collect());
        }
        Ok(Some(Choices { locations }))
    }

    /// In an endless graph, what the reads of the last turns read is what those of the turns before read, or one
    /// turn later.
    fn repeats(&self, reads_from: &ReadsFrom, location: usize) -> bool {
        self.shift.iter().all(|(&before, &last)| {
            let (Some(&earlier), Some(&later)) =
                (reads_from.get(&(before, location)), reads_from.get(&(last, location)))
            else {
                return true;
            };
            earlier == later || self.shifted(earlier) == Some(later)
        })
    }

    pub fn shifted(&self, source: Source) -> Option<Source> {
        match source {
            Source::Initial => None,
            Source::Write(write) => self.later.get(&write).map(|&write| Source::Write(write)),
        }
    }
}

/// The reads of one location, one after the other.
struct AtLocation<'g> {
    graph: &'g Graph,
    location: usize,
    writes: &'g [usize],
    mutual: &'g Relation,
    /// The least location order, and scoped modification order.
    base: Relation,
    sources: &'g [(usize, Vec<Source>)],
    found: Vec<ReadsFrom>,
    steps: &'g mut usize,
}

impl AtLocation<'_> {
    fn choose(&mut self, next: usize, reads_from: &mut ReadsFrom) -> Result<(), TooMany> {
        take(self.steps)?;
        if !self.may_be_consistent(reads_from) {
            return Ok(());
        }
        let Some((read, possible)) = self.sources.get(next) else {
            if self.graph.kind != Kind::Endless || self.graph.repeats(reads_from, self.location) {
                self.found.push(reads_from.clone());
            }
            return Ok(());
        };
        for &source in possible {
            reads_from.insert((*read, self.location), source);
            self.choose(next + 1, reads_from)?;
        }
        reads_from.remove(&(*read, self.location));
        Ok(())
    }

    /// Without what synchronizes, no cycle yet.
    fn may_be_consistent(&self, reads_from: &ReadsFrom) -> bool {
        let mut union = self.base.clone();
        let by_location = self.graph.compiled.execution.variant.from_reads_by_location_order;
        for (&(read, _), &source) in reads_from {
            if let Source::Write(write) = source {
                union.insert(write, read);
            }
            for &later in self.writes.iter().filter(|&&write| write != read) {
                let is_later = match source {
                    Source::Initial => true,
                    Source::Write(write) => {
                        // The base has both orders; those in scoped modification order are mutually ordered.
                        self.base.contains(write, later)
                            && (by_location || self.mutual.contains(write, later))
                    }
                };
                if is_later {
                    union.insert(read, later);
                }
            }
        }
        union.is_acyclic()
    }
}

/// The acyclic orientations of the mutually-ordered pairs of these writes that agree with an order.
fn orders(
    writes: &[usize],
    mutual: &Relation,
    ordered: &Relation,
    steps: &mut usize,
) -> Result<Vec<Order>, TooMany> {
    let mut orders = vec![Vec::new()];
    for (position, &a) in writes.iter().enumerate() {
        for &b in writes[position + 1..].iter().filter(|&&b| mutual.contains(a, b)) {
            let mut extended = Vec::new();
            for order in orders {
                for pair in [(a, b), (b, a)] {
                    take(steps)?;
                    if ordered.contains(pair.1, pair.0) {
                        continue;
                    }
                    let mut order: Order = order.clone();
                    order.push(pair);
                    let mut relation = ordered.clone();
                    order.iter().for_each(|&(a, b)| relation.insert(a, b));
                    if relation.is_acyclic() {
                        extended.push(order);
                    }
                }
            }
            orders = extended;
        }
    }
    Ok(orders)
}

impl Choices {
    /// How many choices of reads-from and orders there are.
    pub fn candidates(&self) -> Option<usize> {
        let here = |here: &[Here]| here.iter().map(|here| here.orders.len()).sum();
        self.locations.iter().try_fold(1usize, |count, choices| count.checked_mul(here(choices)))
    }

    /// How many choices of reads-from there are.
    pub fn count(&self) -> Option<usize> {
        self.locations.iter().try_fold(1usize, |count, here| count.checked_mul(here.len()))
    }

    /// One of them: reads-from of all locations, and for each location its orders.
    pub fn reads_from(&self, mut number: usize) -> (ReadsFrom, Vec<&[Order]>) {
        let mut reads_from = ReadsFrom::new();
        let mut orders = Vec::new();
        for here in &self.locations {
            let chosen = &here[number % here.len()];
            number /= here.len();
            reads_from.extend(chosen.reads_from.iter().map(|(read, source)| (*read, *source)));
            orders.push(&chosen.orders[..]);
        }
        (reads_from, orders)
    }
}

/// All choices of one order for each location, as one relation.
pub fn joined(size: usize, orders: &[&[Order]]) -> Vec<Relation> {
    let mut all = vec![Relation::empty(size)];
    for here in orders {
        let extend = |relation: Relation| {
            here.iter().map(move |order| {
                let mut relation = relation.clone();
                order.iter().for_each(|&(a, b)| relation.insert(a, b));
                relation
            })
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}

/// Whether each write of an endless execution becomes visible, and to everybody: no read stays before the same write in
/// every turn, in location order or what from-reads is, and no write comes after those of infinitely many turns.
pub fn is_fair(graph: &Graph, reads_from: &ReadsFrom, order: &Relation, derived: &Derived) -> bool {
    let execution = &graph.compiled.execution;
    let turn_of = |operation: &usize| graph.turn_of.get(operation);
    derived.location_ordered.iter().enumerate().all(|(location, ordered)| {
        let from_reads = execution.derive_from_reads(location, reads_from, order, ordered);
        let writes = execution.writes_of(location);
        graph.shift.iter().all(|(&before, &last)| {
            let comes_last = |write: &usize| {
                turn_of(write).is_none() && (order.contains(last, *write) || ordered.contains(last, *write))
            };
            if execution.operations[last].writes() && writes.iter().any(comes_last) {
                return false;
            }
            let Some(&source) = reads_from.get(&(last, location)) else { return true };
            // From the same write in every turn: what overwrites that is never seen.
            let stays = reads_from.get(&(before, location)) == Some(&source);
            let may_be_later = |write: &usize| turn_of(write) >= turn_of(&last);
            let is_overwritten =
                |write: usize| matches!(source, Source::Write(seen) if ordered.contains(seen, write));
            let is_later = |write: usize| from_reads.contains(last, write) || is_overwritten(write);
            let mut later = writes.iter().filter(|&&write| is_later(write));
            later.all(|write| !stays && may_be_later(write))
        })
    })
}
