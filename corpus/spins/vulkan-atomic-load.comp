#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
// Data handed over by a release addition and a poll of acquire loads.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flag; uint data[2]; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    uint id = gl_WorkGroupID.x;
    data[id] = id + 1;
    atomicAdd(flag, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible) < 2);
    result[id] = data[1 - id];
}
