//! Transitive closure of a relation: strongly connected components in the order that they are left in (Tarjan 1972), each
//! of which reaches what its members and the components behind it reach (Purdom 1970).
//!
//! What a successor reaches already need not be looked at, so that the relations of long executions, which are closed for
//! the most part, cost little more than their size.

use super::relation::{bits, EventSet, Relation};

/// Relations over so few events are closed without memory of their own.
pub(super) const FEW: usize = 128;

/// An event that was not come to.
const UNSEEN: u32 = u32::MAX;

/// Makes a relation transitive.
pub(super) fn close(relation: &mut Relation) {
    let mut walk = Walk {
        unseen: EventSet::with(relation.len(), |_| true),
        open: EventSet::new(relation.len()),
        number: vec![UNSEEN; relation.len()],
        lowest: vec![UNSEEN; relation.len()],
        seen: 0,
        stack: Vec::new(),
        reached: vec![0; relation.words_of_row()],
    };
    for event in 0..relation.len() {
        if walk.unseen.contains(event) {
            walk.from(relation, event);
        }
    }
}

struct Walk {
    unseen: EventSet,
    /// Events whose component is not complete; the same, in the order that they were come to in.
    open: EventSet,
    stack: Vec<usize>,
    /// When an event was come to, and the first open event that it leads back to.
    number: Vec<u32>,
    lowest: Vec<u32>,
    seen: u32,
    /// What the component at hand reaches.
    reached: Vec<u64>,
}

impl Walk {
    fn from(&mut self, relation: &mut Relation, root: usize) {
        // Each with the word of its row that is next.
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((event, word)) = path.last_mut() {
            let row = relation.words(*event);
            let unseen = self.unseen.words();
            *word = (*word..row.len()).find(|word| row[*word] & unseen[*word] != 0).unwrap_or(row.len());
            if let Some(found) = row.get(*word) {
                let next = *word * 64 + (found & unseen[*word]).trailing_zeros() as usize;
                self.enter(next);
                path.push((next, 0));
                continue;
            }
            let event = *event;
            path.pop();
            self.leave(relation, event);
            if let Some((parent, _)) = path.last() {
                self.lowest[*parent] = self.lowest[*parent].min(self.lowest[event]);
            }
        }
    }

    fn enter(&mut self, event: usize) {
        self.number[event] = self.seen;
        self.lowest[event] = self.seen;
        self.seen += 1;
        self.unseen.remove(event);
        self.open.insert(event);
        self.stack.push(event);
    }

    /// All that the event leads to was come to. Completes its component if it is the first of it.
    fn leave(&mut self, relation: &mut Relation, event: usize) {
        for (word, (row, open)) in relation.words(event).iter().zip(self.open.words()).enumerate() {
            for back in bits(word, row & open) {
                self.lowest[event] = self.lowest[event].min(self.number[back]);
            }
        }
        if self.lowest[event] != self.number[event] {
            return;
        }
        let first = self.stack.iter().rposition(|one| *one == event).unwrap_or(0);
        let members = self.stack.split_off(first);
        self.reached.fill(0);
        for member in &members {
            self.open.remove(*member);
        }
        for member in &members {
            self.reach(relation, *member, &members);
        }
        for member in &members {
            relation.unite_words(*member, &self.reached);
        }
    }

    /// Adds what a member of a component leads to, and what that reaches.
    fn reach(&mut self, relation: &Relation, member: usize, members: &[usize]) {
        for (word, leads_to) in relation.words(member).iter().enumerate() {
            loop {
                let rest = leads_to & !self.reached[word];
                if rest == 0 {
                    break;
                }
                let next = word * 64 + rest.trailing_zeros() as usize;
                self.reached[word] |= rest & rest.wrapping_neg();
                // Within the component, that is what all members lead to.
                if !members.contains(&next) {
                    for (reached, more) in self.reached.iter_mut().zip(relation.words(next)) {
                        *reached |= more;
                    }
                }
            }
        }
    }
}
