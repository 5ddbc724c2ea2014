#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
#define CAS_RELAXED(P, E, V) atomicCompSwap(P, E, V, gl_ScopeDevice, 0, 0, 0, 0)
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
const uint MOST = 32;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint taken; };
layout(set = 0, binding = 1) buffer Results { uint got[MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    for (;;) {
        uint v = atomicLoad(taken, RELAXED);
        int bit = findLSB(~v);
        if (CAS_RELAXED(taken, v, v | 1u << bit) == v) {
            got[i] = bit + 1;
            break;
        }
    }
}
