#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Results { uint results[4]; };
shared uint x;
void main() {
    uint id = gl_LocalInvocationIndex;
    if (id < 2) {
        atomicStore(x, id + 1, gl_ScopeDevice, 0, 0);
    } else {
        results[2 * id - 4] = atomicLoad(x, gl_ScopeDevice, 0, 0);
        results[2 * id - 3] = atomicLoad(x, gl_ScopeDevice, 0, 0);
    }
}
