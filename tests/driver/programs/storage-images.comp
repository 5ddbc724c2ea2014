// launch: --workgroups 1 --buffer 0.0=zeros:160 --image 0.1=r32ui:4x4:words:0,37,74,111,148,185,222,8,45,82,119,156,193,230,16,53 --image 0.2=rgba16f:4x2,layers=2:words:0x3c003800,0x3d003880,0x3e003900,0x3f003980,0x40003a00,0x41003a80,0x42003b00,0x43003b80,0x44003c00,0x45003c80,0x46003d00,0x47003d80,0x48003e00,0x49003e80,0x4a003f00,0x4b003f80,0x4c004000,0x4d004080,0x4e004100,0x4f004180,0x50004200,0x51004280,0x52004300,0x53004380,0x54004400,0x55004480,0x56004500,0x57004580,0x58004600,0x59004680,0x5a004700,0x5b004780 --image 0.3=r32i:8:words:9,46,83,120,157,194,231,17 --image 0.4=rgba8:2x2x4:words:0x0,0x12345679,0x2468acf2,0x369d036b,0x48d159e4,0x5b05b05d,0x6d3a06d6,0x7f6e5d4f,0x91a2b3c8,0xa3d70a41,0xb60b60ba,0xc83fb733,0xda740dac,0xeca86425,0xfedcba9e,0x11111117 --image 0.5=r32ui:12:zeros
// tolerance: 1e-6
#version 450
layout(local_size_x = 4, local_size_y = 2) in;
layout(set = 0, binding = 0) buffer Result { uint result[]; };
layout(set = 0, binding = 1, r32ui) uniform uimage2D counts;
layout(set = 0, binding = 2, rgba16f) uniform image2DArray halves;
layout(set = 0, binding = 3, r32i) uniform iimage1D line;
layout(set = 0, binding = 4, rgba8) uniform image3D volume;
layout(set = 0, binding = 5, r32ui) uniform uimageBuffer texels;
void main() {
    uvec2 p = gl_LocalInvocationID.xy;
    uint i = gl_LocalInvocationIndex;
    uint at = i * 16u;
    result[at] = imageLoad(counts, ivec2(p)).x;
    result[at + 1u] = floatBitsToUint(imageLoad(halves, ivec3(p, 1)).y);
    result[at + 2u] = uint(imageLoad(line, int(i)).x);
    result[at + 3u] = floatBitsToUint(imageLoad(volume, ivec3(p.x & 1u, p.y, 3)).z);
    result[at + 4u] = uint(imageSize(counts).y + imageSize(halves).z * 10 + imageSize(line) * 100 + imageSize(volume).z * 1000 + imageSize(texels) * 10000);
    result[at + 5u] = imageAtomicAdd(counts, ivec2(p.x, p.y + 2u), i + 5u);
    result[at + 6u] = imageAtomicMax(counts, ivec2(p.x, p.y + 2u), 60u);
    result[at + 7u] = imageAtomicCompSwap(counts, ivec2(p.x, p.y + 2u), 60u, i);
    result[at + 8u] = imageAtomicExchange(texels, int(i), i * 3u);
    result[at + 9u] = imageAtomicXor(texels, int(i), 0xffu);
    imageStore(halves, ivec3(p, 0), vec4(p, i, -0.5));
    imageStore(line, int(i), ivec4(-int(i)));
    if (i < 4u) imageStore(volume, ivec3(i & 1u, i >> 1, 1), vec4(0.2, 0.55, 1.5, -1.0) + float(i) * 0.125);
}
