#version 450
// Data handed over: stored before a barrier and the addition, loaded behind an atomic poll with a barrier in each turn.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) coherent buffer Shared { uint flag; uint data[2]; };
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
void main() {
    uint id = gl_WorkGroupID.x;
    data[id] = id + 1;
    memoryBarrier();
    atomicAdd(flag, 1);
    while (atomicOr(flag, 0) < 2) memoryBarrier();
    memoryBarrier();
    result[id] = data[1 - id];
}
