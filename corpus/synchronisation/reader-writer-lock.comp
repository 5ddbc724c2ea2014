#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint state; uint low; uint high; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
layout(constant_id = 0) const uint writers = 1;
const uint WRITER = 0x80000000u;
// The first ones write, the others read. The state has WRITER, or counts the readers.
void main() {
    uint id = gl_WorkGroupID.x;
    if (id < writers) {
        while (atomicCompSwap(state, 0u, WRITER, SCOPE, ACQUIRE, RELAXED) != 0u) {}
        low = low + 1u;
        high = high + 1u;
        atomicStore(state, 0u, SCOPE, RELEASE);
    } else {
        uint seen;
        do {
            seen = atomicLoad(state, SCOPE, RELAXED);
        } while (seen >= WRITER || atomicCompSwap(state, seen, seen + 1u, SCOPE, ACQUIRE, RELAXED) != seen);
        results[id] = 10u * low + high;
        atomicAdd(state, uint(-1), SCOPE, RELEASE);
    }
}
