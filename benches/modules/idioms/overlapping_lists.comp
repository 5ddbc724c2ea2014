#version 450
// Where an even invocation stores depends on its place and on its number. An odd one stores where the second of them does if
// it has the first place.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Counters { uint even; uint odd; };
layout(set = 0, binding = 1) buffer Lists { uint list[256]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i % 2u == 0u) {
        list[8u * atomicAdd(even, 1u) + i / 2u] = i;
    } else if (atomicAdd(odd, 1u) == 0u) {
        list[1] = 7u;
    }
}
