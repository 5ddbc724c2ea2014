#version 450
// Invocations with even numbers append to one list, the others to another one.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Counters { uint even; uint odd; };
layout(set = 0, binding = 1) buffer Lists { uint list[256]; uint other[256]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i % 2u == 0u) {
        list[atomicAdd(even, 1u)] = i * 3u + 1u;
    } else {
        other[atomicAdd(odd, 1u)] = i * 5u + 1u;
    }
}
