//! A module's text in parts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};

use super::literals::{self, canonical};
use crate::ir::Line;

pub(super) type Globals<'t> = HashMap<&'t str, u64, FxBuildHasher>;

/// One instruction of a text.
#[derive(Clone, Debug)]
pub(crate) struct Inst<'t> {
    pub(crate) line: Line,
    pub(crate) result: Option<&'t str>,
    pub(crate) opcode: &'t str,
    /// Result types, ids, literals and strings.
    pub(crate) operands: Vec<&'t str>,
    /// Names and places in sources, which do nothing.
    pub(crate) is_debug: bool,
}

impl<'t> Inst<'t> {
    pub(crate) fn parse(line: Line, text: &'t str) -> Option<Self> {
        let mut words = words(text).into_iter();
        let first = words.next()?;
        let (result, opcode) = match first.starts_with('%') {
            true => (Some(first), words.find(|word| *word != "=")?),
            false => (None, first),
        };
        let is_debug = matches!(
            opcode,
            "OpName"
                | "OpMemberName"
                | "OpSource"
                | "OpSourceExtension"
                | "OpSourceContinued"
                | "OpString"
                | "OpLine"
                | "OpNoLine"
                | "OpModuleProcessed"
        );
        Some(Inst { line, result, opcode, operands: words.collect(), is_debug })
    }
}

/// The instructions of a text. Sources in strings have lines, too, which are none.
pub(crate) fn insts(text: &str) -> impl Iterator<Item = Inst<'_>> {
    let mut in_string = false;
    let mut debug_sets: Vec<&str> = Vec::new();
    (1..).zip(text.lines()).filter_map(move |(line, text)| {
        let was_in_string = in_string;
        in_string = ends_in_string(text, in_string);
        if was_in_string {
            return None;
        }
        let mut inst = Inst::parse(line, text)?;
        match (inst.opcode, inst.result, &inst.operands[..]) {
            ("OpExtInstImport", Some(id), [name, ..]) if is_debug_set(name.trim_matches('"')) => {
                debug_sets.push(id);
                inst.is_debug = true;
            }
            ("OpExtInst", _, [_, set, ..]) => inst.is_debug = debug_sets.contains(set),
            _ => {}
        }
        Some(inst)
    })
}

/// Whether a string is open at the end of a line, which may begin in one.
fn ends_in_string(text: &str, begins_in_string: bool) -> bool {
    let (mut inside, mut escaped) = (begins_in_string, false);
    for byte in text.bytes() {
        match byte {
            b';' if !inside => return false,
            b'"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped && inside;
    }
    inside
}

/// Whether an extended instruction set says nothing but where instructions come from.
fn is_debug_set(name: &str) -> bool {
    name.starts_with("NonSemantic.") || matches!(name, "DebugInfo" | "OpenCL.DebugInfo.100")
}

/// The words of a line up to its comment; a string is one.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with(';') {
        let end = match rest.strip_prefix('"') {
            Some(inside) => end_of_string(inside) + 1,
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

/// How many bytes a string has from behind its first quote on, with the last one.
fn end_of_string(inside: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    inside.len()
}

/// A function.
#[derive(Debug)]
pub(super) struct Function<'t> {
    pub(super) id: &'t str,
    pub(super) code: Vec<Inst<'t>>,
}

/// A module's text in parts.
pub(super) struct Listing<'t> {
    pub(super) functions: Vec<Function<'t>>,
    /// Execution model and name, by the entry point's function.
    pub(super) entries: BTreeMap<&'t str, (&'t str, &'t str)>,
    /// What stands in front of the functions and has a result, in order.
    pub(super) definitions: Vec<Inst<'t>>,
    /// What global ids are made of.
    pub(super) globals: Globals<'t>,
    /// OpName.
    names: HashMap<&'t str, &'t str, FxBuildHasher>,
}

impl<'t> Listing<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let (mut functions, mut entries) = (Vec::<Function<'t>>::new(), BTreeMap::new());
        let (mut definitions, mut names) = (Vec::<Inst<'t>>::new(), HashMap::default());
        let mut decorations: HashMap<&str, Vec<Inst<'_>>, FxBuildHasher> = HashMap::default();
        let mut open: Option<Function<'t>> = None;
        for inst in insts(text) {
            if inst.is_debug {
                if let ("OpName", [id, name]) = (inst.opcode, &inst.operands[..]) {
                    names.insert(*id, *name);
                }
                continue;
            }
            match (inst.opcode, &mut open) {
                ("OpFunction", _) => {
                    open = inst.result.map(|id| Function { id, code: vec![inst] });
                }
                ("OpFunctionEnd", _) => {
                    functions.extend(open.take());
                }
                (_, Some(function)) => function.code.push(inst),
                ("OpEntryPoint", None) => {
                    if let [model, id, name, ..] = inst.operands[..] {
                        entries.insert(id, (model, name));
                    }
                }
                (_, None) => match (inst.result, inst.operands.first()) {
                    (Some(_), _) => definitions.push(inst),
                    (None, Some(target)) => decorations.entry(*target).or_default().push(inst),
                    (None, None) => {}
                },
            }
        }
        let by_id: HashMap<&str, &Inst<'_>, FxBuildHasher> =
            definitions.iter().filter_map(|inst| Some((inst.result?, inst))).collect();
        let mut globals = HashMap::default();
        for id in definitions.iter().filter_map(|inst| inst.result) {
            content(id, &by_id, &decorations, &mut globals);
        }
        Listing { functions, entries, definitions, globals, names }
    }

    /// The OpName of an id.
    pub(super) fn names_of(&self, id: &str) -> Option<&'t str> {
        self.names.get(id).map(|name| name.trim_matches('"')).filter(|name| !name.is_empty())
    }

    /// What people call an id.
    pub(super) fn name(&self, id: &'t str) -> Option<&'t str> {
        let own = id.trim_start_matches('%');
        let is_number = own.bytes().all(|byte| byte.is_ascii_digit());
        self.names_of(id).or((!is_number).then_some(own))
    }
}

/// What a global id is made of: its instruction, with what its operands are made of, and its decorations.
fn content<'t>(
    id: &'t str,
    definitions: &HashMap<&'t str, &Inst<'t>, FxBuildHasher>,
    decorations: &HashMap<&'t str, Vec<Inst<'t>>, FxBuildHasher>,
    known: &mut Globals<'t>,
) -> Option<u64> {
    if let Some(known) = known.get(id) {
        return Some(*known);
    }
    let definition = definitions.get(id)?;
    // A type that leads back to itself by a pointer.
    known.insert(id, 0);
    let mut hasher = FxHasher::default();
    definition.opcode.hash(&mut hasher);
    // The literal of a constant is what its type makes of it.
    let value = match definition.operands[..] {
        [ty, literal] if matches!(definition.opcode, "OpConstant" | "OpSpecConstant") => {
            definitions.get(ty).and_then(|ty| literals::bits(literal, ty))
        }
        _ => None,
    };
    for operand in &definition.operands {
        match (content(operand, definitions, decorations, known), value) {
            (Some(content), _) => content.hash(&mut hasher),
            (None, Some(value)) => value.hash(&mut hasher),
            (None, None) => canonical(operand).hash(&mut hasher),
        }
    }
    let own = decorations.get(id).into_iter().flatten();
    let operands = |inst: &Inst<'t>| inst.operands.iter().skip(1).map(|word| canonical(word)).collect();
    let mut own: Vec<(&str, Vec<Cow<'_, str>>)> = own.map(|inst| (inst.opcode, operands(inst))).collect();
    own.sort_unstable();
    own.hash(&mut hasher);
    let content = hasher.finish();
    known.insert(id, content);
    Some(content)
}
