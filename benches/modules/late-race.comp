#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint counter; uint words[]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// The last to count reads a word that the first to count has written: no synchronisation.
void main() {
    uint id = gl_WorkGroupID.x;
    uint turn = atomicAdd(counter, 1u, RELAXED);
    results[id] = turn;
    words[turn] = id;
    if (turn == gl_NumWorkGroups.x - 1u && id == 0u) results[id] = words[0];
}
