#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint tail; uint head; uint ready[8]; uint items[8]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
// The first half puts an item each, the second takes one each.
void main() {
    uint id = gl_WorkGroupID.x;
    uint producers = gl_NumWorkGroups.x / 2u;
    if (id < producers) {
        uint slot = atomicAdd(tail, 1u, SCOPE, RELAXED);
        items[slot] = id + 1u;
        atomicStore(ready[slot], 1u, SCOPE, RELEASE);
    } else {
        uint slot = atomicAdd(head, 1u, SCOPE, RELAXED);
        while (atomicLoad(ready[slot], SCOPE, ACQUIRE) == 0u) {}
        results[id - producers] = items[slot];
    }
}
