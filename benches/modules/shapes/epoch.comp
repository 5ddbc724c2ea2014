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
layout(set = 0, binding = 0) nonprivate buffer Shared { uint epoch; uint reading[2]; uint data[2]; };
layout(set = 0, binding = 1) buffer Results { uint seen[MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    if (i == N) {
        data[1] = 7;
        atomicAdd(epoch, 1u, ACQ_REL);
        while (atomicLoad(reading[0], ACQUIRE) != 0) {}
        data[0] = 9;
        return;
    }
    uint e;
    for (;;) {
        e = atomicLoad(epoch, ACQUIRE);
        atomicAdd(reading[e], 1u, RELAXED);
        if (atomicAdd(epoch, 0u, ACQ_REL) == e) break;
        atomicAdd(reading[e], 0xffffffffu, RELEASE);
    }
    seen[i] = data[e];
    atomicAdd(reading[e], 0xffffffffu, RELEASE);
}
