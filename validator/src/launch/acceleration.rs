//! `--acceleration-structure`: where a module has acceleration structures, and automatic ones.

use std::fmt;
use std::str::FromStr;

use super::values::{Kind, Random};
use super::{Slot, Target};
use crate::acceleration::text::{integer, structure};
use crate::acceleration::AccelerationStructure;

/// Most invocations that automatic structures leave the order of candidates open for: every one of
/// them multiplies the number of executions.
const MAX_UNORDERED_INVOCATIONS: u64 = 4;

/// `TARGET=SPEC` of `--acceleration-structure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccelerationSetting {
    /// Where it is.
    pub target: AccelerationTarget,
    /// What it holds.
    pub structure: AccelerationStructure,
}

/// Where an acceleration structure is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccelerationTarget {
    /// A descriptor.
    Descriptor(Target),
    /// `address:N`: at a device address, for OpConvertUToAccelerationStructureKHR.
    Address(u64),
}

impl FromStr for AccelerationSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (target, spec) = super::options::halves(text, "TARGET=SPEC")?;
        let target = match target.strip_prefix("address:") {
            Some(address) => {
                let address = integer(address)?;
                // Larger ones are the descriptors'.
                if address == 0 || address >= DESCRIPTOR_HANDLES {
                    return Err(format!("'{target}': an address is from 1 to {:#x}", DESCRIPTOR_HANDLES - 1));
                }
                AccelerationTarget::Address(address)
            }
            None => AccelerationTarget::Descriptor(target.parse()?),
        };
        Ok(AccelerationSetting { target, structure: structure(spec)? })
    }
}

/// Where a launch has an acceleration structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccelerationPlace {
    /// A descriptor.
    Slot(Slot),
    /// A device address.
    Address(u64),
}

/// As it is written in `--acceleration-structure`.
impl fmt::Display for AccelerationPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccelerationPlace::Slot(slot) => slot.fmt(f),
            AccelerationPlace::Address(address) => write!(f, "address:{address:#x}"),
        }
    }
}

/// The first handle of the structures that are bound to descriptors.
pub const DESCRIPTOR_HANDLES: u64 = 0x1000_0000_0000;

/// The structure of an automatic input: nothing in the first; then a few primitives on the axes, both
/// opaque and not, seen from both sides; then random ones.
pub fn automatic(kind: Kind, seed: u64, salt: u64, invocations: u64) -> AccelerationStructure {
    let order = if invocations > MAX_UNORDERED_INVOCATIONS { "in-order " } else { "" };
    let spec = match kind {
        Kind::Zeros => "empty".to_owned(),
        Kind::Given | Kind::Distinct => format!("{order}{ON_THE_AXES}"),
        Kind::Boundary(turn) => {
            // The same, moved, and in other instances.
            let by = turn % 3;
            format!("{order}custom:{turn} record:{by} move:0,{by},0 {ON_THE_AXES}")
        }
        Kind::Random(number) => format!("{order}{}", random(seed ^ salt.rotate_left(23) ^ u64::from(number))),
    };
    // What is made here can be read; an empty structure stands for what could not.
    structure(&spec).unwrap_or_else(|_| AccelerationStructure {
        text: "empty".into(),
        instances: Vec::new().into(),
        in_order: false,
    })
}

/// An opaque and a non-opaque triangle, an opaque and a non-opaque box, along different directions.
const ON_THE_AXES: &str = "opaque triangles:-4,-4,3,4,-4,3,0,4,3 + triangles:-4,-4,-5,0,4,-5,4,-4,-5; \
                           custom:1 mask:0x0f record:1 boxes:4,-1,-1,6,1,1; \
                           custom:2 mask:0xf0 record:2 opaque boxes:-6,-1,-1,-4,1,1";

/// Up to four primitives with small whole coordinates.
fn random(seed: u64) -> String {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let instances: Vec<String> = (0..count)
        .map(|number| {
            let opaque = if random.below(2) == 0 { "opaque " } else { "" };
            let mut coordinate = || i64::from(random.below(13)) - 6;
            let mut point = || [coordinate(), coordinate(), coordinate()];
            let [a, b, c] = [point(), point(), point()];
            let joined = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            let what = if c[0] % 3 == 0 {
                let low: Vec<i64> = a.iter().zip(&b).map(|(a, b)| *a.min(b)).collect();
                let high: Vec<i64> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
                format!("boxes:{},{}", joined(&low), joined(&high))
            } else {
                format!("triangles:{},{},{}", joined(&a), joined(&b), joined(&c))
            };
            format!("custom:{number} {opaque}{what}")
        })
        .collect();
    instances.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_descriptors_or_addresses() {
        let target = |text: &str| text.parse::<AccelerationSetting>().map(|setting| setting.target);
        assert_eq!(target("address:0x1000=empty"), Ok(AccelerationTarget::Address(0x1000)));
        assert_eq!(target("0.3=empty").ok(), "0.3".parse().ok().map(AccelerationTarget::Descriptor));
        assert!(target("address:0=empty").is_err());
        assert!(target("address:0x100000000000=empty").is_err());
    }

    #[test]
    fn automatic_structures_can_be_read_and_depend_on_the_seed() {
        for number in 0..200 {
            let made = automatic(Kind::Random(number), 1, 2, 1);
            assert!(!made.instances.is_empty(), "{number}");
        }
        assert_eq!(automatic(Kind::Distinct, 0, 0, 1).instances.len(), 3);
        assert_eq!(automatic(Kind::Boundary(1), 0, 0, 1).instances.len(), 3);
        assert!(automatic(Kind::Zeros, 0, 0, 64).instances.is_empty());
        assert!(automatic(Kind::Distinct, 0, 0, 64).in_order);
        assert!(!automatic(Kind::Distinct, 0, 0, 4).in_order);
        assert_ne!(automatic(Kind::Random(5), 1, 2, 1), automatic(Kind::Random(5), 3, 2, 1));
    }
}
