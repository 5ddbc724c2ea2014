#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
#define CAS_ACQUIRE(P, E, V) atomicCompSwap(P, E, V, gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0)
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
const uint MOST = 32;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint lock; uint data; };
layout(set = 0, binding = 1) buffer Results { uint seen[MOST]; };
const uint WRITER = 0x80000000u;
void main() {
    uint i = gl_WorkGroupID.x;
    if (i % 2 == 0) {
        while (CAS_ACQUIRE(lock, 0u, WRITER) != 0) {}
        data = 2 * data + i + 1;
        atomicStore(lock, 0u, RELEASE);
    } else {
        for (;;) {
            uint c = atomicLoad(lock, RELAXED);
            if (c < WRITER && CAS_ACQUIRE(lock, c, c + 1) == c) break;
        }
        seen[i] = data;
        atomicAdd(lock, 0xffffffffu, RELEASE);
    }
}
