#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// A sum: within subgroups, then by the first subgroup in shared memory.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Input { uint given[]; };
layout(set = 0, binding = 1) buffer Output { uint total[]; };
shared uint sums[1024];
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint sum = subgroupAdd(given[i]);
    if (subgroupElect()) sums[gl_SubgroupID] = sum;
    barrier();
    if (gl_SubgroupID == 0) {
        uint rest = 0;
        for (uint k = gl_SubgroupInvocationID; k < gl_NumSubgroups; k += gl_SubgroupSize) rest += sums[k];
        rest = subgroupAdd(rest);
        if (subgroupElect()) total[gl_WorkGroupID.x] = rest;
    }
}
