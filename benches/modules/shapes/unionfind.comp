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
layout(set = 0, binding = 0) nonprivate buffer Shared { uint parent[MOST]; };
layout(set = 0, binding = 1) buffer Results { uint linked[MOST]; };
uint find(uint x) {
    for (;;) {
        uint p = atomicLoad(parent[x], RELAXED);
        if (p == 0) return x;
        x = p - 1;
    }
    return x;
}
void main() {
    uint i = gl_WorkGroupID.x;
    for (;;) {
        uint a = find(i);
        uint b = find((i + 1) % N);
        if (a == b) break;
        uint low = min(a, b);
        uint high = max(a, b);
        if (CAS_RELAXED(parent[high], 0u, low + 1) == 0) {
            linked[i] = high * N + low + 1;
            break;
        }
    }
}
