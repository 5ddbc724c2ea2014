#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint ROUNDS = 2;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint arrived; uint sense; uint data[]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
void main() {
    uint id = gl_WorkGroupID.x;
    uint count = gl_NumWorkGroups.x;
    uint mine = 0u;
    for (uint round = 0u; round < ROUNDS; round++) {
        data[round * count + id] = 10u * round + id + 1u;
        mine = 1u - mine;
        if (atomicAdd(arrived, 1u, SCOPE, BOTH) == count - 1u) {
            atomicStore(arrived, 0u, SCOPE, RELAXED);
            atomicStore(sense, mine, SCOPE, RELEASE);
        } else {
            while (atomicLoad(sense, SCOPE, ACQUIRE) != mine) {}
        }
        results[round * count + id] = data[round * count + (id + 1u) % count];
    }
}
