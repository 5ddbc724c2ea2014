#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint lock; };
layout(set = 0, binding = 1) nonprivate buffer Results { uint total; };
void main() {
    while (atomicCompSwap(lock, 0u, 1u, SCOPE, ACQUIRE, RELAXED) != 0u) {}
    total = 10u * total + gl_WorkGroupID.x + 1u;
    atomicStore(lock, 0u, SCOPE, RELEASE);
}
