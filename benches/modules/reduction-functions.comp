// A tree reduction as it is written, with functions and local variables. The .spvasm beside it is what glslang makes of it:
// glslangValidator -V --target-env vulkan1.3 -g0 -S comp reduction-functions.comp -o x.spv; spirv-dis --no-indent x.spv
#version 450
#pragma use_vulkan_memory_model
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint SIZE = 64;
layout(std430, binding = 0) buffer Data { uint values[]; };
layout(std430, binding = 1) buffer Result { uint total; };
shared uint partial[SIZE];

uint loaded(uint index) {
    uint value = values[index];
    return value * 3u + 1u;
}

void add(uint into, uint from) {
    uint sum = partial[into] + partial[from];
    partial[into] = sum;
}

void main() {
    uint local = gl_LocalInvocationID.x;
    partial[local] = loaded(local);
    barrier();
    for (uint stride = SIZE / 2u; stride > 0u; stride >>= 1) {
        if (local < stride) {
            add(local, local + stride);
        }
        barrier();
    }
    if (local == 0u) {
        total = partial[0];
    }
}
