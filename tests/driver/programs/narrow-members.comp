// launch: --buffer 0.0=words:0x3f000000,0x3f400000,0x3f800000,0x3fa00000,0x3fc00000,0x3fe00000,0x40000000,0x40100000,0x40200000,0x40300000,0x40400000,0x40500000,0x40600000,0x40700000,0x40800000,0x40880000,0x40900000,0x40980000,0x40a00000,0x40a80000,0x40b00000,0x40b80000,0x40c00000,0x40c80000,0x40d00000,0x40d80000,0x40e00000,0x40e80000,0x40f00000,0x40f80000,0x41000000,0x41040000 --buffer 0.1=words:0x3f000000,0x3f400000,0x3f800000,0x3fa00000,0x3fc00000,0x3fe00000,0x40000000,0x40100000,0x40200000,0x40300000,0x40400000,0x40500000,0x40600000,0x40700000,0x40800000,0x40880000,0x40900000,0x40980000,0x40a00000,0x40a80000,0x40b00000,0x40b80000,0x40c00000,0x40c80000,0x40d00000,0x40d80000,0x40e00000,0x40e80000,0x40f00000,0x40f80000,0x41000000,0x41040000 --buffer 0.2=zeros:128 --push words:0x3f000000,0x3f400000,0x3f800000,0x3fa00000
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer Narrow { uint8_t a; int8_t b; uint16_t c; u8vec3 d; int16_t e; i16vec3 f; uint8_t list[]; } narrow;
layout(set = 0, binding = 1, std140) uniform Block { uint8_t a; uint16_t b; f16vec2 h; uint64_t l; u8vec4 v; int64_t m[2]; } block;
layout(set = 0, binding = 2, std430) buffer Result { int result[]; };
layout(push_constant) uniform Push { uint8_t a; uint16_t b; u8vec2 c; int64_t d; } push;
void main() {
    uint i = gl_LocalInvocationIndex;
    uint base = i * 16u;
    result[base] = int(narrow.a);
    result[base + 1u] = int(narrow.b);
    result[base + 2u] = int(narrow.c);
    result[base + 3u] = int(narrow.d[i % 3u]);
    result[base + 4u] = int(narrow.e);
    result[base + 5u] = int(narrow.f[i % 3u]);
    result[base + 6u] = int(narrow.list[i]);
    result[base + 7u] = int(block.a) + int(block.b) * 256;
    result[base + 8u] = int(block.l >> 32) ^ int(block.l);
    result[base + 9u] = int(block.v[i % 4u]);
    result[base + 10u] = int(block.m[i % 2u] >> 7);
    result[base + 11u] = int(float16BitsToUint16(block.h[i % 2u]));
    result[base + 12u] = int(push.a) + int(push.c[i % 2u]);
    result[base + 13u] = int(push.b) - int(push.d);
    narrow.list[8u + i * 3u] = uint8_t(i * 37u);
    narrow.list[9u + i * 3u] = uint8_t(200u + i);
}
