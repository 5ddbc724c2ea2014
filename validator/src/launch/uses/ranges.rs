//! How large values can be, whatever the host fills memory with: what stays within a table by itself is no index that
//! inputs have to keep there.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::addresses::{constant, Object};
use super::flow::Flow;
use super::graph::{Graph, Node, Step};
use super::Role;
use crate::event::StorageClass;
use crate::ir::{BinaryOp, Operand, Program};

/// Computations that are followed back from one value, one behind the other.
const MAX_DEPTH: usize = 64;

/// An operand of a computation.
#[derive(Clone, Copy, Debug)]
enum Term {
    Node(Node),
    Constant(u64),
}

/// How a value is made, where that bounds it.
#[derive(Clone, Copy, Debug)]
enum Made {
    /// At most this, whatever it is made of.
    AtMost(u64),
    Binary(BinaryOp, [Term; 2]),
}

/// What is known of the sizes of values.
#[derive(Debug, Default)]
pub struct Ranges {
    made: HashMap<Node, Made, FxBuildHasher>,
    /// Values that are indices, with the number of elements.
    indices: Vec<(Node, u32)>,
    /// Values from which a constant is subtracted.
    biased: Vec<(Node, u64)>,
}

/// The greatest number of so many bits.
pub fn greatest(bits: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS.saturating_sub(bits)).unwrap_or(0)
}

/// Whether the host fills it.
pub fn is_filled(program: &Program, object: Object) -> bool {
    match object {
        Object::Variable(number) => program.variables.get(number as usize).is_some_and(|variable| {
            variable.binding.is_some() || variable.class == StorageClass::PushConstant
        }),
        Object::Pointee(_) => true,
        Object::Local(..) => false,
    }
}

impl Flow<'_> {
    /// `count` components are computed from others.
    pub fn computed(&mut self, function: u32, op: BinaryOp, operands: [Operand; 2], to: (u32, u32)) {
        let (dst, count) = to;
        for component in 0..count {
            let terms = operands.map(|operand| self.term(function, operand.offset(component)));
            let dst = self.node(function, Operand::register(dst.saturating_add(component)));
            let ([Some(a), Some(b)], Some(dst)) = (terms, dst) else { continue };
            self.ranges.made.insert(dst, Made::Binary(op, [a, b]));
            let subtracted = match (op, a, b) {
                (BinaryOp::ISub, Term::Node(a), Term::Constant(by)) => Some((a, by)),
                (BinaryOp::IAdd, Term::Node(a), Term::Constant(by))
                | (BinaryOp::IAdd, Term::Constant(by), Term::Node(a)) => {
                    Some((a, u64::from((by as u32).wrapping_neg())))
                }
                _ => None,
            };
            self.ranges.biased.extend(subtracted);
        }
    }

    /// `count` components have so many bits.
    pub fn narrow(&mut self, function: u32, dst: u32, count: u32, bits: u32) {
        for component in 0..count {
            if let Some(dst) = self.node(function, Operand::register(dst.saturating_add(component))) {
                self.ranges.made.insert(dst, Made::AtMost(greatest(bits)));
            }
        }
    }

    /// `count` components are divided by this, of which the remainder is used.
    pub fn quotient(&mut self, function: u32, operand: Operand, count: u32, by: u32) {
        for component in 0..count {
            if let Some(node) = self.node(function, operand.offset(component)) {
                self.graph.usage(node).set_quotient(by);
            }
        }
    }

    fn term(&self, function: u32, operand: Operand) -> Option<Term> {
        let constant = || constant(self.program, operand).map(Term::Constant);
        self.node(function, operand).map(Term::Node).or_else(constant)
    }
}

impl Ranges {
    /// A value is an index of what has so many elements.
    pub fn index(&mut self, node: Node, limit: u32) {
        self.indices.push((node, limit));
    }

    /// Says of indices whether they are within what they index by themselves, and of numbers with half of their range
    /// subtracted that they are compared with it: there they change their sign. `places` are those that the host fills,
    /// with their bytes.
    pub fn settle(self, graph: &mut Graph, places: impl Iterator<Item = (Node, u8)>) {
        let mut known: HashMap<Node, Option<u64>, FxBuildHasher> = HashMap::default();
        for (node, width) in places {
            let most = Some(greatest(8 * u32::from(width)));
            // Several places may be one node.
            known.entry(graph.find(node)).and_modify(|known| *known = most.max(*known)).or_insert(most);
        }
        let mut search = Search { made: &self.made, known };
        for (node, limit) in self.indices {
            match search.most(graph, node, 0).is_some_and(|most| most < u64::from(limit)) {
                true => {
                    graph.usage(node).set(Role::Entry);
                }
                false => graph.usage(node).set_index(Some(limit)),
            }
        }
        for (node, by) in self.biased {
            let most = if by > 1 { search.most(graph, node, 0) } else { None };
            if most.and_then(|most| most.checked_add(1)) == by.checked_mul(2) {
                graph.usage(node).compare(by);
            }
        }
    }
}

/// Follows values back to what they are made of.
struct Search<'m> {
    made: &'m HashMap<Node, Made, FxBuildHasher>,
    known: HashMap<Node, Option<u64>, FxBuildHasher>,
}

impl Search<'_> {
    /// The greatest that a value can be. What depends on itself, as counters do, has none.
    fn most(&mut self, graph: &mut Graph, node: Node, depth: usize) -> Option<u64> {
        let node = graph.find(node);
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        self.known.insert(node, None);
        if depth >= MAX_DEPTH {
            return None;
        }
        let found = match self.made.get(&node) {
            Some(Made::AtMost(most)) => Some(*most),
            Some(Made::Binary(op, terms)) => {
                let of = terms.map(|term| match term {
                    Term::Node(node) => self.most(graph, node, depth + 1),
                    Term::Constant(value) => Some(value),
                });
                combined(*op, of, matches!(terms[1], Term::Constant(_)))
            }
            None => {
                let sources = graph.sources(node);
                let mut most = Some(0).filter(|_| !sources.is_empty());
                for (source, step) in sources {
                    let copied = matches!(step, Step::Copy | Step::Widened);
                    let own = if copied { self.most(graph, source, depth + 1) } else { None };
                    most = most.zip(own).map(|(a, b)| a.max(b));
                }
                most
            }
        };
        self.known.insert(node, found);
        found
    }
}

/// The greatest result of numbers that are at most these.
fn combined(op: BinaryOp, [a, b]: [Option<u64>; 2], is_constant: bool) -> Option<u64> {
    let of_both = a.zip(b);
    let by = b.filter(|_| is_constant);
    match op {
        BinaryOp::BitwiseAnd => of_both.map(|(a, b)| a.min(b)).or(a).or(b),
        BinaryOp::BitwiseOr | BinaryOp::BitwiseXor => {
            of_both.map(|(a, b)| greatest(u64::BITS - (a | b).leading_zeros()))
        }
        BinaryOp::IAdd => of_both.and_then(|(a, b)| a.checked_add(b)),
        BinaryOp::IMul => of_both.and_then(|(a, b)| a.checked_mul(b)),
        BinaryOp::ShiftRightLogical => a.zip(by).and_then(|(a, by)| a.checked_shr(u32::try_from(by).ok()?)),
        BinaryOp::ShiftLeftLogical => {
            a.zip(by).filter(|(_, by)| *by < 64).and_then(|(a, by)| a.checked_mul(1 << by))
        }
        BinaryOp::UDiv => a.zip(by).and_then(|(a, by)| a.checked_div(by)),
        BinaryOp::UMod => by.and_then(|by| by.checked_sub(1)),
        // Of what can be negative, or is a float, nothing is known.
        _ => None,
    }
}
