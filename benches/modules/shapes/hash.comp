#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
const uint MOST = 32;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint table[MOST]; };
layout(set = 0, binding = 1) buffer Results { int found[MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    for (uint h = 0;; h++) {
        if (atomicCompSwap(table[h], 0u, i + 1, gl_ScopeDevice, 0, 0, 0, 0) == 0) break;
    }
    uint want = (i + 1) % N + 1;
    int at = -1;
    for (uint k = 0; k < 2 * N; k++) {
        uint v = atomicLoad(table[k], RELAXED);
        if (v == want) { at = int(k); break; }
        if (v == 0) break;
    }
    found[i] = at;
}
