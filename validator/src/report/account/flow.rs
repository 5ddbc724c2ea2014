//! Where values come from in what an invocation executed: the instructions that computed them, behind what only moves
//! values (loads and stores of the invocation's own variables, parameters, returned values, copies, φ).

use super::constants;
use super::Code;
use crate::correspondence::Inst;
use crate::explain::{Entry, History};
use crate::ir::Line;
use crate::value::Scalar;

/// Moves of one value that are followed.
const MOVES: usize = 256;

/// What an invocation executed, with its module's text.
pub(super) struct Flow<'a, 't> {
    pub(super) code: &'a Code<'t>,
    pub(super) history: &'a History,
}

/// What a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin<'t> {
    /// A constant, by its id.
    Constant(&'t str),
    /// The instruction at this place in the history.
    Instance(usize),
    /// What is no value, or was not executed as far as the history goes, by its id.
    Other(&'t str),
}

/// A place in the history, in front of an entry, and the number of calls there.
#[derive(Clone, Copy, Debug)]
struct Position {
    at: usize,
    depth: u32,
}

/// A part of a variable: the variable, the number of calls of its function, and the indices.
type Location<'t> = (&'t str, u32, Vec<&'t str>);

impl<'a, 't> Flow<'a, 't> {
    fn entry(&self, at: usize) -> Option<&'a Entry> {
        self.history.entries.get(at)
    }

    /// The instruction at a place in the history.
    pub(super) fn inst(&self, at: usize) -> Option<&'a Inst<'t>> {
        self.code.on(self.entry(at)?.line)
    }

    /// The line of the instruction at a place in the history.
    pub(super) fn line(&self, at: usize) -> Line {
        self.entry(at).map_or(0, |entry| entry.line)
    }

    /// What an operand of the instruction at a place in the history comes from.
    pub(super) fn origin(&self, at: usize, id: &'t str) -> Origin<'t> {
        match self.entry(at) {
            Some(entry) => self.find(Position { at, depth: entry.depth }, id),
            None => Origin::Other(id),
        }
    }

    /// The components of a value; `None` for pointers and what is not known.
    pub(super) fn components(&self, origin: Origin<'t>) -> Option<Vec<Scalar>> {
        match origin {
            Origin::Constant(id) => constants::components(self.code, id),
            Origin::Instance(at) => {
                let entry = self.entry(at)?;
                self.code.value(entry.line, &entry.result)?;
                Some(entry.result.to_vec())
            }
            Origin::Other(_) => None,
        }
    }

    /// A value in words, floats without their bits.
    pub(super) fn short(&self, origin: Origin<'t>) -> Option<String> {
        self.told(origin).map(|told| without_bits(&told))
    }

    /// A value in words.
    fn told(&self, origin: Origin<'t>) -> Option<String> {
        match origin {
            Origin::Constant(id) => {
                let ty = self.code.defines(id)?.operands.first()?;
                self.code.types().told(ty, &constants::components(self.code, id)?)
            }
            Origin::Instance(at) => {
                let entry = self.entry(at)?;
                self.code.value(entry.line, &entry.result)
            }
            Origin::Other(_) => None,
        }
    }

    /// The variable that a pointer leads into, which the instruction at a place in the history takes.
    pub(super) fn variable(&self, at: usize, pointer: &'t str) -> Option<&'t str> {
        let depth = self.entry(at)?.depth;
        self.location(Position { at, depth }, pointer).map(|(variable, _, _)| variable)
    }

    /// The memory that the load at a place in the history reads, and the first byte; `None` for what is no load of a block.
    pub(super) fn reached(&self, at: usize) -> Option<(String, usize)> {
        let inst = self.inst(at).filter(|inst| inst.opcode == "OpLoad")?;
        let depth = self.entry(at)?.depth;
        let (variable, _, indices) = self.location(Position { at, depth }, inst.operands.get(1)?)?;
        let index = |id: &&'t str| match self.components(self.origin(at, id))?[..] {
            [component] if component.undef == 0 => Some(component.bits),
            _ => None,
        };
        let indices: Option<Vec<u64>> = indices.iter().map(index).collect();
        self.code.types().reach(variable, &indices?)
    }

    fn find(&self, mut position: Position, mut id: &'t str) -> Origin<'t> {
        for _ in 0..MOVES {
            let Some(definition) = self.code.defines(id) else { return Origin::Other(id) };
            if definition.opcode == "OpVariable" {
                return Origin::Other(id);
            }
            if self.code.function_of(definition.line).is_none() {
                let is_constant = definition.opcode.starts_with("OpConstant");
                return if is_constant { Origin::Constant(id) } else { Origin::Other(id) };
            }
            let moved = match definition.opcode {
                "OpFunctionParameter" => self.argument(position, definition),
                "OpPhi" => self.incoming(position, definition),
                _ => {
                    let Some(at) = self.last(position, definition.line) else { return Origin::Other(id) };
                    let found = match definition.opcode {
                        "OpCopyObject" => {
                            definition.operands.get(1).map(|id| (Position { at, ..position }, *id))
                        }
                        "OpLoad" => self.stored(Position { at, ..position }, definition),
                        "OpFunctionCall" => self.returned(at),
                        _ => None,
                    };
                    let Some(found) = found else { return Origin::Instance(at) };
                    Some(found)
                }
            };
            let Some(moved) = moved else { return Origin::Other(id) };
            (position, id) = moved;
        }
        Origin::Other(id)
    }

    /// The entries of the same activation in front of a position, the last first.
    fn before(&self, position: Position) -> impl Iterator<Item = (usize, &'a Entry)> + 'a {
        let entries = &self.history.entries;
        let all = entries.iter().enumerate().take(position.at).rev();
        all.take_while(move |(_, entry)| entry.depth >= position.depth)
            .filter(move |(_, entry)| entry.depth == position.depth)
    }

    /// The last time that a line was executed in the same activation.
    fn last(&self, position: Position, line: Line) -> Option<usize> {
        self.before(position).find(|(_, entry)| entry.line == line).map(|(at, _)| at)
    }

    /// The call of the activation, as a position of its caller.
    fn call(&self, position: Position) -> Option<Position> {
        let depth = position.depth.checked_sub(1)?;
        let entries = self.history.entries.iter().enumerate().take(position.at).rev();
        let (at, _) = { entries }.find(|(_, entry)| entry.depth == depth)?;
        Some(Position { at, depth })
    }

    /// What a parameter was given.
    fn argument(&self, position: Position, parameter: &Inst<'t>) -> Option<(Position, &'t str)> {
        let call = self.call(position)?;
        let inst = self.inst(call.at).filter(|inst| inst.opcode == "OpFunctionCall")?;
        let number = self.code.number_of_parameter(parameter.line)?;
        Some((call, *inst.operands.get(2 + number)?))
    }

    /// What a φ took, from the block that the activation came from.
    fn incoming(&self, position: Position, phi: &Inst<'t>) -> Option<(Position, &'t str)> {
        let (label, _) = self.code.block_of(phi.line)?;
        let is_in = |line: Line| self.code.block_of(line).is_some_and(|(other, _)| other == label);
        let mut entries = self.before(position).skip_while(|(_, entry)| !is_in(entry.line)).peekable();
        let (_, last) = entries.next()?;
        let mut line = last.line;
        while let Some((_, entry)) = entries.next_if(|(_, entry)| is_in(entry.line) && entry.line < line) {
            line = entry.line;
        }
        let (at, from) = entries.next()?;
        let (_, from) = self.code.block_of(from.line)?;
        let mut pairs = phi.operands.get(1..)?.chunks_exact(2);
        let value = pairs.find(|pair| pair[1] == from)?[0];
        Some((Position { at: at + 1, depth: position.depth }, value))
    }

    /// What a call returned.
    fn returned(&self, call: usize) -> Option<(Position, &'t str)> {
        let depth = self.entry(call)?.depth;
        let callee = self.history.entries.iter().enumerate().skip(call + 1);
        let callee = callee.take_while(|(_, entry)| entry.depth > depth);
        let (at, _) = callee.filter(|(_, entry)| entry.depth == depth + 1).last()?;
        let inst = self.inst(at).filter(|inst| inst.opcode == "OpReturnValue")?;
        Some((Position { at, depth: depth + 1 }, *inst.operands.first()?))
    }

    /// What the last store left in a variable of the invocation's own that is loaded.
    fn stored(&self, load: Position, inst: &Inst<'t>) -> Option<(Position, &'t str)> {
        let (variable, depth, path) = self.location(load, inst.operands.get(1)?)?;
        let class = *self.code.defines(variable)?.operands.get(1)?;
        if !matches!(class, "Function" | "Private") {
            return None;
        }
        let entries = self.history.entries.iter().enumerate().take(load.at).rev();
        let entries = entries.take_while(|(_, entry)| class == "Private" || entry.depth >= depth);
        for (at, entry) in entries {
            let Some(store) = self.code.on(entry.line) else { continue };
            let position = Position { at, depth: entry.depth };
            let writes = match store.opcode {
                "OpStore" => self.location(position, store.operands.first()?),
                "OpCopyMemory" => self.location(position, store.operands.first()?),
                _ => None,
            };
            let Some((other, other_depth, other_path)) = writes else { continue };
            if other != variable || (class == "Function" && other_depth != depth) {
                continue;
            }
            let exact = store.opcode == "OpStore" && other_path == path;
            return exact.then(|| Some((position, *store.operands.get(1)?))).flatten();
        }
        None
    }

    /// Where a pointer leads, through access chains and parameters.
    fn location(&self, mut position: Position, pointer: &'t str) -> Option<Location<'t>> {
        let (mut id, mut path) = (pointer, Vec::new());
        for _ in 0..MOVES {
            let definition = self.code.defines(id)?;
            match definition.opcode {
                "OpVariable" => return Some((id, position.depth, path)),
                "OpAccessChain" | "OpInBoundsAccessChain" => {
                    path.splice(0..0, definition.operands.get(2..)?.iter().copied());
                    id = definition.operands.get(1)?;
                }
                "OpFunctionParameter" => (position, id) = self.argument(position, definition)?,
                _ => return None,
            }
        }
        None
    }
}

/// Values without the bits that stand behind them: decimals tell two floats apart.
pub(in crate::report) fn without_bits(told: &str) -> String {
    let mut short = String::new();
    let mut rest = told;
    while let Some((value, behind)) = rest.split_once(" (0x") {
        short.push_str(value);
        rest = behind.split_once(')').map_or("", |(_, behind)| behind);
    }
    short + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_stay() {
        assert_eq!(without_bits("(1.5 (0x3fc00000), -2.0 (0xc0000000))"), "(1.5, -2.0)");
        assert_eq!(without_bits("70000 (0x00011170)"), "70000");
        assert_eq!(without_bits("3"), "3");
    }
}
