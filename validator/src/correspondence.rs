//! Which instructions of two modules correspond. Ids shift from one to the other, so that they say nothing.
//!
//! Types, constants and global variables are what they are made of, with their decorations. Functions are matched by their
//! entry points, then by content, then in their order. Inside of two functions instructions are matched as a sequence, by
//! opcode, literals and what is global of their operands; then those whose other operands do not correspond count as
//! changed, too.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};
use similar::{Algorithm, DiffOp};

use crate::ir::Line;

/// Lines of a pair of functions beyond which they are compared by length alone: matching takes as long as both together
/// times what differs.
const MOST_LINES: usize = 20_000;

/// The lines in functions of each of two texts to which nothing in the other corresponds.
pub fn changed(before: &str, after: &str) -> [BTreeSet<Line>; 2] {
    let (before, after) = (Listing::of(before), Listing::of(after));
    let mut changed = [BTreeSet::new(), BTreeSet::new()];
    let pairs = matched_functions(&before, &after);
    let ids: HashMap<&str, &str, FxBuildHasher> = pairs
        .iter()
        .filter_map(|(old, new)| Some((before.functions.get(*old)?.id, after.functions.get(*new)?.id)))
        .collect();
    for (old, new) in &pairs {
        if let (Some(old), Some(new)) = (before.functions.get(*old), after.functions.get(*new)) {
            compare(&before.keys(old), &after.keys(new), &ids, &mut changed);
        }
    }
    let [gone, new] = &mut changed;
    let (old_of, new_of): (BTreeSet<usize>, BTreeSet<usize>) = pairs.into_iter().unzip();
    for (listing, known, changed) in [(&before, &old_of, gone), (&after, &new_of, new)] {
        let others = listing.functions.iter().enumerate().filter(|(number, _)| !known.contains(number));
        changed.extend(others.flat_map(|(_, function)| &function.code).map(|inst| inst.line));
    }
    changed
}

/// One instruction of a text.
#[derive(Clone, Debug)]
struct Inst<'t> {
    line: Line,
    result: Option<&'t str>,
    opcode: &'t str,
    operands: Vec<&'t str>,
}

impl<'t> Inst<'t> {
    fn parse(line: Line, text: &'t str) -> Option<Self> {
        let mut words = text.split_whitespace().take_while(|word| !word.starts_with(';'));
        let first = words.next()?;
        let (result, opcode) = match first.starts_with('%') {
            true => (Some(first), words.find(|word| *word != "=")?),
            false => (None, first),
        };
        Some(Inst { line, result, opcode, operands: words.collect() })
    }

    /// Names and places in sources do nothing.
    fn is_debug(&self) -> bool {
        matches!(
            self.opcode,
            "OpName"
                | "OpMemberName"
                | "OpSource"
                | "OpSourceExtension"
                | "OpSourceContinued"
                | "OpString"
                | "OpLine"
                | "OpNoLine"
                | "OpModuleProcessed"
        )
    }
}

/// A function.
#[derive(Debug)]
struct Function<'t> {
    id: &'t str,
    code: Vec<Inst<'t>>,
}

/// An instruction as it is compared.
struct Key<'t> {
    line: Line,
    /// Of everything that means the same in both modules.
    hash: u64,
    result: Option<&'t str>,
    /// The other operands.
    local: Vec<&'t str>,
}

/// A module's text in parts.
struct Listing<'t> {
    functions: Vec<Function<'t>>,
    /// Execution model and name, by the entry point's function.
    entries: BTreeMap<&'t str, (&'t str, &'t str)>,
    /// What global ids are made of.
    globals: HashMap<&'t str, u64, FxBuildHasher>,
}

impl<'t> Listing<'t> {
    fn of(text: &'t str) -> Self {
        let (mut functions, mut entries) = (Vec::<Function<'t>>::new(), BTreeMap::new());
        let mut definitions: HashMap<&str, Inst<'_>, FxBuildHasher> = HashMap::default();
        let mut decorations: HashMap<&str, Vec<Inst<'_>>, FxBuildHasher> = HashMap::default();
        let mut open: Option<Function<'t>> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let Some(inst) = Inst::parse(line, text).filter(|inst| !inst.is_debug()) else { continue };
            match (inst.opcode, &mut open) {
                ("OpFunction", _) => {
                    open = inst.result.map(|id| Function { id, code: vec![inst] });
                }
                ("OpFunctionEnd", _) => functions.extend(open.take()),
                (_, Some(function)) => function.code.push(inst),
                ("OpEntryPoint", None) => {
                    if let [model, id, name, ..] = inst.operands[..] {
                        entries.insert(id, (model, name));
                    }
                }
                (_, None) => match (inst.result, inst.operands.first()) {
                    (Some(id), _) => {
                        definitions.insert(id, inst);
                    }
                    (None, Some(target)) => decorations.entry(*target).or_default().push(inst),
                    (None, None) => {}
                },
            }
        }
        let mut globals = HashMap::default();
        let ids: Vec<&str> = definitions.keys().copied().collect();
        for id in ids {
            content(id, &definitions, &decorations, &mut globals);
        }
        Listing { functions, entries, globals }
    }

    fn keys(&self, function: &Function<'t>) -> Vec<Key<'t>> {
        let key = |inst: &Inst<'t>| {
            let mut hasher = FxHasher::default();
            inst.opcode.hash(&mut hasher);
            inst.result.is_some().hash(&mut hasher);
            let mut local = Vec::new();
            for operand in &inst.operands {
                match self.globals.get(operand) {
                    Some(content) => content.hash(&mut hasher),
                    None if operand.starts_with('%') => {
                        "%".hash(&mut hasher);
                        local.push(*operand);
                    }
                    None => operand.hash(&mut hasher),
                }
            }
            Key { line: inst.line, hash: hasher.finish(), result: inst.result, local }
        };
        function.code.iter().map(key).collect()
    }

    /// Of all keys of a function.
    fn content(&self, function: &Function<'t>) -> u64 {
        let mut hasher = FxHasher::default();
        self.keys(function).iter().for_each(|key| key.hash.hash(&mut hasher));
        hasher.finish()
    }
}

/// What a global id is made of: its instruction, with what its operands are made of, and its decorations.
fn content<'t>(
    id: &'t str,
    definitions: &HashMap<&'t str, Inst<'t>, FxBuildHasher>,
    decorations: &HashMap<&'t str, Vec<Inst<'t>>, FxBuildHasher>,
    known: &mut HashMap<&'t str, u64, FxBuildHasher>,
) -> Option<u64> {
    if let Some(known) = known.get(id) {
        return Some(*known);
    }
    let definition = definitions.get(id)?;
    // A type that leads back to itself by a pointer.
    known.insert(id, 0);
    let mut hasher = FxHasher::default();
    definition.opcode.hash(&mut hasher);
    for operand in &definition.operands {
        match content(operand, definitions, decorations, known) {
            Some(content) => content.hash(&mut hasher),
            None => operand.hash(&mut hasher),
        }
    }
    let own = decorations.get(id).into_iter().flatten();
    let mut own: Vec<(&str, Vec<&str>)> =
        own.map(|inst| (inst.opcode, inst.operands.iter().skip(1).copied().collect())).collect();
    own.sort_unstable();
    own.hash(&mut hasher);
    let content = hasher.finish();
    known.insert(id, content);
    Some(content)
}

/// Pairs of functions, as indices.
fn matched_functions(before: &Listing<'_>, after: &Listing<'_>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let [entry_of_old, entry_of_new] = [before, after].map(|listing| {
        let entry = |function: &Function<'_>| listing.entries.get(function.id).copied();
        listing.functions.iter().map(entry).collect::<Vec<_>>()
    });
    let [content_of_old, content_of_new] = [before, after].map(|listing| {
        listing.functions.iter().map(|function| Some(listing.content(function))).collect::<Vec<_>>()
    });
    pair_up(&entry_of_old, &entry_of_new, &mut pairs);
    pair_up(&content_of_old, &content_of_new, &mut pairs);
    let free = |number: &usize, used: &dyn Fn(&(usize, usize)) -> usize| {
        pairs.iter().all(|pair| used(pair) != *number)
    };
    let old: Vec<usize> = (0..before.functions.len()).filter(|number| free(number, &|pair| pair.0)).collect();
    let new: Vec<usize> = (0..after.functions.len()).filter(|number| free(number, &|pair| pair.1)).collect();
    // What is left of as many: in their order.
    if old.len() == new.len() {
        pairs.extend(old.into_iter().zip(new));
    }
    pairs
}

/// Pairs the first of each that have the same and are not paired.
fn pair_up<T: PartialEq>(old: &[Option<T>], new: &[Option<T>], pairs: &mut Vec<(usize, usize)>) {
    for (number, value) in old.iter().enumerate().filter(|(_, value)| value.is_some()) {
        if pairs.iter().any(|(known, _)| *known == number) {
            continue;
        }
        let is_free = |other: usize| pairs.iter().all(|(_, known)| *known != other);
        let other = new.iter().enumerate().find(|(other, own)| *own == value && is_free(*other));
        if let Some((other, _)) = other {
            pairs.push((number, other));
        }
    }
}

/// Adds the lines of two functions that do not correspond.
fn compare<'t>(
    before: &[Key<'t>],
    after: &[Key<'t>],
    functions: &HashMap<&'t str, &'t str, FxBuildHasher>,
    [gone, new]: &mut [BTreeSet<Line>; 2],
) {
    let matched = matched(before, after);
    let mut ids: HashMap<&str, &str, FxBuildHasher> = functions.clone();
    for (old, new) in &matched {
        if let (Some(old), Some(new)) = (old.result, new.result) {
            ids.insert(old, new);
        }
    }
    let targets: BTreeSet<&str> = ids.values().copied().collect();
    let mut kept = [BTreeSet::new(), BTreeSet::new()];
    for (old, new) in matched {
        let mut operands = old.local.iter().zip(&new.local);
        // What is new on both sides may take each other's place.
        let corresponds = operands.all(|(old, new)| match ids.get(old) {
            Some(known) => known == new,
            None => !targets.contains(new),
        });
        if corresponds && old.local.len() == new.local.len() {
            kept[0].insert(old.line);
            kept[1].insert(new.line);
        }
    }
    gone.extend(before.iter().map(|key| key.line).filter(|line| !kept[0].contains(line)));
    new.extend(after.iter().map(|key| key.line).filter(|line| !kept[1].contains(line)));
}

/// Instructions of two sequences that are alike, in the order of both.
fn matched<'k, 't>(before: &'k [Key<'t>], after: &'k [Key<'t>]) -> Vec<(&'k Key<'t>, &'k Key<'t>)> {
    let [old, new] = [before, after].map(|keys| keys.iter().map(|key| key.hash).collect::<Vec<u64>>());
    if old.len().max(new.len()) > MOST_LINES && old != new {
        return Vec::new();
    }
    let mut matched = Vec::new();
    for op in similar::capture_diff_slices(Algorithm::Myers, &old, &new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let old = before.iter().skip(old_index).take(len);
            matched.extend(old.zip(after.iter().skip(new_index)));
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "OpEntryPoint GLCompute %main \"main\"
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%pointer = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pointer StorageBuffer
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%entry = OpLabel
%a = OpLoad %uint %buffer
%b = OpISub %uint %a %one
%c = OpISub %uint %b %a
OpStore %buffer %c
OpReturn
OpFunctionEnd
";

    const NONE: [Vec<Line>; 2] = [Vec::new(), Vec::new()];

    fn lines(after: &str) -> [Vec<Line>; 2] {
        changed(MODULE, after).map(|lines| lines.into_iter().collect())
    }

    #[test]
    fn ids_and_the_order_of_globals_do_not_matter() {
        let renamed = MODULE.replace("%a", "%7").replace("%one", "%9").replace("%main", "%3");
        assert_eq!(lines(&renamed), NONE);
        let line = "%two = OpConstant %uint 2\n";
        let moved = MODULE.replace(line, "").replace("%one = ", &format!("{line}%one = "));
        assert_eq!(lines(&moved), NONE);
        assert_eq!(lines(&format!("; a comment\n\n{MODULE}")), NONE);
    }

    #[test]
    fn an_instruction_is_changed_by_its_opcode_a_constant_or_an_operand() {
        assert_eq!(
            lines(&MODULE.replace("OpISub %uint %a %one", "OpIAdd %uint %a %one")),
            [vec![13], vec![13]]
        );
        assert_eq!(
            lines(&MODULE.replace("OpISub %uint %a %one", "OpISub %uint %a %two")),
            [vec![13], vec![13]]
        );
        assert_eq!(lines(&MODULE.replace("%uint %b %a", "%uint %a %b")), [vec![14], vec![14]]);
        // Its users are where a constant is another one.
        assert_eq!(lines(&MODULE.replace("OpConstant %uint 1", "OpConstant %uint 5")), [vec![13], vec![13]]);
        assert_eq!(lines(&MODULE.replace("Binding 0", "Binding 1")), [vec![12, 15], vec![12, 15]]);
    }

    #[test]
    fn what_is_dropped_or_inserted_is_changed_alone() {
        assert_eq!(lines(&MODULE.replace("OpStore %buffer %c\n", "")), [vec![15], vec![]]);
        let inserted = MODULE.replace("OpReturn", "OpStore %buffer %two\nOpReturn");
        assert_eq!(lines(&inserted), [vec![], vec![16]]);
    }

    #[test]
    fn a_function_that_only_one_module_has_is_changed() {
        let other = "%other = OpFunction %void None %type\n%start = OpLabel\nOpReturn\nOpFunctionEnd\n";
        assert_eq!(lines(&format!("{MODULE}{other}")), [vec![], vec![18, 19, 20]]);
    }
}
