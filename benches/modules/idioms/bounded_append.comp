#version 450
// The first sixteen leave something.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Counter { uint count; };
layout(set = 0, binding = 1) buffer Slots { uint slots[]; };

void main() {
    uint slot = atomicAdd(count, 1u);
    if (slot < 16u) {
        slots[slot] = gl_GlobalInvocationID.x & 15u;
        slots[slot + 32u] = slot * 2u;
    }
}
