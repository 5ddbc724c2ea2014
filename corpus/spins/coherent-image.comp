#version 450
// Each of two workgroups adds itself to a texel, and waits for the other by loads of a coherent image.
layout(local_size_x = 1) in;
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
layout(set = 0, binding = 2, r32ui) coherent uniform uimage2D flag;
void main() {
    imageAtomicAdd(flag, ivec2(0), 1);
    while (imageLoad(flag, ivec2(0)).x < 2);
    result[gl_WorkGroupID.x] = 1;
}
