#version 450
// A barrier in the loop orders nothing that is not atomic: the plain loads race all the same.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) coherent buffer Shared { uint flag; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    atomicAdd(flag, 1);
    while (flag < 2) memoryBarrier();
    result[gl_WorkGroupID.x] = 1;
}
