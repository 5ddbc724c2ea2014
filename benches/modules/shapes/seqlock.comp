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
layout(set = 0, binding = 0) nonprivate buffer Shared { uint seq; int a; int b; };
layout(set = 0, binding = 1) buffer Results { int got[MOST]; };
void main() {
    uint id = gl_WorkGroupID.x;
    if (id == 0) {
        for (uint k = 1; k <= N; k++) {
            atomicStore(seq, 2 * k - 1, RELAXED);
            memoryBarrier(gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
            atomicStore(a, int(k), RELAXED);
            atomicStore(b, -int(k), RELAXED);
            atomicStore(seq, 2 * k, RELEASE);
        }
    } else {
        uint i = id - 1;
        for (;;) {
            uint s = atomicLoad(seq, ACQUIRE);
            if ((s & 1) != 0) continue;
            int u = atomicLoad(a, RELAXED);
            int v = atomicLoad(b, RELAXED);
            memoryBarrier(gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
            if (atomicLoad(seq, RELAXED) == s) {
                got[2 * i] = u;
                got[2 * i + 1] = v;
                return;
            }
        }
    }
}
