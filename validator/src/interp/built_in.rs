//! Values of the compute built-ins (Vulkan specification, "Built-In Variables").

use crate::dispatch::{Dispatch, Place};
use crate::ir::BuiltIn;

/// The components of a built-in for the invocation at a place; a scalar is the first of them.
pub(super) fn value(built_in: BuiltIn, dispatch: &Dispatch, place: &Place) -> [u32; 4] {
    let size = dispatch.local_size;
    let scalar = |value: u32| [value, 0, 0, 0];
    let vector = |[x, y, z]: [u32; 3]| [x, y, z, 0];
    let mask = |has: fn(u32, u32) -> bool| {
        let lanes = (0..dispatch.subgroup_size.min(128)).filter(|lane| has(*lane, place.subgroup_lane));
        lanes.fold([0; 4], |mut words: [u32; 4], lane| {
            words[lane as usize / 32] |= 1 << (lane % 32);
            words
        })
    };
    match built_in {
        BuiltIn::NumWorkgroups => vector(dispatch.workgroups),
        BuiltIn::WorkgroupSize => vector(size),
        BuiltIn::WorkgroupId => vector(place.workgroup_id),
        BuiltIn::LocalInvocationId => vector(place.local_id),
        BuiltIn::GlobalInvocationId => {
            let global = |axis: usize| {
                place.workgroup_id[axis].wrapping_mul(size[axis]).wrapping_add(place.local_id[axis])
            };
            vector([global(0), global(1), global(2)])
        }
        BuiltIn::LocalInvocationIndex => scalar(place.local_index),
        BuiltIn::SubgroupSize => scalar(dispatch.subgroup_size),
        BuiltIn::NumSubgroups => {
            let invocations = size.iter().fold(1, |product: u32, extent| product.wrapping_mul(*extent));
            scalar(invocations.div_ceil(dispatch.subgroup_size.max(1)))
        }
        BuiltIn::SubgroupId => scalar(place.subgroup_id),
        BuiltIn::SubgroupLocalInvocationId => scalar(place.subgroup_lane),
        BuiltIn::SubgroupEqMask => mask(|lane, own| lane == own),
        BuiltIn::SubgroupGeMask => mask(|lane, own| lane >= own),
        BuiltIn::SubgroupGtMask => mask(|lane, own| lane > own),
        BuiltIn::SubgroupLeMask => mask(|lane, own| lane <= own),
        BuiltIn::SubgroupLtMask => mask(|lane, own| lane < own),
    }
}
