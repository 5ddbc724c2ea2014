//! Where values flow: nodes are components of registers, and places in memory.

use super::usage::Field;
use super::{Role, Usage};

/// A node.
pub type Node = u32;

/// How a value goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// As it is.
    Copy,
    /// As an operand of integer arithmetic.
    Arithmetic,
    /// With this constant added.
    Shifted(i64),
    /// Divided by a constant.
    Divided(u32),
    /// As an operand of float arithmetic, or rounded to an integer.
    Float,
    /// With zeros before it.
    Widened,
    /// Its bits as several narrower values.
    Split,
    /// These of its bits.
    Field(Field),
    /// As [`Step::Field`], beside what else is said of the operation.
    Part(Field),
    /// Some of its bits, which ones is not known.
    Bits,
}

/// The flow of values of a program.
#[derive(Debug, Default)]
pub struct Graph {
    usages: Vec<Usage>,
    /// Where the value of each node comes from.
    sources: Vec<Vec<(Node, Step)>>,
    /// Where it goes.
    targets: Vec<Vec<(Node, Step)>>,
    /// Representatives of places that are one.
    same: Vec<Node>,
}

impl Graph {
    /// New nodes, one after the other; the first of them.
    pub fn nodes(&mut self, count: u32) -> Node {
        let first = self.usages.len() as Node;
        for node in first..first.saturating_add(count) {
            self.usages.push(Usage::default());
            self.sources.push(Vec::new());
            self.targets.push(Vec::new());
            self.same.push(node);
        }
        first
    }

    /// The node that stands for all that are one with this.
    pub fn find(&mut self, mut node: Node) -> Node {
        while let Some(&next) = self.same.get(node as usize).filter(|next| **next != node) {
            let further = self.same.get(next as usize).copied().unwrap_or(next);
            if let Some(place) = self.same.get_mut(node as usize) {
                *place = further;
            }
            node = next;
        }
        node
    }

    /// Makes two nodes one.
    pub fn unite(&mut self, a: Node, b: Node) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        if let Some(place) = self.same.get_mut(b as usize) {
            *place = a;
        }
        for edges in [&mut self.sources, &mut self.targets] {
            let moved = edges.get_mut(b as usize).map(std::mem::take).unwrap_or_default();
            if let Some(own) = edges.get_mut(a as usize) {
                own.extend(moved);
            }
        }
        let moved = self.usages.get_mut(b as usize).map(std::mem::take).unwrap_or_default();
        self.usage(a).add(&moved);
    }

    /// A value flows from one node to another.
    pub fn flows(&mut self, from: Node, to: Node, step: Step) {
        let (from, to) = (self.find(from), self.find(to));
        if let Some(sources) = self.sources.get_mut(to as usize) {
            sources.push((from, step));
        }
        if let Some(targets) = self.targets.get_mut(from as usize) {
            targets.push((to, step));
        }
    }

    /// What a node is used as; of a node that is not there, something that nobody sees.
    pub fn usage(&mut self, node: Node) -> &mut Usage {
        let node = self.find(node) as usize;
        if node >= self.usages.len() {
            self.nodes(1);
        }
        let last = self.usages.len() - 1;
        &mut self.usages[node.min(last)]
    }

    /// Where the value of a node goes as it is.
    pub fn copies(&self, node: Node) -> Vec<Node> {
        let targets = self.targets.get(node as usize).into_iter().flatten();
        targets.filter(|(_, step)| *step == Step::Copy).map(|(target, _)| *target).collect()
    }

    /// Where the value of a node comes from.
    pub fn sources(&self, node: Node) -> Vec<(Node, Step)> {
        self.sources.get(node as usize).cloned().unwrap_or_default()
    }

    /// The nodes that values of `starts` reach.
    pub fn reached(&mut self, starts: impl IntoIterator<Item = Node>) -> Vec<bool> {
        let mut reached = vec![false; self.usages.len()];
        let mut open: Vec<Node> = starts.into_iter().collect();
        while let Some(node) = open.pop() {
            let node = self.find(node);
            let Some(seen) = reached.get_mut(node as usize).filter(|seen| !**seen) else { continue };
            *seen = true;
            let targets = self.targets.get(node as usize).into_iter().flatten();
            open.extend(targets.map(|(target, _)| *target));
        }
        reached
    }

    /// Gives every node the uses of those that its value goes to.
    pub fn propagate(&mut self) {
        let mut open: Vec<Node> = (0..self.usages.len() as Node).collect();
        while let Some(node) = open.pop() {
            let node = self.find(node);
            let Some(usage) = self.usages.get(node as usize).cloned() else { continue };
            // That is of the place, not of the values there.
            let usage = usage.without(Role::Atomic);
            if usage.is_unknown() && usage.constants().len() == 0 {
                continue;
            }
            for (source, step) in self.sources(node) {
                let own = self.usage(source);
                let is_entry = usage.is(Role::Entry) && step != Step::Float && own.set(Role::Entry);
                let changed = match step {
                    Step::Copy => {
                        let width = own.width;
                        let changed = own.add(&usage);
                        own.width = width;
                        changed
                    }
                    Step::Widened => {
                        // The bits of narrow numbers are no floats of another width.
                        let usage = usage.clone().without(Role::Float).without(Role::Packed);
                        own.add(&usage.with_width(own.width))
                    }
                    Step::Arithmetic | Step::Divided(_) | Step::Shifted(_) => {
                        let by = if let Step::Divided(by) = step { by } else { 1 };
                        let indexes = usage.is(Role::Index) || usage.is(Role::PartOfIndex);
                        let of_index = indexes && own.set(Role::PartOfIndex);
                        let of_turns =
                            usage.is(Role::Turns) && own.set_turns(usage.unit().saturating_mul(by));
                        let of_guard = usage.is(Role::Guard) && own.set(Role::Guard);
                        let of_quotient = (indexes || usage.is(Role::Guard))
                            && own.set_quotient(usage.quotient().saturating_mul(by));
                        // A product that something is divided by is one of sizes.
                        let of_divisor = usage.is(Role::Divisor) && own.set(Role::Divisor);
                        // Several shifts may be packed into a word.
                        let of_shift = usage.is(Role::Shift) && own.set(Role::Shift);
                        let is_packed = usage.is(Role::Shift) && usage.is(Role::Packed);
                        let of_packed = is_packed && own.set(Role::Packed);
                        let limit = usage.limit().filter(|_| usage.is(Role::Index));
                        let of_shifted = match (step, limit) {
                            (Step::Shifted(by), Some(limit)) => own.set_shifted_index(limit, by),
                            _ => false,
                        };
                        let of_size = of_turns | of_guard | of_quotient | of_divisor;
                        of_index | of_size | of_shift | of_packed | of_shifted
                    }
                    Step::Float => {
                        let places =
                            [Role::Coordinate, Role::PartOfCoordinate, Role::Index, Role::PartOfIndex];
                        places.into_iter().any(|role| usage.is(role)) && own.set(Role::PartOfCoordinate)
                    }
                    Step::Split if usage.is(Role::Float) => own.set(Role::Halves),
                    Step::Split => own.set(Role::Packed),
                    Step::Field(field) => {
                        let indexes = usage.is(Role::Index) || usage.is(Role::PartOfIndex);
                        let of_whole = indexes && own.set_index_field(field);
                        let of_parts = usage.index_fields().filter_map(|part| part.of(field));
                        let of_parts = of_parts.fold(false, |known, part| own.set_index_field(part) | known);
                        of_whole | of_parts | own.compare_field(field, &usage)
                    }
                    Step::Part(field) => own.compare_field(field, &usage),
                    Step::Bits => false,
                };
                if changed | is_entry {
                    open.push(source);
                }
            }
        }
    }
}
