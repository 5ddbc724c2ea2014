//! Both modules run side by side.
//!
//! By induction over the steps of an execution: as long as all values that had an effect were equal in both, both ran the same
//! blocks, what they loaded is the same, and so is what anyone else sees of them. What has to be equal for that to go
//! on is a demand. Where before's behaviour is undefined, nothing is demanded.

mod again;
mod ahead;
mod align;
mod diamonds;
mod lost;
mod sinks;
mod turns;

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Function, Instruction, Module};
use rspirv::spirv::Op;

use super::super::equivalent::Bounds;
use super::evaluate::{evaluate, ids, Asides, Meaning};
use super::graph::Graph;
use super::loops::{Limit, Loops};
use super::side::Side;
use super::terms::{Term, Terms};
use super::value::{Shape, Value};
use align::{align, Pair};
use diamonds::Diamond;

/// How often values of OpPhi that differ may turn out to be more.
const ROUNDS: usize = 8;

/// An instruction: function, block, and place in it.
type Place = (usize, usize, usize);

/// What must be equal.
struct Demand {
    function: usize,
    block: usize,
    /// The part of the block that it is in.
    segment: usize,
    /// Known besides, on an edge to a successor.
    edge: Option<Term>,
    pairs: Vec<(Term, Term)>,
    /// The value of OpPhi that may differ instead.
    phi: Option<Place>,
    /// The branch that this is the condition of, if both ways may turn out to do nothing but compute.
    crosses: Option<(usize, usize)>,
}

/// What follows from before's behaviour being defined, in a part of a block.
struct Fact {
    segment: usize,
    term: Term,
}

pub struct Lockstep<'m, 't> {
    functions: Vec<(&'m Function, &'m Function)>,
    before: Side<'m>,
    after: Side<'m>,
    bounds: Bounds<'m>,
    terms: &'t mut Terms,
    /// Values of OpPhi that are not known to be equal.
    apart: HashSet<Place>,
    /// Instructions that differ, but whose values are shown to be equal.
    alike: HashSet<Place>,
    /// What must be equal for instructions that differ to have equal values, with those.
    origins: Vec<(Place, Demand)>,
    facts: HashMap<(usize, usize), Vec<Fact>>,
    demands: Vec<Demand>,
    /// Conditions of branches.
    conditions: HashMap<(usize, usize), Term>,
    opposites: HashMap<(usize, usize), Term>,
    /// Branches whose conditions differ, by where their ways meet.
    open: HashMap<(usize, usize), Diamond>,
    /// Blocks that do more than to compute.
    effects: HashSet<(usize, usize)>,
    /// Ways that after takes without before, and where it does so.
    crossed: HashMap<(usize, usize), Term>,
    /// Where such ways meet.
    met: HashSet<(usize, usize)>,
    /// Stores that after lacks, and that are not shown to be overwritten yet.
    lost: Vec<Place>,
}

impl<'m, 't> Lockstep<'m, 't> {
    pub fn of(before: &'m Module, after: &'m Module, terms: &'t mut Terms) -> Self {
        Lockstep {
            functions: before.functions.iter().zip(&after.functions).collect(),
            before: Side::of(before),
            after: Side::of(after),
            bounds: Bounds::of(before),
            terms,
            apart: HashSet::new(),
            alike: HashSet::new(),
            origins: Vec::new(),
            facts: HashMap::new(),
            demands: Vec::new(),
            conditions: HashMap::new(),
            opposites: HashMap::new(),
            open: HashMap::new(),
            effects: HashSet::new(),
            crossed: HashMap::new(),
            met: HashSet::new(),
            lost: Vec::new(),
        }
    }

    /// Whether nothing that has an effect can differ.
    pub fn holds(mut self) -> bool {
        self.is_shown().is_some()
    }

    fn is_shown(&mut self) -> Option<()> {
        let graphs: Vec<(Graph, Graph)> =
            self.functions.iter().map(|(one, other)| (Graph::of(one), Graph::of(other))).collect();
        for _ in 0..ROUNDS {
            self.walk_all(&graphs)?;
            // Where the changed value is equal, no other is asked for; what is computed of it is another term then.
            while self.settle(&graphs) {
                self.walk_all(&graphs)?;
            }
            for place in std::mem::take(&mut self.lost) {
                if !self.is_overwritten(place, &graphs[place.0]) {
                    return None;
                }
            }
            let mut differ = Vec::new();
            let mut demands = std::mem::take(&mut self.demands);
            demands.retain(|demand| demand.pairs.iter().any(|(one, other)| one != other));
            for demand in demands {
                let known = self.known(&demand, &graphs[demand.function].0);
                match demand.phi {
                    _ if self.terms.agree(&known, &demand.pairs) => {}
                    Some(phi) => differ.push(phi),
                    None if self.idles(&demand, &graphs[demand.function]) => {}
                    None => return None,
                }
            }
            if differ.is_empty() {
                return Some(());
            }
            self.apart.extend(differ);
            self.alike.clear();
        }
        None
    }

    /// Finds what is alike though it differs, and whether that is more than before.
    fn settle(&mut self, graphs: &[(Graph, Graph)]) -> bool {
        let known = self.alike.len();
        for (place, demand) in std::mem::take(&mut self.origins) {
            let known = self.known(&demand, &graphs[demand.function].0);
            if self.terms.agree(&known, &demand.pairs) {
                self.alike.insert(place);
            }
        }
        self.alike.len() > known
    }

    fn walk_all(&mut self, graphs: &[(Graph, Graph)]) -> Option<()> {
        self.facts.clear();
        self.demands.clear();
        self.origins.clear();
        self.open.clear();
        self.effects.clear();
        self.crossed.clear();
        self.met.clear();
        self.lost.clear();
        graphs.iter().enumerate().try_for_each(|(function, graphs)| self.walk(function, graphs))
    }

    /// What holds where something is demanded: conditions of branches on the way, and that before was defined so far.
    /// That is also known of the rest of the block, up to where another invocation could end everything.
    fn known(&mut self, demand: &Demand, graph: &Graph) -> Vec<Term> {
        let mut known: Vec<Term> = demand.edge.into_iter().collect();
        known.extend(self.ahead(demand, graph));
        for block in graph.dominating(demand.block) {
            let facts = self.facts.get(&(demand.function, block)).map_or(&[][..], Vec::as_slice);
            let is_inside = block == demand.block;
            let before = facts.iter().filter(|fact| !is_inside || fact.segment <= demand.segment);
            known.extend(before.map(|fact| fact.term));
            if let Some(crossed) = self.crossed.get(&(demand.function, block)) {
                known.push(*crossed);
            } else if let Some(from) = graph.entered_from(block) {
                known.extend(self.edge(demand.function, from, block, graph));
            }
        }
        known
    }

    /// What holds where control goes from one block to another.
    fn edge(&mut self, function: usize, from: usize, to: usize, graph: &Graph) -> Option<Term> {
        let condition = *self.conditions.get(&(function, from))?;
        match *graph.successors(from) {
            [holds, fails] if holds == fails => None,
            [holds, _] if holds == to => Some(condition),
            [_, fails] if fails == to => Some(self.terms.not(condition)),
            _ => None,
        }
    }

    /// Evaluates a function; `None` where both do not correspond.
    fn walk(&mut self, function: usize, graphs: &(Graph, Graph)) -> Option<()> {
        let (before, after) = self.functions[function];
        if before.blocks.len() != after.blocks.len() || before.parameters.len() != after.parameters.len() {
            return None;
        }
        for (at, (one, other)) in before.parameters.iter().zip(&after.parameters).enumerate() {
            self.result(&format!("parameter {at} of {function}"), one, other, false)?;
        }
        for (block, (one, other)) in before.blocks.iter().zip(&after.blocks).enumerate() {
            let meeting = self.meet(function, block);
            let mut segment = 0;
            for (at, pair) in align(&one.instructions, &other.instructions).into_iter().enumerate() {
                let place = (function, block, at);
                let name = format!("{function} {block} {at}");
                self.before.enter(&name);
                self.after.enter(&name);
                let (one, other) = match pair {
                    Pair::Both(one, other) => (one, other),
                    Pair::Before(one) if one.class.opcode == Op::Store => {
                        let store = before.blocks[block]
                            .instructions
                            .iter()
                            .position(|inst| std::ptr::eq(inst, one))?;
                        self.lost.push((function, block, store));
                        self.effects.insert((function, block));
                        continue;
                    }
                    Pair::Before(one) => {
                        self.alone(place, segment, (one, true))?;
                        continue;
                    }
                    Pair::After(other) => {
                        self.alone(place, segment, (other, false))?;
                        continue;
                    }
                };
                if one.class.opcode == Op::Phi && other.class.opcode == Op::Phi && meeting.is_some() {
                    self.chosen(place, meeting.as_ref()?, (one, other), graphs)?;
                    continue;
                }
                if one.class.opcode == Op::Phi || other.class.opcode == Op::Phi {
                    self.effects.insert((function, block));
                    let is_apart = self.apart.contains(&place);
                    self.result(&name, one, other, is_apart)?;
                    continue;
                }
                self.step(place, segment, (one, other), graphs)?;
                segment += usize::from(ahead::waits(one.class.opcode));
            }
            if meeting.is_some() {
                self.met.insert((function, block));
            }
        }
        self.limit(function, &graphs.0);
        self.incoming(function, graphs)
    }

    /// Notes what loops say of their counters and of what these are compared with.
    fn limit(&mut self, function: usize, graph: &Graph) {
        let (code, _) = self.functions[function];
        let (side, bounds, terms) = (&mut self.before, &self.bounds, &mut *self.terms);
        let limits = Loops { function: code, graph, side, bounds, terms }.limits();
        for limit in limits {
            let place = (function, limit.block);
            for (id, more) in [(limit.bound, 0), (limit.counter, limit.step)] {
                let Some(greatest) = limit.greatest else { continue };
                let value = self.before.value(id, self.terms).and_then(|value| value.one());
                let Some(value) = value.filter(|value| value.bits() == 32) else { continue };
                let most = self.terms.number(32, greatest + more);
                let term = self.terms.apply("bvule", &[value, most], 0);
                self.facts.entry(place).or_default().push(Fact { segment: 0, term });
            }
            self.relate(function, &limit, graph);
        }
    }

    /// Notes what the bound of a counter and its first value have to do with each other.
    fn relate(&mut self, function: usize, limit: &Limit, graph: &Graph) -> Option<()> {
        let mut of = |id: u32| self.before.value(id, self.terms)?.one().filter(|value| value.bits() == 32);
        let (first, bound, counter) = (of(limit.first?)?, of(limit.bound)?, of(limit.counter)?);
        if limit.most + limit.step > u64::from(u32::MAX) {
            return None;
        }
        let terms = &mut *self.terms;
        let is_near = |value: Term, most: u64, terms: &mut Terms| {
            let most = terms.number(32, most);
            let difference = terms.apply("bvsub", &[value, first], 32);
            terms.apply("bvule", &[difference, most], 0)
        };
        let enters = terms.apply(if limit.includes { "bvule" } else { "bvult" }, &[first, bound], 0);
        let near = is_near(bound, limit.most, terms);
        let facts = [terms.apply("=>", &[enters, near], 0), is_near(counter, limit.most + limit.step, terms)];
        let own = self.facts.entry((function, limit.block)).or_default();
        own.extend(facts.into_iter().map(|term| Fact { segment: 0, term }));
        // The first turn was entered by the same comparison.
        if graph.entered_from(limit.turn) == Some(limit.block) {
            self.facts.entry((function, limit.turn)).or_default().push(Fact { segment: 0, term: enters });
        }
        Some(())
    }

    /// The results of two instructions that correspond: any value, the same in both unless they are apart.
    fn result(&mut self, name: &str, one: &Instruction, other: &Instruction, is_apart: bool) -> Option<()> {
        if one.class.opcode != other.class.opcode || one.result_type != other.result_type {
            return None;
        }
        let (Some(id), Some(counterpart)) = (one.result_id, other.result_id) else {
            return (one.result_id == other.result_id).then_some(());
        };
        let shape = self.before.shape(one.result_type?)?;
        let value = self.symbols(name, &shape);
        self.bound(id, &value);
        let opposite =
            if is_apart { self.symbols(&format!("{name} of after"), &shape) } else { value.clone() };
        self.before.set(id, value);
        self.after.set(counterpart, opposite);
        Some(())
    }

    fn symbols(&mut self, name: &str, shape: &Shape) -> Value {
        let terms = &mut *self.terms;
        shape.fill(&mut Vec::new(), &mut |part, bits| terms.symbol(&format!("result {name} {part:?}"), bits))
    }

    /// States the upper bound that a value of before has.
    fn bound(&mut self, id: u32, value: &Value) {
        let Some(width) = self.bounds.width(id).filter(|width| *width <= 32) else { return };
        let bound = self.bounds.get(id);
        if bound >= u64::MAX >> (64 - width) {
            return;
        }
        for leaf in value.leaves().into_iter().filter(|leaf| leaf.bits() == width) {
            let greatest = self.terms.number(width, bound);
            let fact = self.terms.apply("bvule", &[leaf, greatest], 0);
            self.terms.fact(fact);
        }
    }

    fn step(
        &mut self,
        place: Place,
        segment: usize,
        (one, other): (&'m Instruction, &'m Instruction),
        graphs: &(Graph, Graph),
    ) -> Option<()> {
        let (function, block, _) = place;
        let (mut ours, mut theirs) = (Asides::default(), Asides::default());
        let meaning = evaluate(one, &mut self.before, self.terms, &mut ours)?;
        let opposite = evaluate(other, &mut self.after, self.terms, &mut theirs)?;
        let mut known = self.choose_undefined(&ours, &meaning, &opposite);
        let (defined, mut demanded) = (ours.defined, theirs.defined);
        // What is undefined in both is not asked for.
        demanded.retain(|term| !defined.contains(term));
        let facts = self.facts.entry((function, block)).or_default();
        known.extend(defined);
        facts.extend(known.into_iter().map(|term| Fact { segment, term }));
        let holds = self.terms.truth(true);
        let is_value = matches!((&meaning, &opposite), (Meaning::Value(_), Meaning::Value(_)));
        if !is_value && one.class.opcode != Op::Branch {
            self.effects.insert((function, block));
        }
        let pairs: Vec<(Term, Term)> = match (meaning, opposite) {
            (Meaning::Value(value), Meaning::Value(opposite)) => {
                if one.class.opcode == Op::Load {
                    self.bound(one.result_id?, &value);
                }
                self.computed(place, segment, (one, value), (other, opposite))?;
                demanded.into_iter().map(|term| (term, holds)).collect()
            }
            // What was loaded has no effect by itself.
            (Meaning::Effect, Meaning::Value(opposite)) if one.class.opcode == Op::Load => {
                let shape = self.before.shape(one.result_type?)?;
                let value = self.symbols(&self.before.place.clone(), &shape);
                self.bound(one.result_id?, &value);
                self.computed(place, segment, (one, value), (other, opposite))?;
                demanded.into_iter().map(|term| (term, holds)).collect()
            }
            (Meaning::Effect, Meaning::Effect) => {
                let pairs = self.operands(one, other, (function, block), graphs)?;
                self.access(one, (function, block), segment);
                let name = self.before.place.clone();
                self.result(&name, one, other, false)?;
                if let Some(value) = one.result_id.and_then(|id| self.before.value(id, self.terms)) {
                    self.before.note(one, &[], &value, self.terms);
                }
                pairs
            }
            _ => return None,
        };
        let mut crosses = None;
        if one.class.opcode == Op::BranchConditional && pairs.iter().any(|(one, other)| one != other) {
            if let Some(diamond) = self.diamond(function, block, graphs) {
                crosses = Some((function, block));
                self.open.insert((function, diamond.end), diamond);
            }
        }
        for pair in pairs {
            let pairs = vec![pair];
            self.demands.push(Demand { function, block, segment, edge: None, pairs, phi: None, crosses });
        }
        Some(())
    }

    /// Evaluates what is in one module only, where nobody needs what it computes in the other one.
    fn alone(
        &mut self,
        place: Place,
        segment: usize,
        (inst, is_before): (&'m Instruction, bool),
    ) -> Option<()> {
        let (function, block, _) = place;
        let side = if is_before { &mut self.before } else { &mut self.after };
        let mut asides = Asides::default();
        let Meaning::Value(value) = evaluate(inst, side, self.terms, &mut asides)? else { return None };
        side.set(inst.result_id?, value);
        let holds = self.terms.truth(true);
        for term in asides.defined {
            if is_before {
                self.facts.entry((function, block)).or_default().push(Fact { segment, term });
            } else {
                let pairs = vec![(term, holds)];
                self.demands.push(Demand {
                    function,
                    block,
                    segment,
                    edge: None,
                    pairs,
                    phi: None,
                    crosses: None,
                });
            }
        }
        Some(())
    }

    /// What before leaves undefined may be what after has there. What that is may be another term the next time.
    fn choose_undefined(&mut self, asides: &Asides, meaning: &Meaning, opposite: &Meaning) -> Vec<Term> {
        let (Meaning::Value(value), Meaning::Value(opposite)) = (meaning, opposite) else {
            return Vec::new();
        };
        let (ours, theirs) = (value.leaves().len(), opposite.leaves());
        if asides.any.len() != ours || theirs.len() != ours {
            return Vec::new();
        }
        let pairs = asides.any.iter().zip(theirs).filter(|(any, other)| any.bits() == other.bits());
        pairs.map(|(any, other)| self.terms.apply("=", &[*any, other], 0)).collect()
    }

    /// Sets what two instructions compute.
    fn computed(
        &mut self,
        place: Place,
        segment: usize,
        (one, value): (&Instruction, Value),
        (other, mut opposite): (&Instruction, Value),
    ) -> Option<()> {
        let (function, block, _) = place;
        let mut pairs = Vec::new();
        let mut is_same = |id| self.before.value(id, self.terms) == self.after.value(id, self.terms);
        // A load of memory that nobody writes is of another place, which may hold the same.
        let is_origin = one.class.opcode == Op::Load || ids(other).all(&mut is_same);
        if value != opposite && is_origin && value.pairs(&opposite, &mut pairs).is_some() {
            if self.alike.contains(&place) {
                opposite = value.clone();
            } else {
                let demand = Demand { function, block, segment, edge: None, pairs, phi: None, crosses: None };
                self.origins.push((place, demand));
            }
        }
        self.before.set(one.result_id?, value);
        self.after.set(other.result_id?, opposite);
        Some(())
    }
}
