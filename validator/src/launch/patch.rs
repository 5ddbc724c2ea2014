//! Single values of inputs that are replaced.

use super::physical::PhysicalSource;
use super::{Input, Launch};
use crate::dispatch::Dispatch;
use crate::ir::Program;
use crate::value::Byte;

/// A value that is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where it lies.
    pub place: Place,
    /// What it becomes.
    pub bytes: Vec<u8>,
}

/// Where a value lies in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In an object of the dispatch, by its key.
    Object {
        /// See [`Object::key`](crate::dispatch::Object::key).
        key: String,
        /// From this byte on.
        offset: u32,
    },
    /// In what a stage before hands over.
    Passed {
        /// See [`Input::interface`].
        key: String,
        /// To which fragment of a quad; none for the same to all.
        fragment: Option<u32>,
        /// From this byte of its value on.
        offset: u32,
    },
}

impl Patch {
    /// A word that is put there.
    pub(crate) fn of_word(place: &Place, word: u32) -> Patch {
        Patch { place: place.clone(), bytes: word.to_le_bytes().to_vec() }
    }

    /// The word that it puts; none where that is something else.
    pub fn word(&self) -> Option<u32> {
        self.bytes.as_slice().try_into().ok().map(u32::from_le_bytes)
    }

    /// Puts the value into an input, wherever its memory is bound.
    pub fn put(&self, program: &Program, launch: &Launch, input: &mut Input) {
        match &self.place {
            Place::Object { key, offset } => {
                let memory = input.buffers.keys().find(|slot| slot.to_string() == *key);
                let memory = memory.map(|slot| launch.memory_of(*slot));
                for (slot, bytes) in &mut input.buffers {
                    if memory == Some(launch.memory_of(*slot)) {
                        self.write(bytes, *offset);
                    }
                }
                for (slot, contents) in &mut input.images {
                    if *key == format!("image:{slot}") {
                        self.write(&mut contents.bytes, *offset);
                    }
                }
                for buffer in &mut input.physical {
                    match &mut buffer.source {
                        PhysicalSource::Own { key: own, bytes } if own == key => self.write(bytes, *offset),
                        PhysicalSource::Own { .. } | PhysicalSource::Slot(_) => {}
                    }
                }
                if key == "push" {
                    self.write(&mut input.push, *offset);
                }
            }
            Place::Passed { key, fragment, offset } => {
                let parts = program.variables.iter().flat_map(|variable| &variable.interface);
                let size =
                    parts.into_iter().find(|part| format!("in:{}", part.name) == *key).map(|it| it.size);
                if let (Some(size), Some(bytes)) = (size, input.interface.get_mut(key)) {
                    for (number, own) in (0..).zip(bytes.chunks_mut(size.max(1) as usize)) {
                        if fragment.is_none_or(|fragment| fragment == number) {
                            self.write(own, *offset);
                        }
                    }
                }
            }
        }
    }

    /// Puts the value into a dispatch.
    pub fn put_into(&self, program: &Program, dispatch: &mut Dispatch) {
        match &self.place {
            Place::Object { key, offset } => {
                let memory = dispatch.objects.iter().find(|object| object.key == *key).map(|it| it.memory);
                for object in &mut dispatch.objects {
                    if memory == Some(object.memory) && object.view.is_none() {
                        self.write(&mut object.initial, *offset);
                    }
                }
            }
            Place::Passed { key, fragment, offset } => {
                for (number, values) in &mut dispatch.inputs {
                    let Some(variable) = program.variables.get(*number as usize) else { continue };
                    let parts = variable.interface.iter().filter(|part| format!("in:{}", part.name) == *key);
                    for part in parts {
                        for (number, bytes) in (0..).zip(&mut *values) {
                            if fragment.is_none_or(|fragment| fragment == number) {
                                self.write(bytes, part.offset + offset);
                            }
                        }
                    }
                }
            }
        }
    }

    fn write(&self, bytes: &mut [Byte], offset: u32) {
        let start = offset as usize;
        if let Some(places) = bytes.get_mut(start..start + self.bytes.len()) {
            places.iter_mut().zip(&self.bytes).for_each(|(place, byte)| *place = Byte::Known(*byte));
        }
    }
}

/// The word from this byte on, if it is there and defined.
pub fn word_at(bytes: &[Byte], offset: u32) -> Option<u32> {
    let start = offset as usize;
    let word = bytes.get(start..start + size_of::<u32>())?;
    word.iter().rev().try_fold(0, |word, byte| match byte {
        Byte::Known(byte) => Some(word << 8 | u32::from(*byte)),
        Byte::Undef => None,
    })
}
