#version 450
// A scan of a workgroup in shared memory, with two buffers (Hillis and Steele).
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Input { float given[]; };
layout(set = 0, binding = 1) buffer Output { float scanned[]; };
shared float sums[2][1024];
float sum(uint at, uint i, uint far) {
    return i >= far ? sums[at][i] + sums[at][i - far] : sums[at][i];
}
void main() {
    uint i = gl_LocalInvocationID.x;
    uint at = 0;
    sums[0][i] = given[gl_GlobalInvocationID.x];
    barrier();
    for (uint far = 1; far < gl_WorkGroupSize.x; far *= 2) {
        sums[1 - at][i] = sum(at, i, far);
        at = 1 - at;
        barrier();
    }
    scanned[gl_GlobalInvocationID.x] = sums[at][i];
}
