// A mistake of lavapipe (Mesa 22.3.6) that `spirv-tv fuzz driver` found, by hand made small: a control barrier with memory
// scope QueueFamily does not keep the reads of non-private memory behind it. With gl_ScopeDevice or gl_ScopeWorkgroup in its
// place every outcome is allowed.
//
//     glslangValidator -V --target-env vulkan1.3 lavapipe-queue-family-barrier.comp -o barrier.spv
//     spirv-tv run barrier.spv --workgroups 1 --subgroup-size 8
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 16) in;
layout(binding = 0) nonprivate buffer Memory { uint x[8]; uint y[8]; } memory;
layout(binding = 1) buffer Seen { uint seen[16]; };

void main() {
    uint role = gl_LocalInvocationIndex >> 3, lane = gl_LocalInvocationIndex & 7, value = 9;
    switch (role) {
    case 0: memory.x[lane] = 1; break;
    case 1: memory.y[lane] = 1; break;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    switch (role) {
    case 0: value = memory.y[lane]; break;
    case 1: value = memory.x[lane]; break;
    }
    seen[gl_LocalInvocationIndex] = value;
}
