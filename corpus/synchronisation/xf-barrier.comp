#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flags[8]; uint data[]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
void main() {
    uint id = gl_WorkGroupID.x;
    uint count = gl_NumWorkGroups.x;
    data[id] = id + 1u;
    if (id == 0u) {
        for (uint other = 1u; other < count; other++) {
            while (atomicLoad(flags[other], SCOPE, ACQUIRE) == 0u) {}
        }
        for (uint other = 1u; other < count; other++) {
            atomicStore(flags[other], 2u, SCOPE, RELEASE);
        }
    } else {
        atomicStore(flags[id], 1u, SCOPE, RELEASE);
        while (atomicLoad(flags[id], SCOPE, ACQUIRE) != 2u) {}
    }
    results[id] = data[(id + 1u) % count];
}
