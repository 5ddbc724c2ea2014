#version 450
// Each of two workgroups adds itself, and waits for the other by updates that change nothing.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Shared { uint flag; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    atomicAdd(flag, 1);
    while (atomicOr(flag, 0) < 2);
    result[gl_WorkGroupID.x] = 1;
}
