#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint locks[2]; };
layout(set = 0, binding = 1) nonprivate buffer Results { uint total; };
void main() {
#ifdef OPPOSITE
    uint first = gl_WorkGroupID.x % 2u;
#else
    uint first = 0u;
#endif
    while (atomicCompSwap(locks[first], 0u, 1u, SCOPE, ACQUIRE, RELAXED) != 0u) {}
    while (atomicCompSwap(locks[1u - first], 0u, 1u, SCOPE, ACQUIRE, RELAXED) != 0u) {}
    total = 10u * total + gl_WorkGroupID.x + 1u;
    atomicStore(locks[1u - first], 0u, SCOPE, RELEASE);
    atomicStore(locks[first], 0u, SCOPE, RELEASE);
}
