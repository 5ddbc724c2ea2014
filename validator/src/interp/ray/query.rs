//! The state of a ray query, in the invocation's own memory.

use super::hits::Hit;
use crate::interp::own_memory::{OwnAddress, OwnMemory};
use crate::ir::LeafKind;
use crate::value::Scalar;

/// What the last OpRayQueryProceedKHR returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proceeded {
    /// There was none.
    NotYet,
    /// True: there is a candidate.
    Candidate,
    /// False.
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommittedKind {
    Triangle,
    Generated,
}

/// The closest hit so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Committed {
    pub kind: CommittedKind,
    /// Number of the primitive in the acceleration structure.
    pub primitive: u32,
    pub t: f32,
}

/// An initialised ray query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    /// Handle of the acceleration structure.
    pub structure: u64,
    pub flags: u32,
    /// 8 bits.
    pub mask: u32,
    pub origin: [f32; 3],
    pub t_min: f32,
    pub direction: [f32; 3],
    /// Ray TMax.
    pub ray_t_max: f32,
    /// T of the closest hit so far, at first Ray TMax.
    pub t_max: f32,
    pub proceeded: Proceeded,
    pub terminated: bool,
    /// Number of the primitive, where there is a candidate.
    pub candidate: u32,
    pub committed: Option<Committed>,
    /// Primitives that were candidates: bit n of the first for once or more, of the second for twice.
    pub seen: [u64; 2],
}

const WORD: LeafKind = LeafKind::Number(4);
const LONG: LeafKind = LeafKind::Number(8);

const CANDIDATE: u64 = 1;
const FINISHED: u64 = 1 << 1;
const TERMINATED: u64 = 1 << 2;
const COMMITTED: u64 = 1 << 3;
const GENERATED: u64 = 1 << 4;

/// Where the state's parts lie, in bytes.
mod offset {
    pub const STRUCTURE: u32 = 0;
    pub const SEEN: u32 = 8;
    pub const FLAGS: u32 = 24;
    pub const MASK: u32 = 28;
    pub const ORIGIN: u32 = 32;
    pub const T_MIN: u32 = 44;
    pub const DIRECTION: u32 = 48;
    pub const T_MAX: u32 = 60;
    pub const STATUS: u32 = 64;
    pub const CANDIDATE: u32 = 68;
    pub const COMMITTED: u32 = 72;
    pub const COMMITTED_T: u32 = 76;
    pub const RAY_T_MAX: u32 = 80;
}

impl Query {
    pub fn new(
        structure: u64,
        flags: u32,
        mask: u32,
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
    ) -> Self {
        Query {
            structure,
            flags,
            mask,
            origin,
            t_min,
            direction,
            ray_t_max: t_max,
            t_max,
            proceeded: Proceeded::NotYet,
            terminated: false,
            candidate: 0,
            committed: None,
            seen: [0; 2],
        }
    }

    pub fn has_flag(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// How often a primitive was the candidate: 0, 1 or 2 for more.
    pub fn times_seen(&self, number: u32) -> u32 {
        self.seen.iter().map(|seen| (seen.checked_shr(number).unwrap_or(0) & 1) as u32).sum()
    }

    /// Counts a primitive as candidate once more.
    pub fn count(&mut self, number: u32) {
        let bit = 1_u64.checked_shl(number).unwrap_or(0);
        let [once, twice] = &mut self.seen;
        *twice |= *once & bit;
        *once |= bit;
    }

    pub fn commit(&mut self, hit: &Hit, kind: CommittedKind, t: f32) {
        self.committed = Some(Committed { kind, primitive: hit.number, t });
        self.t_max = t;
    }

    /// The Ray Query Committed Intersection Type.
    pub fn committed_type(&self) -> u32 {
        match self.committed.map(|committed| committed.kind) {
            None => 0,
            Some(CommittedKind::Triangle) => 1,
            Some(CommittedKind::Generated) => 2,
        }
    }

    /// The query at this place; `None` before it is initialised.
    pub fn load(memory: &OwnMemory, place: OwnAddress) -> Option<Query> {
        let status = memory.load(place, offset::STATUS, WORD);
        if !status.is_defined() {
            return None;
        }
        let has = |bit: u64| status.bits & bit != 0;
        let word = |offset: u32| memory.load(place, offset, WORD).bits as u32;
        let long = |offset: u32| memory.load(place, offset, LONG).bits;
        let number = |offset: u32| f32::from_bits(word(offset));
        let vector = |offset: u32| [number(offset), number(offset + 4), number(offset + 8)];
        Some(Query {
            structure: long(offset::STRUCTURE),
            flags: word(offset::FLAGS),
            mask: word(offset::MASK),
            origin: vector(offset::ORIGIN),
            t_min: number(offset::T_MIN),
            direction: vector(offset::DIRECTION),
            ray_t_max: number(offset::RAY_T_MAX),
            t_max: number(offset::T_MAX),
            proceeded: match (has(CANDIDATE), has(FINISHED)) {
                (_, true) => Proceeded::Finished,
                (true, false) => Proceeded::Candidate,
                (false, false) => Proceeded::NotYet,
            },
            terminated: has(TERMINATED),
            candidate: word(offset::CANDIDATE),
            committed: has(COMMITTED).then(|| Committed {
                kind: if has(GENERATED) { CommittedKind::Generated } else { CommittedKind::Triangle },
                primitive: word(offset::COMMITTED),
                t: number(offset::COMMITTED_T),
            }),
            seen: [long(offset::SEEN), long(offset::SEEN + 8)],
        })
    }

    pub fn store(&self, memory: &mut OwnMemory, place: OwnAddress) {
        let mut store =
            |offset: u32, kind: LeafKind, bits: u64| memory.store(place, offset, kind, Scalar::new(bits));
        let bits = |number: f32| u64::from(number.to_bits());
        let status = match self.proceeded {
            Proceeded::NotYet => 0,
            Proceeded::Candidate => CANDIDATE,
            Proceeded::Finished => FINISHED,
        } | if self.terminated { TERMINATED } else { 0 }
            | match self.committed.map(|committed| committed.kind) {
                None => 0,
                Some(CommittedKind::Triangle) => COMMITTED,
                Some(CommittedKind::Generated) => COMMITTED | GENERATED,
            };
        store(offset::STRUCTURE, LONG, self.structure);
        store(offset::SEEN, LONG, self.seen[0]);
        store(offset::SEEN + 8, LONG, self.seen[1]);
        store(offset::FLAGS, WORD, u64::from(self.flags));
        store(offset::MASK, WORD, u64::from(self.mask));
        for (i, (origin, direction)) in (0..).step_by(4).zip(self.origin.iter().zip(&self.direction)) {
            store(offset::ORIGIN + i, WORD, bits(*origin));
            store(offset::DIRECTION + i, WORD, bits(*direction));
        }
        store(offset::T_MIN, WORD, bits(self.t_min));
        store(offset::RAY_T_MAX, WORD, bits(self.ray_t_max));
        store(offset::T_MAX, WORD, bits(self.t_max));
        store(offset::STATUS, WORD, status);
        store(offset::CANDIDATE, WORD, u64::from(self.candidate));
        let (primitive, t) = self.committed.map_or((0, 0.0), |committed| (committed.primitive, committed.t));
        store(offset::COMMITTED, WORD, u64::from(primitive));
        store(offset::COMMITTED_T, WORD, bits(t));
    }
}
