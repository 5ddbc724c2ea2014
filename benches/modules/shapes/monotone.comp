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
layout(set = 0, binding = 0) nonprivate buffer Shared { uint count; uint word[2 * MOST]; };
layout(set = 0, binding = 1) buffer Results { uint seen[2 * MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    for (uint r = 0; r < 2; r++) {
        word[r * N + i] = i + 10 * r;
        atomicAdd(count, 1u, RELEASE);
        while (atomicLoad(count, ACQUIRE) < (r + 1) * N) {}
        seen[r * N + i] = word[r * N + (i + 1) % N];
    }
}
