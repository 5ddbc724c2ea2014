#version 450
// The same with an addition of nothing, in a loop that is left in its middle.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Shared { uint flag; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    atomicAdd(flag, 1);
    for (;;) {
        if (atomicAdd(flag, 0) >= 2) break;
    }
    result[gl_WorkGroupID.x] = 1;
}
