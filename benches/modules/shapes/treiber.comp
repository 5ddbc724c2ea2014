#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
#define CAS_ACQUIRE(P, E, V) atomicCompSwap(P, E, V, gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0)
#define CAS_RELEASE(P, E, V) atomicCompSwap(P, E, V, gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable, 0, 0)
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
const uint MOST = 32;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint head; uint next[MOST]; uint value[MOST]; };
layout(set = 0, binding = 1) buffer Results { uint got[MOST]; };
void push(uint me) {
    for (;;) {
        uint h = atomicLoad(head, RELAXED);
        next[me] = h;
        if (CAS_RELEASE(head, h, me) == h) return;
    }
}
uint pop() {
    for (;;) {
        uint h = atomicLoad(head, ACQUIRE);
        if (h == 0) return 0;
        if (CAS_ACQUIRE(head, h, next[h]) == h) return value[h];
    }
    return 0;
}
void main() {
    uint i = gl_WorkGroupID.x;
    value[i + 1] = i + 7;
    push(i + 1);
    got[i] = pop();
}
