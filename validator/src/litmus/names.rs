//! The variables of a litmus test while it is read.

use std::collections::HashMap;

use super::test::{Value, Variable};

#[derive(Debug, Default)]
pub(super) struct Variables<'a> {
    indices: HashMap<&'a str, usize>,
    entries: Vec<Entry<'a>>,
}

#[derive(Debug)]
struct Entry<'a> {
    name: &'a str,
    /// Another alias, or itself: the sets of aliases are trees.
    parent: usize,
    /// At a root: the initial value that the file gives to any of its aliases.
    initial: Option<Value>,
}

/// A location would get two initial values.
#[derive(Debug)]
pub(super) struct Contradiction;

impl<'a> Variables<'a> {
    pub fn get(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// The variable's number, new if this is its first occurrence.
    pub fn intern(&mut self, name: &'a str) -> usize {
        let next = self.entries.len();
        let index = *self.indices.entry(name).or_insert(next);
        if index == next {
            self.entries.push(Entry { name, parent: next, initial: None });
        }
        index
    }

    fn parent(&self, index: usize) -> usize {
        self.entries.get(index).map_or(index, |entry| entry.parent)
    }

    /// The representative of the variable's aliases.
    fn root(&mut self, mut index: usize) -> usize {
        loop {
            let grandparent = self.parent(self.parent(index));
            match self.entries.get_mut(index) {
                // Shortening the path keeps the search near constant time.
                Some(entry) if entry.parent != index => entry.parent = grandparent,
                _ => return index,
            }
            index = grandparent;
        }
    }

    fn initial(&self, root: usize) -> Option<Value> {
        self.entries.get(root).and_then(|entry| entry.initial)
    }

    pub fn initialise(&mut self, index: usize, value: Value) -> Result<(), Contradiction> {
        let root = self.root(index);
        if self.initial(root).is_some_and(|given| given != value) {
            return Err(Contradiction);
        }
        if let Some(entry) = self.entries.get_mut(root) {
            entry.initial = Some(value);
        }
        Ok(())
    }

    /// Makes two variables one location.
    pub fn unite(&mut self, a: usize, b: usize) -> Result<(), Contradiction> {
        let (a, b) = (self.root(a), self.root(b));
        let initial = match (self.initial(a), self.initial(b)) {
            (Some(one), Some(other)) if one != other => return Err(Contradiction),
            (one, other) => one.or(other),
        };
        let (root, child) = (a.min(b), a.max(b));
        if let Some(entry) = self.entries.get_mut(child) {
            entry.parent = root;
        }
        if let Some(entry) = self.entries.get_mut(root) {
            entry.initial = initial;
        }
        Ok(())
    }

    /// The variables in the order of their numbers; those without an initial value start at 0.
    pub fn finish(mut self) -> Vec<Variable> {
        let mut locations = vec![None; self.entries.len()];
        let mut count = 0;
        let mut variables = Vec::with_capacity(self.entries.len());
        for index in 0..self.entries.len() {
            let root = self.root(index);
            let location = locations.get_mut(root).map_or(count, |location| *location.get_or_insert(count));
            count = count.max(location + 1);
            let initial = self.initial(root).unwrap_or(Value::Number(0));
            let name = self.entries.get(index).map_or("", |entry| entry.name).to_owned();
            variables.push(Variable { name, location, initial });
        }
        variables
    }
}
