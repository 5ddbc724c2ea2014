//! Where things are in a module: definitions, names, functions, imports.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rspirv::spirv::Op as Opcode;

use crate::module::Module;

/// What one pass over a module finds.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The name that OpName gives an id.
    names: HashMap<u32, String>,
    /// The name that OpMemberName gives a member of a struct.
    member_names: HashMap<(u32, u32), String>,
    /// The name that the user's text has for an id.
    text_names: HashMap<u32, String>,
    /// OpFunction to OpFunctionEnd of each function, by its id.
    functions: HashMap<u32, Range<usize>>,
    /// Names of extended instruction sets, by id.
    imports: HashMap<u32, String>,
    /// Values of 64-bit integer types: a switch on them has literals of two words.
    wide: HashSet<u32>,
    /// The instructions before the first function.
    pub module_scope: Range<usize>,
}

impl Index {
    pub fn new(module: &Module) -> Self {
        let mut index = Index::default();
        let mut open: Option<(u32, usize)> = None;
        let mut wide_types = HashSet::new();
        index.module_scope = 0..module.len();
        index.text_names = module.id_names().map(|(name, id)| (id, name.to_owned())).collect();
        for instruction in module.instructions() {
            if let (Some(ty), Some(id)) = (instruction.result_type, instruction.result) {
                if wide_types.contains(&ty) {
                    index.wide.insert(id);
                }
            }
            match instruction.op() {
                Some(Opcode::Name) => {
                    if let (Some(id), Some((name, _))) = (instruction.word(0), instruction.string(1)) {
                        if !name.is_empty() {
                            index.names.insert(id, name);
                        }
                    }
                }
                Some(Opcode::MemberName) => {
                    if let (Some(id), Some(member), Some((name, _))) =
                        (instruction.word(0), instruction.word(1), instruction.string(2))
                    {
                        if !name.is_empty() {
                            index.member_names.insert((id, member), name);
                        }
                    }
                }
                Some(Opcode::ExtInstImport) => {
                    if let (Some(id), Some((name, _))) = (instruction.result, instruction.string(0)) {
                        index.imports.insert(id, name);
                    }
                }
                Some(Opcode::TypeInt) if instruction.word(0) == Some(64) => {
                    wide_types.extend(instruction.result)
                }
                Some(Opcode::Function) => {
                    index.module_scope.end = index.module_scope.end.min(instruction.index);
                    open = instruction.result.map(|id| (id, instruction.index));
                }
                Some(Opcode::FunctionEnd) => {
                    if let Some((id, start)) = open.take() {
                        index.functions.insert(id, start..instruction.index + 1);
                    }
                }
                _ => {}
            }
        }
        index
    }

    /// The OpName of an id.
    pub fn name(&self, id: u32) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// The OpMemberName of a member of a struct.
    pub fn member_name(&self, id: u32, member: u32) -> Option<&str> {
        self.member_names.get(&(id, member)).map(String::as_str)
    }

    /// The OpName of an id, or else what the user's text calls it.
    pub fn any_name(&self, id: u32) -> Option<&str> {
        self.name(id).or_else(|| self.text_names.get(&id).map(String::as_str))
    }

    pub fn function(&self, id: u32) -> Option<Range<usize>> {
        self.functions.get(&id).cloned()
    }

    /// The number of words of a literal case of a switch on this value.
    pub fn case_words(&self, selector: u32) -> usize {
        if self.wide.contains(&selector) {
            2
        } else {
            1
        }
    }

    pub fn import(&self, id: u32) -> Option<&str> {
        self.imports.get(&id).map(String::as_str)
    }
}
