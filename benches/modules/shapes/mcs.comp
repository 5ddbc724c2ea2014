#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
#define CAS_RELEASE(P, E, V) atomicCompSwap(P, E, V, gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable, 0, 0)
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
const uint MOST = 32;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint tail; uint data; uint next[MOST]; uint granted[MOST]; };
layout(set = 0, binding = 1) buffer Results { uint seen[MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    uint before = atomicExchange(tail, i + 1, ACQ_REL);
    if (before != 0) {
        atomicStore(next[before - 1], i + 1, RELEASE);
        while (atomicLoad(granted[i], ACQUIRE) == 0) {}
    }
    seen[i] = data;
    data = 2 * data + i + 1;
    uint after = atomicLoad(next[i], ACQUIRE);
    if (after == 0) {
        if (CAS_RELEASE(tail, i + 1, 0u) == i + 1) return;
        do after = atomicLoad(next[i], ACQUIRE); while (after == 0);
    }
    atomicStore(granted[after - 1], 1u, RELEASE);
}
