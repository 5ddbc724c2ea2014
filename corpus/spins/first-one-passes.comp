#version 450
// Whoever adds itself first goes on; the other waits for a value that the word has no more: one hangs, whichever.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Shared { uint flag; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    uint turn = atomicAdd(flag, 1);
    if (turn == 1) while (atomicOr(flag, 0) != 1);
    result[gl_WorkGroupID.x] = 1;
}
