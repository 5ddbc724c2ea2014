#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint next; uint serving; };
layout(set = 0, binding = 1) nonprivate buffer Results { uint total; };
void main() {
    uint ticket = atomicAdd(next, 1u, SCOPE, RELAXED);
    while (atomicLoad(serving, SCOPE, ACQUIRE) != ticket) {}
    total = 10u * total + gl_WorkGroupID.x + 1u;
    atomicStore(serving, ticket + 1u, SCOPE, RELEASE);
}
