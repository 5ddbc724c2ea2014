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
layout(set = 0, binding = 0) nonprivate buffer Shared { uint data; uint level[MOST]; uint victim[MOST]; };
layout(set = 0, binding = 1) buffer Results { uint seen[MOST]; };
// Peterson's lock for N: that the victim is exchanged orders the levels.
void main() {
    uint i = gl_WorkGroupID.x;
    for (uint l = 1; l < N; l++) {
        atomicStore(level[i], l, RELAXED);
        atomicExchange(victim[l], i + 1, ACQ_REL);
        for (uint k = 0; k < N; k++) {
            if (k == i) continue;
            while (atomicLoad(level[k], ACQUIRE) >= l && atomicLoad(victim[l], ACQUIRE) == i + 1) {}
        }
    }
    seen[i] = data;
    data = 2 * data + i + 1;
    atomicStore(level[i], 0u, RELEASE);
}
