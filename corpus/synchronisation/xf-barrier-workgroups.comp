#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flags[8]; uint data[]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };

// Among the invocations of a workgroup: what it makes available to them, the flags carry on to other workgroups.
void workgroup_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, STORAGE,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

// As many invocations in a workgroup as there are workgroups: the first workgroup's invocation i serves workgroup i.
void main() {
    uint local = gl_LocalInvocationIndex;
    uint group = gl_WorkGroupID.x;
    uint count = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    data[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x + 1u;
    workgroup_barrier();
    if (group == 0u) {
        if (local != 0u) {
            while (atomicLoad(flags[local], SCOPE, ACQUIRE) == 0u) {}
        }
        workgroup_barrier();
        if (local != 0u) {
            atomicStore(flags[local], 2u, SCOPE, RELEASE);
        }
    } else {
        if (local == 0u) {
            atomicStore(flags[group], 1u, SCOPE, RELEASE);
            while (atomicLoad(flags[group], SCOPE, ACQUIRE) != 2u) {}
        }
        workgroup_barrier();
    }
    results[gl_GlobalInvocationID.x] = data[(gl_GlobalInvocationID.x + gl_WorkGroupSize.x) % count];
}
