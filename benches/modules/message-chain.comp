#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flags[8]; uint data; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// The first writes a message, each hands it on to the next if it has it.
void main() {
    uint id = gl_WorkGroupID.x;
    bool has = true;
    if (id == 0u) {
        data = 7u;
    } else {
        has = atomicLoad(flags[id], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible) == 1u;
        if (has) results[id] = data;
    }
    if (has) {
        atomicStore(flags[id + 1u], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    }
}
