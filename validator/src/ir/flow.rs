//! Control flow: what is reachable, what dominates what, and the loops.
//!
//! A loop is a natural loop: the blocks from which a back edge to its header is reached without
//! passing the header. Where the header has an OpLoopMerge, the loop has the blocks of the loop
//! construct and its continue construct, too (SPIR-V specification 2.11): those that the header
//! dominates and the merge block doesn't. A block that breaks out of the loop is one of them; an
//! invocation that runs it does so in a certain iteration.
//!
//! An invocation may leave a loop that it would run for ever: a merge block counts as reachable from the header
//! though no branch leads there, unless it is only an OpUnreachable.

use std::collections::HashSet;

use super::LoopId;

/// A basic block as the analysis sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub successors: Vec<usize>,
    pub loop_merge: Option<usize>,
    /// Nothing but an OpUnreachable.
    pub unreachable: bool,
}

/// What the analysis finds out about a function.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Reachable blocks in reverse post-order.
    pub order: Vec<usize>,
    /// Outer loops before the loops that they contain.
    pub loops: Vec<NaturalLoop>,
    /// A block that a cycle enters at although another way into the cycle leads past it. The loops
    /// then leave that cycle out.
    pub irreducible: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct NaturalLoop {
    pub header: usize,
    /// Whether each block is in the loop.
    pub body: Vec<bool>,
}

const NONE: usize = usize::MAX;

impl Flow {
    /// Analyses the blocks that are reachable from block 0.
    pub fn new(nodes: &[Node]) -> Self {
        let nodes = &with_exits(nodes);
        let (order, back_edges) = depth_first(nodes);
        let dominators = Dominators::new(nodes, &order);
        let mut headers: Vec<usize> = Vec::new();
        let mut irreducible = None;
        for &(source, target) in &back_edges {
            if !dominators.dominates(target, source) {
                irreducible.get_or_insert(target);
            } else if !headers.contains(&target) {
                headers.push(target);
            }
        }
        // A header comes after the headers that dominate it.
        headers.sort_by_key(|&header| dominators.position.get(header).copied());
        let predecessors = predecessors(nodes, &order);
        let loops = headers
            .into_iter()
            .map(|header| {
                let closes = |edge: &&(usize, usize)| edge.1 == header;
                let tails = back_edges.iter().filter(closes).map(|edge| edge.0);
                let mut body = natural_body(header, tails, &predecessors);
                let merge = nodes.get(header).and_then(|node| node.loop_merge);
                if let Some(merge) = merge {
                    for &block in &order {
                        if dominators.dominates(header, block) && !dominators.dominates(merge, block) {
                            if let Some(inside) = body.get_mut(block) {
                                *inside = true;
                            }
                        }
                    }
                }
                NaturalLoop { header, body }
            })
            .collect();
        Flow { order, loops, irreducible }
    }

    /// The loops that an edge enters, outermost first, and the one that it repeats.
    pub fn crossed(&self, source: usize, target: usize) -> (Vec<LoopId>, Option<LoopId>) {
        let around: Vec<usize> = self.loops_around(source).collect();
        let is_header = |index: &&usize| self.loops.get(**index).is_some_and(|lp| lp.header == target);
        let repeats = around.iter().find(is_header).map(|&index| LoopId(index as u32));
        let enters = self.loops_around(target).filter(|index| !around.contains(index));
        (enters.map(|index| LoopId(index as u32)).collect(), repeats)
    }

    /// The loops around a block, outermost first.
    pub fn loops_around(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        let contains = move |lp: &NaturalLoop| lp.body.get(block).copied().unwrap_or(false);
        self.loops.iter().enumerate().filter(move |(_, lp)| contains(lp)).map(|(index, _)| index)
    }
}

/// The blocks, with an edge from the header of each loop to a merge block that is not reached otherwise.
fn with_exits(nodes: &[Node]) -> Vec<Node> {
    let mut nodes = nodes.to_vec();
    loop {
        let (order, back_edges) = depth_first(&nodes);
        let reached: HashSet<usize> = order.into_iter().collect();
        let missing = back_edges.iter().find_map(|&(_, header)| {
            let merge = nodes.get(header)?.loop_merge?;
            let left_out =
                nodes.get(merge).is_some_and(|node| !node.unreachable) && !reached.contains(&merge);
            left_out.then_some((header, merge))
        });
        let Some((header, merge)) = missing else { return nodes };
        if let Some(node) = nodes.get_mut(header) {
            node.successors.push(merge);
        }
    }
}

/// Reverse post-order from block 0, and the edges to a block that is still being visited.
fn depth_first(nodes: &[Node]) -> (Vec<usize>, Vec<(usize, usize)>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Never,
        Open,
        Done,
    }
    let mut visits = vec![Visit::Never; nodes.len()];
    let mut order = Vec::new();
    let mut back_edges = Vec::new();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    if let Some(first) = visits.first_mut() {
        *first = Visit::Open;
        stack.push((0, 0));
    }
    while let Some((block, next)) = stack.last_mut() {
        let successor = nodes.get(*block).and_then(|node| node.successors.get(*next)).copied();
        *next += 1;
        let block = *block;
        match successor {
            None => {
                if let Some(visit) = visits.get_mut(block) {
                    *visit = Visit::Done;
                }
                order.push(block);
                stack.pop();
            }
            Some(successor) => match visits.get_mut(successor) {
                Some(visit @ Visit::Never) => {
                    *visit = Visit::Open;
                    stack.push((successor, 0));
                }
                Some(Visit::Open) => back_edges.push((block, successor)),
                Some(Visit::Done) | None => {}
            },
        }
    }
    order.reverse();
    (order, back_edges)
}

fn predecessors(nodes: &[Node], order: &[usize]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); nodes.len()];
    for &block in order {
        for &successor in nodes.get(block).map_or(&[][..], |node| &node.successors) {
            if let Some(list) = predecessors.get_mut(successor) {
                list.push(block);
            }
        }
    }
    predecessors
}

fn natural_body(header: usize, tails: impl Iterator<Item = usize>, predecessors: &[Vec<usize>]) -> Vec<bool> {
    let mut body = vec![false; predecessors.len()];
    if let Some(inside) = body.get_mut(header) {
        *inside = true;
    }
    let mut pending: Vec<usize> = tails.collect();
    while let Some(block) = pending.pop() {
        match body.get_mut(block) {
            Some(inside) if !*inside => *inside = true,
            Some(_) | None => continue,
        }
        pending.extend(predecessors.get(block).into_iter().flatten());
    }
    body
}

/// Immediate dominators, by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
/// Algorithm", 2001).
#[derive(Debug)]
struct Dominators {
    /// Place of each block in reverse post-order.
    position: Vec<usize>,
    /// Immediate dominator of each place.
    immediate: Vec<usize>,
}

impl Dominators {
    fn new(nodes: &[Node], order: &[usize]) -> Self {
        let mut position = vec![NONE; nodes.len()];
        for (place, &block) in order.iter().enumerate() {
            if let Some(slot) = position.get_mut(block) {
                *slot = place;
            }
        }
        let predecessors = predecessors(nodes, order);
        let mut dominators = Dominators { position, immediate: vec![NONE; order.len()] };
        if let Some(first) = dominators.immediate.first_mut() {
            *first = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (place, &block) in order.iter().enumerate().skip(1) {
                let mut common = NONE;
                for predecessor in predecessors.get(block).into_iter().flatten() {
                    let at = dominators.position.get(*predecessor).copied().unwrap_or(NONE);
                    if dominators.parent(at) == NONE {
                        continue;
                    }
                    common = if common == NONE { at } else { dominators.intersect(common, at) };
                }
                if let Some(slot) = dominators.immediate.get_mut(place) {
                    changed |= *slot != common;
                    *slot = common;
                }
            }
        }
        dominators
    }

    fn parent(&self, place: usize) -> usize {
        self.immediate.get(place).copied().unwrap_or(NONE)
    }

    fn intersect(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if a == NONE || b == NONE {
                return NONE;
            }
            if a > b {
                a = self.parent(a);
            } else {
                b = self.parent(b);
            }
        }
        a
    }

    /// Whether every way from the entry to `block` goes through `dominator`. An unreachable block
    /// dominates nothing.
    fn dominates(&self, dominator: usize, block: usize) -> bool {
        let wanted = self.position.get(dominator).copied().unwrap_or(NONE);
        let mut place = self.position.get(block).copied().unwrap_or(NONE);
        if wanted == NONE {
            return false;
        }
        while place != NONE && place > wanted {
            place = self.parent(place);
        }
        place == wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[usize]]) -> Vec<Node> {
        edges.iter().map(|successors| Node { successors: successors.to_vec(), ..Node::default() }).collect()
    }

    fn bodies(flow: &Flow) -> Vec<(usize, Vec<usize>)> {
        let members = |body: &[bool]| (0..body.len()).filter(|&block| body[block]).collect();
        flow.loops.iter().map(|lp| (lp.header, members(&lp.body))).collect()
    }

    #[test]
    fn nested_loops_come_outermost_first() {
        // 0 → 1 → 2 → 3 → 2, 3 → 4 → 1, 4 → 5
        let flow = Flow::new(&graph(&[&[1], &[2], &[3], &[2, 4], &[1, 5], &[]]));
        assert_eq!(bodies(&flow), [(1, vec![1, 2, 3, 4]), (2, vec![2, 3])]);
        assert_eq!(flow.loops_around(3).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(flow.loops_around(5).count(), 0);
    }

    #[test]
    fn two_back_edges_to_one_header_make_one_loop() {
        let flow = Flow::new(&graph(&[&[1], &[2, 3], &[1], &[1, 4], &[]]));
        assert_eq!(bodies(&flow), [(1, vec![1, 2, 3])]);
    }

    #[test]
    fn a_block_that_breaks_belongs_to_the_construct() {
        // 1 is the header, 2 breaks by way of 3 to the merge block 5, 4 continues.
        let mut nodes = graph(&[&[1], &[2], &[3, 4], &[5], &[1], &[]]);
        assert_eq!(bodies(&Flow::new(&nodes)), [(1, vec![1, 2, 4])]);
        nodes[1].loop_merge = Some(5);
        assert_eq!(bodies(&Flow::new(&nodes)), [(1, vec![1, 2, 3, 4])]);
    }

    #[test]
    fn a_loop_with_two_entries_is_refused() {
        assert_eq!(Flow::new(&graph(&[&[1, 2], &[2], &[1]])).irreducible, Some(1));
    }

    #[test]
    fn unreachable_blocks_are_left_out() {
        let flow = Flow::new(&graph(&[&[2], &[2], &[]]));
        assert_eq!(flow.order, [0, 2]);
    }

    #[test]
    fn merge_blocks_are_reached_unless_they_are_unreachable() {
        // 1 is the header of an endless loop; behind its merge block 2, 3 is the header of another one.
        let mut nodes = graph(&[&[1], &[1], &[3], &[3], &[]]);
        assert_eq!(Flow::new(&nodes).order, [0, 1]);
        nodes[1].loop_merge = Some(2);
        nodes[3].loop_merge = Some(4);
        let flow = Flow::new(&nodes);
        assert_eq!(flow.order, [0, 1, 2, 3, 4]);
        assert_eq!(bodies(&flow), [(1, vec![1]), (3, vec![3])]);
        nodes[2].unreachable = true;
        assert_eq!(Flow::new(&nodes).order, [0, 1]);
    }

    #[test]
    fn a_block_may_branch_to_itself() {
        let flow = Flow::new(&graph(&[&[1], &[1, 2], &[]]));
        assert_eq!(bodies(&flow), [(1, vec![1])]);
    }
}
