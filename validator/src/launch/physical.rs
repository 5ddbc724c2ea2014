//! Targets of physical pointers: the buffers of `--push-pointer`, and one buffer for each pointer in memory that
//! the host initialises.
//!
//! Each buffer has an address range of its own, far from the others. In memory a pointer is its address. Whatever
//! a module computes from an address, the buffer is looked up where the address is used.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::uses::Uses;
use super::values::{Use, Words};
use super::{Launch, LaunchError, Slot};
use crate::event::StorageClass;
use crate::ir::{PhysicalPointee, PointerMember, Program};
use crate::value::Byte;

/// Pointers in automatic buffers lead on so many times; the last are null, which ends linked lists.
const MAX_DEPTH: u32 = 3;
/// Automatic buffers, at most: further pointers are null.
const MAX_BUFFERS: usize = 64;
/// Elements of a runtime array whose pointers get buffers.
const MAX_ELEMENTS: u32 = 16;
/// Bytes of a pointer.
const POINTER: usize = 8;

/// A buffer with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhysicalBuffer {
    /// Address of its first byte.
    pub address: u64,
    /// What lies there.
    pub source: PhysicalSource,
}

/// What lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhysicalSource {
    /// A buffer that only physical pointers reach, with its key in reports, `ptr:NAME`.
    Own { key: String, bytes: Vec<Byte> },
    /// A buffer that is, or could be, bound.
    Slot(Slot),
}

/// How large automatic buffers are.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// Elements of a trailing runtime array.
    pub elements: u32,
    /// Neighbours of what has no runtime array: a pointer may be into an array.
    pub copies: u32,
    /// What a trial touched, by key: then a buffer is no larger.
    pub ends: Option<BTreeMap<String, u32>>,
}

impl Sizes {
    pub fn of(&self, key: &str, pointee: &PhysicalPointee) -> u32 {
        let with = |elements: u32, copies: u32| match pointee.runtime_stride {
            Some(stride) => pointee.size.saturating_add(stride.saturating_mul(elements)),
            None => pointee.size.saturating_mul(copies),
        };
        match &self.ends {
            Some(ends) => ends.get(key).copied().unwrap_or(0).max(with(1, 1)),
            None => with(self.elements, self.copies),
        }
    }
}

/// The memory that the host fills.
pub struct Memories<'a> {
    /// By the slot that stands for the memory.
    pub buffers: &'a mut BTreeMap<Slot, Vec<Byte>>,
    /// The push constants.
    pub push: &'a mut Vec<Byte>,
}

/// Puts the pointers into memory, and says where they lead. With `shared` the pointers of one type in push
/// constants and bound buffers lead to one buffer.
pub fn place(
    program: &Program,
    launch: &Launch,
    memories: Memories<'_>,
    (words, uses): (&mut Words<'_>, &Uses),
    sizes: &Sizes,
    shared: bool,
) -> Result<Vec<PhysicalBuffer>, LaunchError> {
    let mut placer = Placer {
        program,
        launch,
        memories,
        words,
        uses,
        sizes,
        shared,
        first: BTreeMap::new(),
        placed: Vec::new(),
        patched: BTreeSet::new(),
        keys: BTreeSet::new(),
    };
    placer.push_pointers()?;
    placer.automatic();
    placer.all_named_used()?;
    Ok(placer.placed)
}

/// Memory with pointers in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Push,
    Slot(Slot),
    /// An index into what is placed.
    Placed(usize),
}

/// A holder whose pointers are to be set.
struct Pending<'a> {
    holder: Holder,
    pointers: &'a [PointerMember],
    /// In front of the names of its pointers.
    prefix: String,
    depth: u32,
    /// Nobody gave its contents.
    free: bool,
}

struct Placer<'a, 'w, 'v> {
    program: &'a Program,
    launch: &'a Launch,
    memories: Memories<'a>,
    words: &'w mut Words<'v>,
    uses: &'a Uses,
    sizes: &'a Sizes,
    shared: bool,
    /// With `shared`: the address that pointers to a type lead to.
    first: BTreeMap<u32, u64>,
    placed: Vec<PhysicalBuffer>,
    patched: BTreeSet<(Holder, u32)>,
    keys: BTreeSet<String>,
}

impl<'a> Placer<'a, '_, '_> {
    /// A range for one more buffer. The low word of an address overflows soon, so that a carry that is
    /// lost is noticed; every alignment up to 256 is met.
    fn next_address(&self) -> u64 {
        (self.placed.len() as u64 + 1) << 32 | 0xffff_ff00
    }

    fn push_pointers(&mut self) -> Result<(), LaunchError> {
        for &(offset, slot, bytes) in &self.launch.push_pointers {
            let source = PhysicalSource::Slot(slot);
            let known = self.placed.iter().find(|placed| placed.source == source);
            let address = known.map_or_else(|| self.next_address(), |placed| placed.address);
            if known.is_none() {
                self.placed.push(PhysicalBuffer { address, source });
            }
            if !self.write(Holder::Push, offset, address + u64::from(bytes)) {
                let size = self.memories.push.len();
                return Err(LaunchError::WrongTarget {
                    option: "--push-pointer",
                    what: format!("a pointer at byte {offset} leaves the {size} bytes of push constants"),
                });
            }
        }
        Ok(())
    }

    fn automatic(&mut self) {
        let program: &'a Program = self.program;
        let mut queue: VecDeque<Pending<'a>> = VecDeque::new();
        for variable in &program.variables {
            let holders = match variable.class {
                StorageClass::PushConstant => vec![(Holder::Push, self.launch.push.is_none())],
                _ => {
                    let slots = Slot::of(variable).into_iter();
                    let given = |slot| self.launch.given(slot).is_some();
                    slots.map(|slot| (Holder::Slot(self.launch.memory_of(slot)), !given(slot))).collect()
                }
            };
            queue.extend(holders.into_iter().map(|(holder, free)| Pending {
                holder,
                pointers: &variable.pointers,
                prefix: String::new(),
                depth: 0,
                free,
            }));
        }
        while let Some(pending) = queue.pop_front() {
            for member in pending.pointers {
                for (offset, element) in self.instances(pending.holder, member) {
                    queue.extend(self.point(&pending, member, offset, element));
                }
            }
        }
    }

    /// The places of a pointer member, with the number of its element in a runtime array.
    fn instances(&self, holder: Holder, member: &PointerMember) -> Vec<(u32, Option<u32>)> {
        let size = self.bytes(holder).map_or(0, Vec::len);
        let fits = |offset: &u32| *offset as usize + POINTER <= size;
        match member.stride {
            None => Some(member.offset).filter(fits).map(|offset| (offset, None)).into_iter().collect(),
            Some(stride) => (0..MAX_ELEMENTS)
                .map(|element| (member.offset.saturating_add(element.saturating_mul(stride)), element))
                .filter(|(offset, _)| fits(offset))
                .map(|(offset, element)| (offset, Some(element)))
                .collect(),
        }
    }

    /// Gives a pointer a buffer, whose own pointers are then to be set.
    fn point(
        &mut self,
        pending: &Pending<'_>,
        member: &PointerMember,
        offset: u32,
        element: Option<u32>,
    ) -> Option<Pending<'a>> {
        if self.patched.contains(&(pending.holder, offset)) {
            return None;
        }
        let key = self.key(pending, member, offset, element);
        let given = self.launch.named.get(&key);
        if !pending.free && given.is_none() {
            return None;
        }
        let ends = pending.depth >= MAX_DEPTH || self.placed.len() >= MAX_BUFFERS;
        let program: &'a Program = self.program;
        let pointee = program.pointees.get(member.pointee as usize).filter(|_| !ends || given.is_some());
        let Some(pointee) = pointee else {
            self.write(pending.holder, offset, 0);
            return None;
        };
        let shared = self.shared && pending.depth == 0;
        if let (true, None, Some(first)) = (shared, given, self.first.get(&member.pointee)) {
            self.write(pending.holder, offset, *first);
            return None;
        }
        let salt = self.placed.len() as u64 | 1 << 48;
        let bytes = match given {
            Some(given) => given.clone(),
            None => self.words.typed(
                salt,
                self.sizes.of(&key, pointee),
                Use::Data,
                self.uses.pointee(member.pointee),
            ),
        };
        let address = self.next_address();
        self.write(pending.holder, offset, address);
        if pending.depth == 0 {
            self.first.entry(member.pointee).or_insert(address);
        }
        self.keys.insert(key.clone());
        let prefix = format!("{}.", key.trim_start_matches("ptr:"));
        self.placed.push(PhysicalBuffer { address, source: PhysicalSource::Own { key, bytes } });
        Some(Pending {
            holder: Holder::Placed(self.placed.len() - 1),
            pointers: &pointee.pointers,
            prefix,
            depth: pending.depth + 1,
            free: given.is_none(),
        })
    }

    /// The member's name, or its place where it has none or shares it.
    fn key(
        &self,
        pending: &Pending<'_>,
        member: &PointerMember,
        offset: u32,
        element: Option<u32>,
    ) -> String {
        let index = element.map_or(String::new(), |element| format!("[{element}]"));
        let named = member.name.as_ref().map(|name| format!("ptr:{}{name}{index}", pending.prefix));
        named.filter(|key| !self.keys.contains(key)).unwrap_or_else(|| match pending.holder {
            Holder::Push => format!("ptr:push+{offset}"),
            Holder::Slot(slot) => format!("ptr:{slot}+{offset}"),
            Holder::Placed(_) => format!("ptr:{}+{offset}", pending.prefix.trim_end_matches('.')),
        })
    }

    fn all_named_used(&self) -> Result<(), LaunchError> {
        let unused =
            self.launch.named.keys().find(|key| key.starts_with("ptr:") && !self.keys.contains(*key));
        let Some(key) = unused else { return Ok(()) };
        let known = match self.keys.len() {
            0 => "no physical pointers in memory".to_owned(),
            _ => self.keys.iter().cloned().collect::<Vec<_>>().join(", "),
        };
        Err(LaunchError::UnknownTarget { option: "--buffer", what: key.clone(), known })
    }

    fn bytes(&self, holder: Holder) -> Option<&Vec<Byte>> {
        match holder {
            Holder::Push => Some(self.memories.push),
            Holder::Slot(slot) => self.memories.buffers.get(&slot),
            Holder::Placed(index) => match self.placed.get(index).map(|placed| &placed.source) {
                Some(PhysicalSource::Own { bytes, .. }) => Some(bytes),
                Some(PhysicalSource::Slot(_)) | None => None,
            },
        }
    }

    /// Writes an address; false where it does not fit.
    fn write(&mut self, holder: Holder, offset: u32, address: u64) -> bool {
        let bytes = match holder {
            Holder::Push => Some(&mut *self.memories.push),
            Holder::Slot(slot) => self.memories.buffers.get_mut(&slot),
            Holder::Placed(index) => match self.placed.get_mut(index).map(|placed| &mut placed.source) {
                Some(PhysicalSource::Own { bytes, .. }) => Some(bytes),
                Some(PhysicalSource::Slot(_)) | None => None,
            },
        };
        let start = offset as usize;
        let place = bytes.and_then(|bytes| bytes.get_mut(start..start.checked_add(POINTER)?));
        let Some(place) = place else { return false };
        for (slot, byte) in place.iter_mut().zip(address.to_le_bytes()) {
            *slot = Byte::Known(byte);
        }
        self.patched.insert((holder, offset));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Variable;
    use crate::launch::build::tests::{buffer, launch, program, slot};
    use crate::launch::inputs::{inputs, Input, Touched};
    use crate::launch::Launch;

    fn member(offset: u32, name: Option<&str>, pointee: u32) -> PointerMember {
        PointerMember { offset, stride: None, name: name.map(str::to_owned), pointee }
    }

    /// Push constants of `size` bytes with these pointers, to nodes of 16 bytes that point on at byte 8.
    fn linked(size: u32, pointers: Vec<PointerMember>) -> Program {
        let push = Variable {
            class: StorageClass::PushConstant,
            binding: None,
            size,
            pointers,
            constant: true,
            ..buffer(1, 0, 0)
        };
        let node =
            PhysicalPointee { size: 16, runtime_stride: None, pointers: vec![member(8, Some("next"), 0)] };
        Program { pointees: vec![node], ..program(vec![push]) }
    }

    fn made(program: &Program, launch: &Launch) -> Result<Input, String> {
        let mut untried = |_: &crate::dispatch::Dispatch, _: &[u32]| Some(Touched::default());
        let made = inputs(program, None, launch, 1, 0, &mut untried).map_err(|error| error.to_string())?;
        made.into_iter().next().ok_or_else(|| "no input".to_owned())
    }

    /// The pointer at a byte.
    fn pointer(bytes: &[Byte], at: usize) -> u64 {
        bytes[at..at + 8].iter().rev().fold(0, |value, byte| match byte {
            Byte::Known(byte) => value << 8 | u64::from(*byte),
            Byte::Undef => panic!("an undefined byte"),
        })
    }

    fn keys(input: &Input) -> Vec<&str> {
        input.named().map(|(key, _)| key).collect()
    }

    #[test]
    fn every_pointer_gets_a_buffer_and_lists_end() {
        let input = made(&linked(16, vec![member(8, Some("head"), 0)]), &launch(1, 1, 1)).unwrap();
        assert_eq!(keys(&input), ["ptr:head", "ptr:head.next", "ptr:head.next.next"]);
        assert_eq!(pointer(&input.push, 8), input.physical[0].address);
        let nexts: Vec<u64> = input.named().map(|(_, bytes)| pointer(bytes, 8)).collect();
        assert_eq!(nexts, [input.physical[1].address, input.physical[2].address, 0]);
        // Far apart, and a few bytes from an overflow of the low word.
        assert!(input.physical.windows(2).all(|pair| pair[1].address - pair[0].address == 1 << 32));
        assert_eq!(input.physical[0].address as u32, 0xffff_ff00);
    }

    #[test]
    fn pointers_of_one_type_share_a_buffer_in_some_inputs() {
        let mut program = linked(16, vec![member(0, Some("a"), 0), member(8, Some("b"), 0)]);
        let shares = |program: &Program| {
            let mut untried = |_: &crate::dispatch::Dispatch, _: &[u32]| Some(Touched::default());
            let made = inputs(program, None, &launch(1, 1, 1), 4, 0, &mut untried).unwrap();
            made.iter().map(|input| pointer(&input.push, 0) == pointer(&input.push, 8)).collect::<Vec<_>>()
        };
        // zeros, distinct, boundary 1, boundary 2
        assert_eq!(shares(&program), [false, false, false, true]);
        program.modes.restrict = true;
        assert_eq!(shares(&program), [false; 4]);
    }

    #[test]
    fn a_pointer_without_a_name_of_its_own_is_called_by_its_place() {
        let pointers = vec![member(0, Some("p"), 0), member(8, Some("p"), 0), member(16, None, 0)];
        let input = made(&linked(24, pointers), &launch(1, 1, 1)).unwrap();
        assert_eq!(keys(&input)[..3], ["ptr:p", "ptr:push+8", "ptr:push+16"]);
    }

    #[test]
    fn given_memory_keeps_its_pointers_and_named_buffers_their_contents() {
        let program = linked(8, vec![member(0, Some("head"), 0)]);
        let mut given = launch(1, 1, 1);
        given.push = Some(vec![Byte::Known(0); 8]);
        assert_eq!(keys(&made(&program, &given).unwrap()), Vec::<&str>::new());
        let mut named = launch(1, 1, 1);
        named.named.insert("ptr:head".into(), vec![Byte::Known(9); 16]);
        let input = made(&program, &named).unwrap();
        // What is given leads where it says, and no further.
        assert_eq!(input.named().collect::<Vec<_>>(), [("ptr:head", &vec![Byte::Known(9); 16])]);
        named.named.insert("ptr:tail".into(), Vec::new());
        let error = made(&program, &named).unwrap_err();
        assert_eq!(error, "--buffer: the module has no ptr:tail; it has ptr:head");
    }

    #[test]
    fn a_push_pointer_leads_into_its_buffer_under_another_reference() {
        let mut program = linked(8, vec![member(0, Some("head"), 0)]);
        program.variables.push(buffer(2, 0, 1));
        let mut launch = launch(1, 1, 1);
        launch.push_pointers = vec![(0, slot(1), 4)];
        let input = made(&program, &launch).unwrap();
        assert_eq!(keys(&input), Vec::<&str>::new());
        assert_eq!(pointer(&input.push, 0), input.physical[0].address + 4);
        let dispatch = crate::launch::build_dispatch(&program, &launch, &input).unwrap();
        let (object, offset) = dispatch.object_at(pointer(&input.push, 0)).unwrap();
        let (bound, pointed) = (&dispatch.objects[0], &dispatch.objects[object as usize]);
        assert_eq!((bound.key.as_str(), pointed.key.as_str(), offset), ("0.1", "ptr:0.1", 4));
        assert_eq!(bound.memory, pointed.memory);
        assert_ne!(bound.reference, pointed.reference);
        assert_eq!((bound.observed, pointed.observed), (true, false));
        launch.push_pointers = vec![(4, slot(1), 0)];
        assert!(made(&program, &launch).unwrap_err().contains("leaves the 8 bytes of push constants"));
    }

    #[test]
    fn sizes_follow_what_a_trial_touched() {
        let pointee = PhysicalPointee { size: 8, runtime_stride: Some(4), pointers: Vec::new() };
        let mut sizes = Sizes { elements: 5, copies: 2, ends: None };
        assert_eq!(sizes.of("ptr:x", &pointee), 28);
        assert_eq!(sizes.of("ptr:x", &PhysicalPointee { runtime_stride: None, ..pointee.clone() }), 16);
        sizes.ends = Some(BTreeMap::from([("ptr:x".to_owned(), 20)]));
        assert_eq!(sizes.of("ptr:x", &pointee), 20);
        // No smaller than one element.
        assert_eq!(sizes.of("ptr:y", &pointee), 12);
    }
}
