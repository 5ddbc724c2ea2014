// launch: --workgroups 2 --buffer 0.0=zeros:128 --spec 0=-7 --spec 1=9 --spec 2=1 --spec 3=2.5 --spec 5=123456789012 --spec 7=4
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x_id = 7, local_size_y = 2) in;
layout(constant_id = 0) const int A = 3;
layout(constant_id = 1) const uint B = 5u;
layout(constant_id = 2) const bool C = false;
layout(constant_id = 3) const float D = 1.5;
layout(constant_id = 4) const uint E = 0xf0f0u;
layout(constant_id = 5) const int64_t F = 77l;
const int G = A * 5 + int(B) / 2 - (A % 4);
const uint H = (B << 3) ^ (E >> 2) | (B & 6u);
const bool I = C && (A < 0) || B == 2u;
const int J = I ? G : -G;
const uvec3 K = uvec3(B, E, B + E);
layout(set = 0, binding = 0) buffer Result { uint result[]; };
shared uint scratch[B + 7u];
void main() {
    uint i = gl_GlobalInvocationID.x + gl_LocalInvocationID.y * 8u;
    uint table[B];
    for (uint k = 0u; k < B; ++k) table[k] = k * H;
    if (gl_LocalInvocationIndex == 0u) for (uint k = 0u; k < scratch.length(); ++k) scratch[k] = k + uint(J);
    barrier();
    uint base = i * 8u;
    result[base] = uint(G);
    result[base + 1u] = H;
    result[base + 2u] = I ? 10u : 20u;
    result[base + 3u] = uint(J);
    result[base + 4u] = K.z + table[i % B];
    result[base + 5u] = floatBitsToUint(D * 2.0);
    result[base + 6u] = uint(F >> 3);
    result[base + 7u] = scratch[(i + 5u) % (B + 7u)] + gl_WorkGroupSize.x;
}
