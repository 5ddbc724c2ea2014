#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint COUNT = 3;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint word; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// One counts up by stores, the others read as often.
void main() {
    uint id = gl_WorkGroupID.x;
    for (uint i = 0u; i < COUNT; i++) {
        if (id == 0u) {
            atomicStore(word, i + 1u, RELAXED);
        } else {
            results[(id - 1u) * COUNT + i] = atomicLoad(word, RELAXED);
        }
    }
}
