//! Ids and keys for what an edit adds: like additions to both modules of a pair get the same ones.

use rspirv::dr::Instruction;
use rspirv::spirv::Word;
use rustc_hash::FxHashMap;

use crate::module::{Inst, Key, Module};

/// What additions were called in the module that was edited first.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    known: FxHashMap<(Key, Key), (Word, Key)>,
    /// The next id and key that no addition has.
    next: (Word, Key),
}

impl Twins {
    /// The id and the key of what an edit at `place` makes of the instruction with the key `of`.
    pub(crate) fn named(&mut self, module: &mut Module, place: Key, of: Key) -> (Word, Key) {
        let next = (self.next.0.max(module.next_id), self.next.1.max(module.next_key));
        let (id, key) = *self.known.entry((place, of)).or_insert(next);
        self.next = (next.0.max(id + 1), next.1.max(key + 1));
        // Nothing that comes later has them.
        (module.next_id, module.next_key) = self.next;
        (id, key)
    }

    /// An instruction without a result, with the key of what an edit at `place` makes of the instruction with the key `of`.
    pub(crate) fn inst(&mut self, module: &mut Module, place: Key, of: Key, code: Instruction) -> Inst {
        let (_, key) = self.named(module, place, of);
        Inst { key, code }
    }
}
