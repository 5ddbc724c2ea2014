#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define SB gl_StorageSemanticsBuffer
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, SB, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define RELEASE gl_ScopeDevice, SB, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQ_REL gl_ScopeDevice, SB, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable
#define CAS_RELAXED(P, E, V) atomicCompSwap(P, E, V, gl_ScopeDevice, 0, 0, 0, 0)
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
const uint MOST = 32;
const uint SLOTS = 2;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint head; uint tail; uint lap[SLOTS]; uint item[SLOTS]; };
layout(set = 0, binding = 1) buffer Results { uint put[MOST]; uint got[MOST]; };
// The number of a slot, less its own, so that it begins with zero.
bool enqueue(uint x) {
    for (;;) {
        uint at = atomicLoad(tail, RELAXED);
        uint behind = atomicLoad(lap[at % SLOTS], ACQUIRE) + at % SLOTS - at;
        if (int(behind) < 0) return false;
        if (behind == 0 && CAS_RELAXED(tail, at, at + 1) == at) {
            item[at % SLOTS] = x;
            atomicStore(lap[at % SLOTS], at + 1 - at % SLOTS, RELEASE);
            return true;
        }
    }
    return false;
}
uint dequeue() {
    for (;;) {
        uint at = atomicLoad(head, RELAXED);
        uint behind = atomicLoad(lap[at % SLOTS], ACQUIRE) + at % SLOTS - (at + 1);
        if (int(behind) < 0) return 0;
        if (behind == 0 && CAS_RELAXED(head, at, at + 1) == at) {
            uint x = item[at % SLOTS];
            atomicStore(lap[at % SLOTS], at + SLOTS - at % SLOTS, RELEASE);
            return x;
        }
    }
    return 0;
}
void main() {
    uint i = gl_WorkGroupID.x;
    if (i < N) put[i] = enqueue(i + 7) ? 1 : 2;
    else got[i - N] = dequeue();
}
