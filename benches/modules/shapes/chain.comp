#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 4;
const uint MOST = 32;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flag[MOST]; uint sum[MOST]; };
layout(set = 0, binding = 1) buffer Results { int seen[MOST]; };
void main() {
    uint id = gl_WorkGroupID.x;
    if (id < N) {
        uint i = id + 1;
        while (atomicLoad(flag[i - 1], ACQUIRE) == 0) {}
        sum[i] = sum[i - 1] + i;
        atomicStore(flag[i], 1u, RELEASE);
    } else {
        uint i = id - N + 1;
        seen[i - 1] = atomicLoad(flag[i], ACQUIRE) != 0 ? int(sum[i]) : -1;
    }
}
