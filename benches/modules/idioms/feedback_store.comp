#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
// Each invocation of a ring stores the sum of what its neighbour's variable and its own hold, again and again.
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
layout(set = 0, binding = 0) buffer Shared { uint variables[]; };

void main() {
    uint self = gl_WorkGroupID.x;
    uint next = (self + 1) % gl_NumWorkGroups.x;
    for (uint i = 0; i < N; i++) {
        uint there = atomicLoad(variables[next], gl_ScopeDevice, 0, 0);
        uint here = atomicLoad(variables[self], gl_ScopeDevice, 0, 0);
        atomicStore(variables[self], there + here, gl_ScopeDevice, 0, 0);
    }
}
