// launch: --buffer 0.9=zeros:640 --image 0.0=rgba32f:4x4,levels=3:words:0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000 --sampler 0.0=linear,repeat,mip-linear --image 0.1=r32f:4x4:words:0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000 --sampler 0.1=nearest,clamp --image 0.2=rg32f:4x2,layers=3:words:0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000 --sampler 0.3=linear,border --image 0.4=r32f:2x2x4:words:0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000,0x0,0x3f600000,0x3fe00000 --sampler 0.4=linear,mirror --image 0.5=r32f:2x2:words:0xbf600000,0x0,0x3f600000,0x3fe00000,0xbe800000,0x3f200000,0x3fc00000,0xbf000000,0x3ec00000,0x3fa00000,0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000,0x3f000000,0x3fb00000,0xbf200000,0x3e800000,0x3f900000,0xbf600000 --sampler 0.5=nearest,clamp --image 0.6=r32f:4x4:words:0x3e0590b2,0x3ede9bd3,0x3f3d37a7,0x3d321643,0x3eb21643,0x3f26f4df,0x3f74de9c,0x3e8590b2,0x3f10b216,0x3f5e9bd3,0x3e321643,0x3ef4de9c,0x3f48590b,0x3db21643,0x3ec8590b,0x3f321643 --sampler 0.6=nearest,clamp,less --image 0.7=rgba32i:4x3:words:0,37,74,111,148,185,222,8,45,82,119,156,193,230,16,53,90,127,164,201,238,24,61,98,135,172,209,246,32,69,106,143,180,217,3,40,77,114,151,188,225,11,48,85,122,159,196,233 --sampler 0.7=nearest,clamp --image 0.8=r32ui:9:words:5,42,79,116,153,190,227,13,50 --image 0.10=rgba8:4x4:words:0x0,0x12345679,0x2468acf2,0x369d036b,0x48d159e4,0x5b05b05d,0x6d3a06d6,0x7f6e5d4f,0x91a2b3c8,0xa3d70a41,0xb60b60ba,0xc83fb733,0xda740dac,0xeca86425,0xfedcba9e,0x11111117 --sampler 0.10=linear,mirror --image 0.11=r32f:8:words:0xbf400000,0x3e000000,0x3f800000,0xbf800000,0xbe000000,0x3f400000,0x3fd00000,0xbec00000 --sampler 0.11=nearest,repeat
// tolerance: 0.004
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) uniform sampler2D smooth_;
layout(set = 0, binding = 1) uniform sampler2D sharp;
layout(set = 0, binding = 2) uniform texture2DArray layered;
layout(set = 0, binding = 3) uniform sampler bordered;
layout(set = 0, binding = 4) uniform sampler3D volume;
layout(set = 0, binding = 5) uniform samplerCube cube;
layout(set = 0, binding = 6) uniform sampler2DShadow shadow;
layout(set = 0, binding = 7) uniform isampler2D integers;
layout(set = 0, binding = 8) uniform usamplerBuffer texels;
layout(set = 0, binding = 10) uniform sampler2D bytes;
layout(set = 0, binding = 11) uniform sampler1D line;
layout(set = 0, binding = 9) buffer Result { vec4 result[]; };
// lavapipe takes the level of textureSize from one invocation for all: it is the same for all here.
void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = i * 10u;
    vec2 p = vec2(float(i) * 0.21 - 1.03, float(i % 5u) * 0.37 - 0.52);
    result[at] = textureLod(smooth_, p, 0.0);
    result[at + 1u] = textureLod(smooth_, p, 1.25);
    result[at + 2u] = vec4(textureLod(sharp, p, 0.0).x, textureLodOffset(sharp, p, 0.0, ivec2(1, -1)).x, texelFetch(smooth_, ivec2(i % 2u, i / 8u), 1).xy);
    result[at + 3u] = vec4(textureLod(sampler2DArray(layered, bordered), vec3(p, float(i % 4u)), 0.0).xy, textureLod(volume, vec3(p, 0.3 * float(i)), 0.0).x, textureLod(cube, vec3(float(i) - 7.5, p), 0.0).x);
    result[at + 4u] = textureGather(sharp, clamp(p, 0.13, 0.82));
    result[at + 5u] = textureGather(sampler2DArray(layered, bordered), vec3(clamp(p, 0.13, 0.82), 1.0), 1);
    result[at + 6u] = vec4(textureLod(shadow, vec3(clamp(p, 0.0, 1.0), 0.4), 0.0), textureLod(line, p.x, 0.0).x, texelFetchOffset(integers, ivec2(1, 1), 0, ivec2(1, -1)).y, texelFetch(integers, ivec2(i % 4u, i % 3u), 0).z);
    result[at + 7u] = vec4(texelFetch(texels, int(i % 9u)).x, textureSize(texels), textureSize(layered, 0).z, textureQueryLevels(smooth_));
    result[at + 8u] = vec4(textureSize(smooth_, 1), textureSize(volume, 0).z, textureSize(cube, 0).x);
    result[at + 9u] = textureLod(bytes, p, 0.0);
}
