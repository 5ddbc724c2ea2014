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
const uint S = 2;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint head; uint tail; uint slot[S]; };
layout(set = 0, binding = 1) buffer Results { uint got[MOST]; };
void main() {
    uint id = gl_WorkGroupID.x;
    if (id == 0) {
        for (uint k = 0; k < N; k++) {
            while (int(k - atomicLoad(head, ACQUIRE)) >= int(S)) {}
            slot[k % S] = k + 1;
            atomicStore(tail, k + 1, RELEASE);
        }
    } else {
        uint n = 0;
        for (uint tries = 0; tries < 2; tries++) {
            uint h = atomicLoad(head, RELAXED);
            if (h >= atomicLoad(tail, ACQUIRE)) continue;
            if (atomicCompSwap(head, h, h + 1, gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable, 0, 0) == h) {
                got[(id - 1) * N + n] = h + 1;
                n++;
            }
        }
    }
}
