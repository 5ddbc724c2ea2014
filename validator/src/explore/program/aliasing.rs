//! Memory that is reached through several memory object declarations (SPIR-V, "Aliasing"). It is undefined behaviour if
//! two declarations reach the same bytes, one of them writes, and neither is decorated Aliased (docs/semantics.md,
//! section 4.3).
//!
//! Every module-scope variable is a declaration, and all physical pointers together are one. A pointer parameter is a
//! declaration while its function is active; `interp/names.rs` checks these for each invocation by itself.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::Dispatch;
use crate::event::{Access, Fault, UndefinedKind};
use crate::interp::Pointer;

/// For each memory that several declarations reach, the declarations through which each word was accessed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    memories: Vec<Option<Arc<Vec<Users>>>>,
    /// What the variables are in, by their numbers.
    variables: Arc<[String]>,
}

type Users = SmallVec<[User; 1]>;

#[derive(Clone, Copy, Debug)]
struct User {
    declaration: u32,
    wrote: bool,
    aliased: bool,
}

impl Declarations {
    pub(crate) fn new(dispatch: &Dispatch) -> Self {
        let count = dispatch.objects.iter().map(|object| object.memory + 1).max().unwrap_or(0);
        let mut users = vec![0_u32; count as usize];
        for objects in &dispatch.object_of {
            let mut memories: Vec<u32> = objects
                .iter()
                .flatten()
                .filter_map(|object| dispatch.objects.get(*object as usize))
                .map(|object| object.memory)
                .collect();
            memories.sort_unstable();
            memories.dedup();
            memories.iter().for_each(|memory| users[*memory as usize] += 1);
        }
        for range in &dispatch.physical {
            if let Some(object) = dispatch.objects.get(range.object as usize) {
                users[object.memory as usize] += 1;
            }
        }
        let words = |memory: usize| {
            let sizes = dispatch.objects.iter().filter(|object| object.memory as usize == memory);
            sizes.map(|object| object.initial.len().div_ceil(4)).max().unwrap_or(0)
        };
        let variables = dispatch.object_of.iter().map(|objects| {
            let first = objects.iter().flatten().next();
            let object = first.and_then(|object| dispatch.objects.get(*object as usize));
            object.map_or_else(String::new, |object| object.key.clone())
        });
        let memories = users
            .iter()
            .enumerate()
            .map(|(memory, count)| (*count > 1).then(|| Arc::new(vec![Users::new(); words(memory)])))
            .collect();
        Declarations { memories, variables: variables.collect() }
    }

    /// Whether every memory is reached through one declaration.
    pub(crate) fn are_single(&self) -> bool {
        self.memories.iter().all(Option::is_none)
    }

    /// Notes an access. It returns the fault if the access must not alias an earlier one.
    pub(crate) fn note(&mut self, access: &Access, memory: u32, write: bool) -> Option<Fault> {
        let words = self.memories.get_mut(memory as usize)?.as_mut()?;
        if access.declaration >= self.variables.len() as u32 && access.declaration != Pointer::PHYSICAL {
            return None;
        }
        let words = Arc::make_mut(words);
        let (declaration, aliased) = (access.declaration, access.aliased);
        let mut clash = None;
        for (offset, len) in &access.ranges {
            for word in offset / 4..(offset + len).div_ceil(4) {
                let Some(users) = words.get_mut(word as usize) else { continue };
                let is_other = |other: &&User| {
                    other.declaration != declaration && (write || other.wrote) && !aliased && !other.aliased
                };
                clash = clash.or(users.iter().find(is_other).map(|other| other.declaration));
                match users.iter_mut().find(|other| other.declaration == declaration) {
                    Some(known) => known.wrote |= write,
                    None => users.push(User { declaration, wrote: write, aliased }),
                }
            }
        }
        clash.map(|other| {
            let name = |declaration: u32| match self.variables.get(declaration as usize) {
                Some(key) => format!("the variable of {key}"),
                None => "a physical pointer".to_owned(),
            };
            let (own, other) = (name(declaration), name(other));
            let detail = format!(
                "{other} reaches the same memory as {own}, neither is decorated Aliased, and one of them writes"
            );
            Fault { kind: UndefinedKind::Aliasing, line: access.line, detail }
        })
    }
}
