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
layout(set = 0, binding = 0) nonprivate buffer Shared { uint sense; uint word[MOST]; uint node[MOST]; };
layout(set = 0, binding = 1) buffer Results { uint seen[MOST]; };
void main() {
    uint i = gl_WorkGroupID.x;
    word[i] = i + 10;
    uint base = 0;
    uint at = i;
    uint width = N;
    while (width > 1) {
        uint children = min(2u, width - at / 2 * 2);
        if (atomicAdd(node[base + at / 2], 1u, ACQ_REL) != children - 1) break;
        width = (width + 1) / 2;
        base += width;
        at /= 2;
    }
    if (width == 1) {
        atomicStore(sense, 1u, RELEASE);
    } else {
        while (atomicLoad(sense, ACQUIRE) == 0) {}
    }
    seen[i] = word[(i + 1) % N];
}
