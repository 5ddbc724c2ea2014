#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint bins[8]; };
void main() {
    atomicAdd(bins[gl_GlobalInvocationID.x * 5u % 8u], 1u, gl_ScopeDevice, 0, 0);
}
