#version 450
// A product of matrices in tiles of 8 x 8 by workgroups of as many rows of eight as there are to be.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint SIZE = 64;
layout(set = 0, binding = 0) buffer Left { float left[]; };
layout(set = 0, binding = 1) buffer Right { float right[]; };
layout(set = 0, binding = 2) buffer Product { float product[]; };
shared float lefts[1024];
shared float rights[64];
float row(uint y, uint x) {
    float sum = 0;
    for (uint k = 0; k < 8; k++) sum += lefts[8 * y + k] * rights[8 * k + x];
    return sum;
}
void main() {
    uint i = gl_LocalInvocationID.x;
    uint x = i % 8;
    uint y = i / 8;
    uint base = gl_WorkGroupID.x * SIZE;
    float sum = 0;
    for (uint tile = 0; tile < 2; tile++) {
        lefts[i] = left[2 * base + 16 * y + 8 * tile + x];
        if (i < 64) rights[i] = right[64 * tile + i];
        barrier();
        sum += row(y, x);
        barrier();
    }
    product[base + i] = sum;
}
