//! Memory that a program only reads.

use std::collections::BTreeSet;

use super::may_write::MayWrite;
use crate::dispatch::{Dispatch, Object};
use crate::ir::{Effect, Program};

/// The numbers of the objects of the dispatch that no store, copy or atomic instruction through a pointer to shared
/// memory, and no write of texels, may write, whatever invocation runs it. Outputs are no shared memory. An instruction of which only a run shows where it writes may write all of them, one that writes texels may write
/// images.
pub fn unwritten(program: &Program, dispatch: &Dispatch) -> BTreeSet<usize> {
    let writers = MayWrite::of(program);
    let is_written = |object: &Object| {
        let bytes = 0..object.initial.len() as u64;
        writers.0.iter().any(|writer| {
            let inst = program.functions.get(writer.inst.function.0 as usize);
            let inst = inst.and_then(|function| function.code.get(writer.inst.index as usize));
            match inst.map(|inst| inst.op.effect()) {
                Some(Effect::Image(op)) => op.action.writes() && object.image.is_some(),
                _ => (0..dispatch.places.len())
                    .any(|place| writer.may_touch(dispatch, place, object.memory, bytes.clone())),
            }
        })
    };
    let objects = dispatch.objects.iter().enumerate();
    objects.filter(|(_, object)| object.constant || !is_written(object)).map(|(number, _)| number).collect()
}
