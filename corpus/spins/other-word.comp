#version 450
// Each turn loads another word, too, which nobody writes.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) coherent buffer Shared { uint flag; uint other; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    uint last;
    atomicAdd(flag, 1);
    for (;;) {
        last = other;
        if (flag >= 2) break;
    }
    result[gl_WorkGroupID.x] = last + 1;
}
