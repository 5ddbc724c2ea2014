#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
// Each of two invocations adds what the other's variable holds to its own, again and again.
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 3;
layout(set = 0, binding = 0) buffer Shared { uint variables[2]; };

void main() {
    uint self = gl_WorkGroupID.x;
    for (uint i = 0; i < N; i++) {
        uint other = atomicLoad(variables[1 - self], gl_ScopeDevice, 0, 0);
        atomicAdd(variables[self], other, gl_ScopeDevice, 0, 0);
    }
}
