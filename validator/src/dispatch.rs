//! A launch made concrete for one lowered program and one input: which objects of memory there
//! are, what they hold at first, and where each invocation stands.

use std::collections::{BTreeMap, BTreeSet};

use crate::acceleration::AccelerationStructure;
use crate::coverage::Coverage;
use crate::ir::image::{ImageLayout, Sampler};
use crate::ir::FunctionId;
use crate::value::Byte;

/// One dispatch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dispatch {
    /// Shared objects: buffers first, then Workgroup variables, workgroup after workgroup.
    pub objects: Vec<Object>,
    /// For each variable of the program and workgroup, its first object: `[variable][workgroup]`.
    /// Elements of a descriptor array follow one another. `None` for what no invocation shares. Outputs of the fragments
    /// of a quad have an object for each invocation instead.
    pub object_of: Vec<Vec<Option<u32>>>,
    /// The invocations, workgroup after workgroup.
    pub places: Vec<Place>,
    pub workgroups: [u32; 3],
    pub local_size: [u32; 3],
    pub subgroup_size: u32,
    /// The function that each invocation runs; none for the program's entry point.
    pub entries: Vec<FunctionId>,
    /// Pairs of invocations: everything that the first does system-synchronizes-with everything that the
    /// second does (litmus tests).
    pub system_synchronizes_with: Vec<(u32, u32)>,
    /// Values of Input variables, by the variable's number: one for each invocation, or one for all.
    pub inputs: BTreeMap<u32, Vec<Vec<Byte>>>,
    /// Invocations that are helpers from the start.
    pub helpers: BTreeSet<u32>,
    /// Where buffers lie for physical pointers, by address.
    pub physical: Vec<PhysicalRange>,
    /// `--legacy coherent`: in GLSL450 and Simple modules every shared access counts as coherent.
    pub legacy_coherent: bool,
    /// What accesses outside of buffers and images do; `None` where they are undefined behaviour.
    pub robustness: Option<Robustness>,
    /// Location spaces in which before, by writes outside of buffers, permits anything at any time: plain accesses that are
    /// not volatile are no events, and read undefined values.
    pub open: BTreeSet<u32>,
    /// Cooperative matrices are loaded and stored by other invocations than those that hold the components: the
    /// specification leaves open by whom.
    pub displaced: bool,
    /// By handle: what a descriptor holds, or the address of one that the module knows by its address.
    pub acceleration_structures: Vec<(u64, AccelerationStructure)>,
    /// What executions have covered of the program.
    pub coverage: Coverage,
}

impl Dispatch {
    /// What each location space holds at first, by its number: the longest of the objects in it.
    pub fn initial_memory(&self) -> Vec<Vec<Byte>> {
        let spaces = self.objects.iter().map(|object| object.memory + 1).max().unwrap_or(0);
        let mut memory: Vec<Vec<Byte>> = vec![Vec::new(); spaces as usize];
        for object in &self.objects {
            if let Some(space) = memory.get_mut(object.memory as usize) {
                if space.len() < object.initial.len() {
                    space.clone_from(&object.initial);
                }
            }
        }
        memory
    }
}

/// Robust access to buffers and images (Vulkan, "Features": robustBufferAccess, robustImageAccess; docs/semantics.md,
/// section 3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Robustness {
    /// robustBufferAccess2 and robustImageAccess2: what is read outside is zero, and what is written there is lost.
    pub second: bool,
    /// So many of the objects, from the first on, are uniform and storage buffers: accesses of others are not
    /// bounds-checked.
    pub buffers: u32,
    /// Everything that is permitted counts: what is not told value by value is undefined. Else it is left out.
    pub exhaustive: bool,
    /// What reads outside give in the first version.
    pub reads: OutsideReads,
    /// Location spaces that the program never writes.
    pub unwritten: BTreeSet<u32>,
    /// What accesses outside of a location space make uncertain in it, as far as it is known.
    pub strays: BTreeMap<u32, Stray>,
}

/// What reads outside of buffers give with the first version of robust access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideReads {
    /// Zero alone: where nothing is decided.
    Zero,
    /// Each value that is permitted, if they are known and few.
    Listed,
    /// An undefined value.
    Undefined,
}

/// What accesses outside of a buffer do to it with the first version of robust access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stray {
    /// A write outside may change any byte of it.
    pub written: bool,
    /// A read outside may read any byte of it.
    pub read: bool,
    /// Reads of a byte below this one may count as outside, too.
    pub low: u32,
    /// Likewise reads of a byte from this one on.
    pub high: Option<u32>,
}

impl Stray {
    /// Both.
    #[must_use]
    pub fn and(self, other: Stray) -> Stray {
        Stray {
            written: self.written || other.written,
            read: self.read || other.read,
            low: self.low.max(other.low),
            high: self.high.into_iter().chain(other.high).min(),
        }
    }
}

/// A piece of memory that several invocations may reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its key in reports: `S.B`, `S.B.E`, `%name` (docs/json.md, "Values").
    pub key: String,
    /// Initial contents.
    pub initial: Vec<Byte>,
    /// Whether its final contents are part of an outcome.
    pub observed: bool,
    /// Reference number (Vulkan memory model, "Reference"): accesses through equal numbers use one
    /// reference.
    pub reference: u32,
    /// Location space: objects with equal numbers are the same memory (aliased bindings).
    pub memory: u32,
    /// A part of another object's memory, from this byte on, under a key of its own: no access goes
    /// through it.
    pub view: Option<u32>,
    /// Read-only for the module: push constants, Uniform Block buffers and images without stores.
    pub constant: bool,
    /// What its bytes are, if it is an image.
    pub image: Option<ImageLayout>,
    /// Of a sampler or a combined image sampler.
    pub sampler: Option<Sampler>,
}

impl Object {
    /// What a byte of it is called in reports: `0.1+4`, or `texel (1,0) of image:0.1`.
    pub fn place(&self, offset: u32) -> String {
        match self.image {
            Some(image) => format!("{} of {}", image.texel_name(offset), self.key),
            None => format!("{}+{offset}", self.key),
        }
    }
}

/// Addresses of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalRange {
    /// Address of its first byte.
    pub address: u64,
    /// Size in bytes.
    pub size: u32,
    /// Its index in [`Dispatch::objects`].
    pub object: u32,
}

impl Dispatch {
    /// The first object of a variable, as an invocation has it; `None` for what no invocation shares.
    pub fn object(&self, variable: u32, invocation: u32) -> Option<u32> {
        let objects = self.object_of.get(variable as usize)?;
        let place = match objects.len() == self.places.len() {
            true => invocation,
            false => self.places.get(invocation as usize)?.workgroup,
        };
        objects.get(place as usize).copied().flatten()
    }

    /// The value of an Input variable, where one is given.
    pub fn input(&self, variable: u32, invocation: u32) -> Option<&[Byte]> {
        let values = self.inputs.get(&variable)?;
        values.get(invocation as usize).or(values.first()).map(Vec::as_slice)
    }

    /// The bytes of an object in `spaces`, which has those of each location space.
    pub fn contents<'m>(&self, object: usize, spaces: &'m [Vec<Byte>]) -> &'m [Byte] {
        let Some(object) = self.objects.get(object) else { return &[] };
        let space = spaces.get(object.memory as usize).map_or(&[][..], Vec::as_slice);
        let start = object.view.unwrap_or(0) as usize;
        space.get(start..start + object.initial.len()).unwrap_or_default()
    }

    /// The object that an address lies in (or right behind), and the offset there.
    pub fn object_at(&self, address: u64) -> Option<(u32, u32)> {
        let behind = self.physical.partition_point(|range| range.address <= address);
        let range = self.physical.get(behind.checked_sub(1)?)?;
        let offset = u32::try_from(address - range.address).ok()?;
        (offset <= range.size).then_some((range.object, offset))
    }

    /// The address of an object's first byte, if it has one.
    pub fn address_of(&self, object: u32) -> Option<u64> {
        self.physical.iter().find(|range| range.object == object).map(|range| range.address)
    }
}

/// Where an invocation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of its workgroup.
    pub workgroup: u32,
    /// Index of its subgroup, over the whole dispatch.
    pub subgroup: u32,
    pub queue_family: u32,
    pub workgroup_id: [u32; 3],
    pub local_id: [u32; 3],
    pub local_index: u32,
    /// Subgroup's number within the workgroup, and the invocation's within the subgroup.
    pub subgroup_id: u32,
    pub subgroup_lane: u32,
}
