#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint word; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// The first half writes.
void main() {
    uint id = gl_WorkGroupID.x;
    uint writers = gl_NumWorkGroups.x / 2u;
    if (id < writers) {
        atomicStore(word, id + 1u, RELAXED);
    } else {
        results[id - writers] = atomicLoad(word, RELAXED);
    }
}
