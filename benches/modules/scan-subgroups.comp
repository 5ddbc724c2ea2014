#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// A scan of a workgroup: within subgroups, then over their sums in shared memory.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Input { uint given[]; };
layout(set = 0, binding = 1) buffer Output { uint scanned[]; };
shared uint sums[1024];
uint before(uint subgroup) {
    uint sum = 0;
    for (uint k = 0; k < subgroup; k++) sum += sums[k];
    return sum;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint own = given[i];
    uint within = subgroupInclusiveAdd(own);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) sums[gl_SubgroupID] = within;
    barrier();
    scanned[i] = within + before(gl_SubgroupID);
}
