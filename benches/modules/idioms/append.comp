#version 450
// Each invocation takes the next slot and leaves there what depends on who it is.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Counter { uint count; };
layout(set = 0, binding = 1) buffer Slots { uint slots[]; };

void main() {
    uint slot = atomicAdd(count, 1u);
    slots[slot] = gl_GlobalInvocationID.x * 3u + 1u;
}
