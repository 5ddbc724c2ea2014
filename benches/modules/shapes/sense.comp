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
const uint R = 2;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint count; uint sense; uint word[MOST]; };
layout(set = 0, binding = 1) buffer Results { uint seen[MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    for (uint r = 0; r < R; r++) {
        word[r * N + i] = i + 10 * r;
        uint mine = 1 - (r & 1);
        if (atomicAdd(count, 1u, ACQ_REL) == N - 1) {
            atomicStore(count, 0u, RELAXED);
            atomicStore(sense, mine, RELEASE);
        } else {
            while (atomicLoad(sense, ACQUIRE) != mine) {}
        }
        seen[r * N + i] = word[r * N + (i + 1) % N];
    }
}
