#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 2;
const uint MOST = 32;
const uint K = 3;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint ends; };
layout(set = 0, binding = 1) buffer Results { int taken[MOST]; };
int take(bool front) {
    uint e = atomicLoad(ends, ACQUIRE);
    for (;;) {
        uint lo = e & 255, hi = e >> 8;
        if (lo >= hi) return -1;
        uint want = front ? ((lo + 1) | hi << 8) : (lo | (hi - 1) << 8);
        uint old = atomicCompSwap(ends, e, want, gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
        if (old == e) return front ? int(lo) : int(hi - 1);
        e = old;
    }
    return -1;
}
void main() {
    uint id = gl_WorkGroupID.x;
    if (id == 0) {
        for (uint i = 0; i < K; i++) taken[i] = take(false);
    } else {
        taken[K + id - 1] = take(true);
    }
}
