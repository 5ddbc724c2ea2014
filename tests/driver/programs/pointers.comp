// launch: --workgroups 1 --buffer 0.0=zeros:64 --buffer 0.1=words:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --buffer 0.2=zeros:32 --push words:0,0,0,0,7,9 --push-pointer 0=0.1+8 --push-pointer 8=0.2
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { uint a; uint b; uvec2 c; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Node node; Words words; uint k; uint m; } push;
layout(set = 0, binding = 0) buffer Result { uint result[]; };
layout(set = 0, binding = 1) buffer Source { uint source[]; };
layout(set = 0, binding = 2) buffer Target { uint target[]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    Node second = push.node + 1;
    result[i * 8u] = push.node.a + push.node.b * 100u;
    result[i * 8u + 1u] = second.c.y + second.a;
    Words tail = Words(uvec2(push.words) + uvec2(i * 16u, 0u));
    tail.list[0] = i + push.k;
    tail.list[1] = tail.list[0] * push.m;
    result[i * 8u + 2u] = uvec2(second) == uvec2(push.node) ? 1u : 2u;
    Node chosen = (i & 1u) == 0u ? push.node : second;
    result[i * 8u + 3u] = chosen.c.x;
    result[i * 8u + 4u] = push.node[i & 1u].b;
}
