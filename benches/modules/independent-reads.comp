#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint words[2]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// Two write a word each, the others read both, in either order.
void main() {
    uint id = gl_WorkGroupID.x;
    if (id < 2u) {
        atomicStore(words[id], 1u, RELAXED);
    } else {
        results[2u * id - 4u] = atomicLoad(words[id % 2u], RELAXED);
        results[2u * id - 3u] = atomicLoad(words[1u - id % 2u], RELAXED);
    }
}
