#version 450
// Both wait for a third workgroup that does not come: an endless loop of atomic updates.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Shared { uint flag; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    atomicAdd(flag, 1);
    while (atomicOr(flag, 0) < 3);
    result[gl_WorkGroupID.x] = 1;
}
