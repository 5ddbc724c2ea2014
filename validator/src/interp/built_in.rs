//! Values of the compute built-ins (Vulkan specification, "Built-In Variables").

use crate::dispatch::{Dispatch, Place};
use crate::ir::BuiltIn;

/// The components of a built-in for the invocation at a place; a scalar is the first of them.
pub(super) fn value(built_in: BuiltIn, dispatch: &Dispatch, place: &Place) -> [u32; 3] {
    let size = dispatch.local_size;
    let scalar = |value: u32| [value, 0, 0];
    match built_in {
        BuiltIn::NumWorkgroups => dispatch.workgroups,
        BuiltIn::WorkgroupSize => size,
        BuiltIn::WorkgroupId => place.workgroup_id,
        BuiltIn::LocalInvocationId => place.local_id,
        BuiltIn::GlobalInvocationId => {
            let global = |axis: usize| {
                place.workgroup_id[axis].wrapping_mul(size[axis]).wrapping_add(place.local_id[axis])
            };
            [global(0), global(1), global(2)]
        }
        BuiltIn::LocalInvocationIndex => scalar(place.local_index),
        BuiltIn::SubgroupSize => scalar(dispatch.subgroup_size),
        BuiltIn::NumSubgroups => {
            let invocations = size.iter().fold(1, |product: u32, extent| product.wrapping_mul(*extent));
            scalar(invocations.div_ceil(dispatch.subgroup_size.max(1)))
        }
        BuiltIn::SubgroupId => scalar(place.subgroup_id),
        BuiltIn::SubgroupLocalInvocationId => scalar(place.subgroup_lane),
    }
}
