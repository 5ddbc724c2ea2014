#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint sequence; uint low; uint high; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
void main() {
    if (gl_WorkGroupID.x == 0u) {
        for (uint version = 1u; version <= 2u; version++) {
            atomicStore(sequence, 2u * version - 1u, SCOPE, RELAXED);
            RELEASE_FENCE;
            atomicStore(low, version, SCOPE, RELAXED);
            atomicStore(high, version, SCOPE, RELAXED);
            atomicStore(sequence, 2u * version, SCOPE, RELEASE);
        }
    } else {
        uint start, a, b;
        do {
            start = atomicLoad(sequence, SCOPE, ACQUIRE);
            a = atomicLoad(low, SCOPE, RELAXED);
            b = atomicLoad(high, SCOPE, RELAXED);
            ACQUIRE_FENCE;
        } while (start % 2u != 0u || atomicLoad(sequence, SCOPE, RELAXED) != start);
        results[gl_WorkGroupID.x - 1u] = 10u * a + b;
    }
}
