#version 450
// A lock in Workgroup memory, between the invocations of one workgroup.
#extension GL_GOOGLE_include_directive : require
#define STORAGE gl_StorageSemanticsShared
#define SCOPE gl_ScopeWorkgroup
#include "semantics.glsl"
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 1) buffer Results { uint result; };
shared uint lock;
shared uint total;
shared uint left;
void main() {
    if (gl_LocalInvocationIndex == 0u) {
        lock = 0u;
        total = 0u;
        left = gl_WorkGroupSize.x;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    while (atomicExchange(lock, 1u, SCOPE, ACQUIRE) != 0u) {}
    total = 10u * total + gl_LocalInvocationIndex + 1u;
    left = left - 1u;
    if (left == 0u) result = total;
    atomicStore(lock, 0u, SCOPE, RELEASE);
}
