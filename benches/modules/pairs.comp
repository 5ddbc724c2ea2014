#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flags[]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// Store buffering between neighbours.
void main() {
    uint id = gl_WorkGroupID.x;
    atomicStore(flags[id], 1u, RELAXED);
    results[id] = atomicLoad(flags[id ^ 1u], RELAXED);
}
