//! Pointers as register components.

use crate::ir::Decorations;
use crate::value::Scalar;

/// A pointer, which takes two register components: `(object << 32) | offset`, then
/// `(declaration << 8) | flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Shared object, or with [`Pointer::OWN`] set an object of the invocation;
    /// [`Pointer::NULL`] for null.
    pub object: u32,
    /// Byte offset in the object.
    pub offset: u32,
    /// Memory object declaration: see [`Access::declaration`](crate::event::Access::declaration).
    pub declaration: u32,
    /// Decorations united on the way to here.
    pub decorations: Decorations,
    /// An access chain on the way had an index outside its bounds. An access through the pointer
    /// is undefined; making it is not, so that an optimiser may compute it early.
    pub out_of_bounds: bool,
    /// An index that is no constant chose a descriptor of an array.
    pub indexed: bool,
}

const COHERENT: u64 = 1;
const VOLATILE: u64 = 1 << 1;
const ALIASED: u64 = 1 << 2;
const RESTRICT: u64 = 1 << 3;
const NON_WRITABLE: u64 = 1 << 4;
const NON_READABLE: u64 = 1 << 5;
const OUT_OF_BOUNDS: u64 = 1 << 6;
const INDEXED: u64 = 1 << 7;
/// All of these.
const FLAGS: u64 = (1 << 8) - 1;

impl Pointer {
    /// Bit of `object` that marks memory of the invocation itself.
    pub const OWN: u32 = 1 << 30;
    /// The declaration of every physical pointer: no variable, and no parameter.
    pub const PHYSICAL: u32 = u32::MAX - 1;
    /// The declaration of Function variables: what others name by parameters only.
    pub const LOCAL: u32 = u32::MAX;
    /// The object of a null pointer.
    pub const NULL: u32 = u32::MAX;

    /// A pointer to the start of an object.
    pub fn to_object(object: u32, declaration: u32, decorations: Decorations) -> Self {
        Pointer { object, offset: 0, declaration, decorations, out_of_bounds: false, indexed: false }
    }

    /// The null pointer, as OpConstantNull makes it.
    pub fn null() -> Self {
        Pointer::to_object(Pointer::NULL, 0, Decorations::default())
    }

    /// Whether this is the null pointer (or a chain from it).
    pub const fn is_null(self) -> bool {
        self.object == Pointer::NULL
    }

    /// The index of the invocation's own object that this points to.
    pub const fn own_object(self) -> Option<u32> {
        if self.object != Pointer::NULL && self.object & Pointer::OWN != 0 {
            Some(self.object & !Pointer::OWN)
        } else {
            None
        }
    }

    /// The object of the invocation's own and the byte that two register components lead to, where nothing is decorated or
    /// out of bounds; `None` where that must be looked at. Most accesses are such, and need no more.
    #[inline(always)]
    pub fn own_and_plain([address, flags]: [Scalar; 2]) -> Option<(u32, u32)> {
        let object = (address.bits >> 32) as u32;
        let is_plain = address.undef | flags.undef == 0 && flags.bits & FLAGS == 0;
        let is_own = object & Pointer::OWN != 0 && object != Pointer::NULL;
        (is_plain && is_own).then_some((object & !Pointer::OWN, address.bits as u32))
    }

    /// The two register components.
    pub fn encode(self) -> [Scalar; 2] {
        let address = u64::from(self.object) << 32 | u64::from(self.offset);
        let indexed = if self.indexed { INDEXED } else { 0 };
        let flags = encode_flags(self.decorations, self.out_of_bounds) | indexed;
        [Scalar::new(address), Scalar::new(u64::from(self.declaration) << 8 | flags)]
    }

    /// The pointer that two register components hold; `None` where any bit is undefined.
    #[inline(always)]
    pub fn decode(components: [Scalar; 2]) -> Option<Self> {
        let [address, flags] = components;
        if !address.is_defined() || !flags.is_defined() {
            return None;
        }
        Some(Pointer {
            object: (address.bits >> 32) as u32,
            offset: address.bits as u32,
            declaration: (flags.bits >> 8) as u32,
            decorations: decode_decorations(flags.bits),
            out_of_bounds: flags.bits & OUT_OF_BOUNDS != 0,
            indexed: flags.bits & INDEXED != 0,
        })
    }
}

fn encode_flags(decorations: Decorations, out_of_bounds: bool) -> u64 {
    let flag = |set: bool, bit: u64| if set { bit } else { 0 };
    flag(decorations.coherent, COHERENT)
        | flag(decorations.volatile, VOLATILE)
        | flag(decorations.aliased, ALIASED)
        | flag(decorations.restrict, RESTRICT)
        | flag(decorations.non_writable, NON_WRITABLE)
        | flag(decorations.non_readable, NON_READABLE)
        | flag(out_of_bounds, OUT_OF_BOUNDS)
}

#[inline(always)]
fn decode_decorations(flags: u64) -> Decorations {
    let flag = |bit: u64| flags & bit != 0;
    Decorations {
        coherent: flag(COHERENT),
        volatile: flag(VOLATILE),
        aliased: flag(ALIASED),
        restrict: flag(RESTRICT),
        non_writable: flag(NON_WRITABLE),
        non_readable: flag(NON_READABLE),
    }
}

/// A pointer of the PhysicalStorageBuffer storage class, which takes two register components: its
/// address, then flags. Memory holds the address alone, in 8 bytes: one that comes from there, or
/// from an integer, has no flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalPointer {
    pub address: u64,
    /// Decorations united on the way to here.
    pub decorations: Decorations,
    /// An access chain on the way had an index outside its bounds.
    pub out_of_bounds: bool,
}

impl PhysicalPointer {
    /// The two register components.
    pub fn encode(self) -> [Scalar; 2] {
        [Scalar::new(self.address), Scalar::new(encode_flags(self.decorations, self.out_of_bounds))]
    }

    /// The pointer that two register components hold; `None` where any bit is undefined.
    pub fn decode(components: [Scalar; 2]) -> Option<Self> {
        let [address, flags] = components;
        (address.is_defined() && flags.is_defined()).then(|| PhysicalPointer {
            address: address.bits,
            decorations: decode_decorations(flags.bits),
            out_of_bounds: flags.bits & OUT_OF_BOUNDS != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_round_trip() {
        let decorations = Decorations { coherent: true, non_writable: true, ..Decorations::default() };
        let pointer = Pointer {
            object: 7,
            offset: 12,
            declaration: 300,
            decorations,
            out_of_bounds: true,
            indexed: true,
        };
        assert_eq!(Pointer::decode(pointer.encode()), Some(pointer));
        assert_eq!(Pointer::decode(Pointer::null().encode()), Some(Pointer::null()));
    }

    #[test]
    fn an_undefined_component_is_no_pointer() {
        let [address, _] = Pointer::null().encode();
        assert_eq!(Pointer::decode([address, Scalar::undefined(64)]), None);
        assert_eq!(Pointer::decode([Scalar::undefined(64), address]), None);
    }

    #[test]
    fn what_is_decorated_or_shared_is_looked_at() {
        let plain = Pointer::to_object(Pointer::OWN | 3, 9, Decorations::default());
        assert_eq!(Pointer::own_and_plain(Pointer { offset: 8, ..plain }.encode()), Some((3, 8)));
        let decorated = Decorations { non_writable: true, ..Decorations::default() };
        for other in [
            Pointer { decorations: decorated, ..plain },
            Pointer { out_of_bounds: true, ..plain },
            Pointer { object: 3, ..plain },
            Pointer::null(),
        ] {
            assert_eq!(Pointer::own_and_plain(other.encode()), None, "{other:?}");
        }
        let [address, _] = plain.encode();
        assert_eq!(Pointer::own_and_plain([address, Scalar::undefined(64)]), None);
    }

    #[test]
    fn null_is_not_an_own_object() {
        assert_eq!(Pointer::null().own_object(), None);
        let own = Pointer::to_object(Pointer::OWN | 3, 0, Decorations::default());
        assert_eq!(own.own_object(), Some(3));
        assert_eq!(Pointer::to_object(3, 0, Decorations::default()).own_object(), None);
    }
}
