// launch: --workgroups 2 --buffer 0.0=zeros:1024 --buffer 0.1=words:5,3,0xffffffff,0x80000000,7,7,12,0,9,1,2,4,8,16,32,64
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer Result { uint result[]; };
layout(set = 0, binding = 1) readonly buffer Input { uint data[]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    uint x = data[i];
    uint at = gl_GlobalInvocationID.x * 32u;
    result[at] = gl_SubgroupSize * 1000u + gl_NumSubgroups * 100u + gl_SubgroupID * 10u + gl_SubgroupInvocationID;
    result[at + 1u] = subgroupAdd(x);
    result[at + 2u] = subgroupInclusiveAdd(x);
    result[at + 3u] = subgroupExclusiveMul(x | 1u);
    result[at + 4u] = uint(subgroupMin(int(x)));
    result[at + 5u] = subgroupMax(x);
    result[at + 6u] = subgroupInclusiveXor(x);
    result[at + 7u] = subgroupExclusiveOr(x);
    result[at + 8u] = subgroupAnd(x | 0x10u);
    result[at + 9u] = floatBitsToUint(subgroupAdd(float(x & 15u) * 0.5));
    result[at + 10u] = floatBitsToUint(subgroupExclusiveMin(float(int(x))));
    uvec4 ballot = subgroupBallot((x & 1u) == 1u);
    result[at + 11u] = ballot.x;
    result[at + 12u] = subgroupBallotBitCount(ballot) + 10u * subgroupBallotInclusiveBitCount(ballot) + 100u * subgroupBallotExclusiveBitCount(ballot);
    result[at + 13u] = subgroupBallotFindLSB(ballot) + 10u * subgroupBallotFindMSB(ballot) + (subgroupInverseBallot(ballot) ? 100u : 0u) + (subgroupBallotBitExtract(ballot, 2u) ? 1000u : 0u);
    result[at + 14u] = (subgroupElect() ? 1u : 0u) + (subgroupAll(x > 0u) ? 2u : 0u) + (subgroupAny(x > 6u) ? 4u : 0u) + (subgroupAllEqual(x) ? 8u : 0u) + (subgroupAllEqual(7u) ? 16u : 0u);
    result[at + 15u] = subgroupBroadcast(x, 3u) ^ subgroupBroadcastFirst(x + 1u);
    result[at + 16u] = subgroupShuffle(x, (i * 3u) & 7u);
    result[at + 17u] = subgroupShuffleXor(x, 5u);
    result[at + 18u] = subgroupQuadBroadcast(x, 2u);
    result[at + 19u] = subgroupQuadSwapHorizontal(x);
    result[at + 20u] = subgroupQuadSwapVertical(x) ^ subgroupQuadSwapDiagonal(x);
    uvec3 v = subgroupMax(uvec3(x, i, 7u - (x & 7u)));
    result[at + 21u] = v.x ^ v.y ^ v.z;
    if (i < 11u) {
        result[at + 22u] = subgroupAdd(i + 1u);
        result[at + 23u] = subgroupBallot(true).x;
        result[at + 24u] = subgroupElect() ? 1u : 0u;
    } else {
        result[at + 22u] = subgroupMul(i);
        result[at + 23u] = subgroupInclusiveMin(x);
        result[at + 24u] = subgroupBroadcastFirst(i);
    }
    for (uint k = 0u; k < 3u; ++k) {
        if ((i & 3u) == k) {
            result[at + 25u + k] = subgroupAdd(x + k);
        }
    }
    result[at + 28u] = gl_SubgroupEqMask.x ^ (gl_SubgroupGeMask.x << 8) ^ (gl_SubgroupLtMask.x << 16);
    result[at + 29u] = gl_SubgroupGtMask.x ^ (gl_SubgroupLeMask.x << 8);
    result[at + 30u] = uint(subgroupAnd(x > 2u)) + uint(subgroupOr(x > 100u)) * 2u + uint(subgroupXor(i > 4u)) * 4u;
}
