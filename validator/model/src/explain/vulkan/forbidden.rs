//! Why a graph is forbidden, in words: a sentence for a shader programmer, then the named relations.

use super::cycle::{self, Edge, Named, Older, Orientation, Proof};
use super::derivation::{Derived, Deriver, Step, Through};
use crate::consistency::{self, Judge};
use crate::explain::Explanation;
use crate::explain::{listed, long, short, Names};
use crate::graph::{Graph, Unit};
use crate::release_sequence::Sequences;
use crate::vulkan::{self, Relations, Variant};

/// Events of a graph beyond which nothing is searched for.
const MAX_EVENTS: usize = 128;

/// Why the axioms allow no execution with this graph; `None` if they do.
///
/// Implements nothing of the model: the cycle or the shadowed write is one that
/// [`Judge`] rejects ("Acyclicity" and "Visible-To" of the appendix).
pub fn forbidden(graph: &Graph, variant: Variant, names: &dyn Names) -> Option<Explanation> {
    let candidates = consistency::candidates(graph, variant)?;
    let is_execution = |relations: &Relations| Judge { graph, relations, variant }.is_consistent();
    if candidates.iter().any(is_execution) {
        return None;
    }
    // What holds whatever modification order is comes first.
    let certain = vulkan::relations_with(graph, variant, Sequences::Certain);
    let relations = std::iter::once(&certain).chain(&candidates);
    let refuted = relations.filter(|_| graph.events.len() <= MAX_EVENTS).find_map(|relations| {
        let proof = cycle::refute(&Judge { graph, relations, variant })?;
        let teller = Teller {
            deriver: Deriver::new(graph, relations, variant),
            long: &|event| long(&graph.events[event], names),
            short: &|event| short(&graph.events[event], graph, names),
            names,
        };
        Some((teller.proof(&proof), relations.modification_order.is_some() && candidates.len() > 1))
    });
    let unsaid = || Explanation {
        sentence: "no scoped modification order makes this an execution".to_owned(),
        chain: Vec::new(),
    };
    let (explanation, one_of_several) = refuted.unwrap_or_else(|| (unsaid(), false));
    if !one_of_several {
        return Some(explanation);
    }
    let Explanation { sentence, chain } = explanation;
    let mut steps = vec![format!("with one of them: {sentence}")];
    steps.extend(chain.into_iter().map(|step| format!("  {step}")));
    let sentence = format!(
        "none of the {} scoped modification orders that release sequences depend on makes this an execution",
        candidates.len()
    );
    Some(Explanation { sentence, chain: steps })
}

/// Tells proofs and orderings.
pub(super) struct Teller<'a> {
    pub(super) deriver: Deriver<'a>,
    /// An event with all that tells it apart.
    pub(super) long: &'a dyn Fn(usize) -> String,
    /// An event by its line.
    pub(super) short: &'a dyn Fn(usize) -> String,
    pub(super) names: &'a dyn Names,
}

impl Teller<'_> {
    pub(super) fn proof(&self, proof: &Proof) -> Explanation {
        match proof {
            Proof::Shadowed { write, later, read, unit } => Explanation {
                sentence: format!(
                    "{} cannot read from {}: {} overwrites that before",
                    (self.long)(*read),
                    (self.short)(*write),
                    (self.long)(*later)
                ),
                chain: vec![
                    self.location_ordered(*write, *later, *unit),
                    self.location_ordered(*later, *read, *unit),
                    format!("so that {} is not visible-to {}", (self.short)(*write), (self.short)(*read)),
                ],
            },
            Proof::Cycle(cycle) => Explanation {
                sentence: self.sentence(cycle),
                chain: cycle.iter().map(|edge| self.edge(edge)).collect(),
            },
            Proof::BothWays { first, second, forward, backward } => {
                let mut chain = Vec::new();
                for (first, second, proof) in [(first, second, forward), (second, first, backward)] {
                    let Explanation { sentence, chain: steps } = self.proof(proof);
                    let (first, second) = ((self.short)(*first), (self.short)(*second));
                    chain.push(format!("with {first} before {second}: {sentence}"));
                    chain.extend(steps.into_iter().map(|step| format!("  {step}")));
                }
                let sentence = format!(
                    "neither {} nor {} can come first in scoped modification order",
                    (self.long)(*first),
                    (self.long)(*second)
                );
                Explanation { sentence, chain }
            }
        }
    }

    /// A cycle in one sentence.
    fn sentence(&self, cycle: &[Edge]) -> String {
        if let [a, b] = cycle {
            if let Some(sentence) = self.pair(a, b).or_else(|| self.pair(b, a)) {
                return sentence;
            }
        }
        let parts: Vec<String> = cycle.iter().map(|edge| self.clause(edge)).collect();
        format!("no order of events fits all of this: {}", parts.join("; "))
    }

    /// Two edges that make a cycle, where there is a plain way to say it.
    fn pair(&self, first: &Edge, second: &Edge) -> Option<String> {
        let (a, b) = (first.from, first.to);
        let ordered = matches!(first.relation, Named::LocationOrdered(_));
        Some(match (&first.relation, &second.relation) {
            (Named::FromReads(Older::Initial), Named::FromReads(Older::Initial)) => format!(
                "{} and {} cannot both take the initial value: one of them would have to overlook what the \
                 other writes",
                (self.long)(a),
                (self.long)(b)
            ),
            (_, Named::FromReads(Older::Initial)) if ordered => {
                format!(
                    "{} cannot read the initial value: {} comes before it",
                    (self.long)(b),
                    (self.long)(a)
                )
            }
            (
                _,
                Named::FromReads(Older::LocationOrdered(write, _) | Older::ScopedModificationOrder(write, _)),
            ) if ordered => format!(
                "{} cannot read the older value of {}: {} comes before it",
                (self.long)(b),
                (self.short)(*write),
                (self.long)(a)
            ),
            (
                Named::ScopedModificationOrder(_),
                Named::FromReads(Older::LocationOrdered(write, _) | Older::ScopedModificationOrder(write, _)),
            ) => format!(
                "{} cannot come between {} and {}, which reads from it",
                (self.long)(a),
                (self.short)(*write),
                (self.long)(b)
            ),
            (Named::LocationOrdered(_), Named::ReadsFrom) => {
                format!("{} cannot read from {}, which comes only after it", (self.long)(a), (self.long)(b))
            }
            (
                Named::LocationOrdered(_)
                | Named::ReadsFrom
                | Named::FromReads(_)
                | Named::ScopedModificationOrder(_),
                _,
            ) => return None,
        })
    }

    /// An edge in few words.
    fn clause(&self, edge: &Edge) -> String {
        let (from, to) = self.two(edge.from, edge.to);
        match edge.relation {
            Named::LocationOrdered(_) => format!("{from} is ordered before {to}"),
            Named::ReadsFrom => format!("{to} reads from {from}"),
            Named::FromReads(_) => format!("{from} reads a value older than that of {to}"),
            Named::ScopedModificationOrder(_) => {
                format!("{from} precedes {to} in scoped modification order")
            }
        }
    }

    /// An edge with its reason.
    fn edge(&self, edge: &Edge) -> String {
        let (from, to) = self.two(edge.from, edge.to);
        match &edge.relation {
            Named::LocationOrdered(unit) => self.location_ordered(edge.from, edge.to, *unit),
            Named::ReadsFrom => format!("reads-from: {to} reads from {from}"),
            Named::FromReads(older) => {
                let reason = match older {
                    Older::Initial => "the initial value".to_owned(),
                    Older::LocationOrdered(write, unit) => format!(
                        "the value of {}, which is location-ordered before that {}",
                        (self.short)(*write),
                        self.way(*write, edge.to, *unit)
                    ),
                    Older::ScopedModificationOrder(write, reason) => format!(
                        "the value of {}, which precedes that in scoped modification order{}",
                        (self.short)(*write),
                        self.orientation(reason)
                    ),
                };
                format!("from-reads: {from} before {to}: it reads {reason}")
            }
            Named::ScopedModificationOrder(reason) => {
                format!("scoped modification order: {from} before {to}{}", self.orientation(reason))
            }
        }
    }

    fn orientation(&self, orientation: &Orientation) -> String {
        match orientation {
            Orientation::Assumed => String::new(),
            Orientation::Forced(cycle) => {
                // The orientation that was refuted needs no telling.
                let others = cycle.iter().filter(|edge| {
                    !matches!(edge.relation, Named::ScopedModificationOrder(Orientation::Assumed))
                });
                let parts: Vec<String> = others.map(|edge| self.clause(edge)).collect();
                format!(" (since {})", listed(&parts))
            }
        }
    }

    /// Why one access is location-ordered before another.
    pub(super) fn location_ordered(&self, from: usize, to: usize, unit: Unit) -> String {
        let (first, last) = self.two(from, to);
        format!("location-ordered: {first} before {last} {}", self.way(from, to, unit))
    }

    /// Two events by their lines; with their invocations where that is the same line.
    fn two(&self, a: usize, b: usize) -> (String, String) {
        let events = &self.deriver.graph.events;
        let name = if events[a].line == events[b].line { self.long } else { self.short };
        (name(a), name(b))
    }

    fn way(&self, from: usize, to: usize, unit: Unit) -> String {
        let derived = self.deriver.location_ordered(from, to, unit);
        derived.map_or_else(String::new, |derived| self.derived(from, &derived))
    }

    /// The steps of an ordering that begins at `from`, and the operations that it needs.
    pub(super) fn derived(&self, from: usize, derived: &Derived) -> String {
        let last = derived.links.len().saturating_sub(1);
        let mut at = from;
        let mut steps = Vec::new();
        for (position, (step, to)) in derived.links.iter().enumerate() {
            let there = match position == last {
                true => "it".to_owned(),
                false => self.seen_from(at, *to),
            };
            steps.push(match step {
                Step::ProgramOrder if last == 0 => "program order".to_owned(),
                Step::ProgramOrder if position == last => "then program order".to_owned(),
                Step::ProgramOrder => format!("program order to {there}"),
                Step::SynchronizesWith => {
                    format!("which synchronizes with {there}{}", self.through(at, *to))
                }
                Step::SystemSynchronizesWith => format!("which system-synchronizes with {there}"),
            });
            at = *to;
        }
        let mut text = format!("by {}", steps.join(", "));
        let by = |events: &[usize]| {
            let names: Vec<String> = events.iter().map(|event| (self.short)(*event)).collect();
            names.join(", then ")
        };
        if !derived.available.is_empty() {
            text.push_str(&format!("; made available by {}", by(&derived.available)));
        }
        if !derived.visible.is_empty() {
            text.push_str(&format!(", made visible by {}", by(&derived.visible)));
        }
        text
    }

    /// An event by its line, or by who executes it, where that is the line of the event before.
    fn seen_from(&self, from: usize, to: usize) -> String {
        let events = &self.deriver.graph.events;
        match (events[from].line == events[to].line, events[to].is_fence()) {
            (true, true) => format!("that of {}", self.names.agent(events[to].agent)),
            (true, false) | (false, _) => (self.short)(to),
        }
    }

    fn through(&self, from: usize, to: usize) -> String {
        match self.deriver.through(from, to) {
            None => String::new(),
            Some(Through::Barrier(barrier)) => format!(" (through {})", (self.short)(barrier)),
            Some(Through::Atomics(write, read)) => {
                format!(" (since {} reads from {})", (self.short)(read), (self.short)(write))
            }
        }
    }
}
