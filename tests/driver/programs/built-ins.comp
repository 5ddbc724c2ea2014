// launch: --workgroups 2,3,2 --buffer 0.0=zeros:1536
#version 450
layout(local_size_x = 4, local_size_y = 2, local_size_z = 2) in;
layout(set = 0, binding = 0) buffer Result { uvec4 result[]; };
void main() {
    uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint at = (group * 16u + gl_LocalInvocationIndex) * 2u;
    result[at] = uvec4(gl_GlobalInvocationID, gl_LocalInvocationIndex);
    result[at + 1u] = uvec4(gl_LocalInvocationID.x * 100u + gl_LocalInvocationID.y * 10u + gl_LocalInvocationID.z, gl_WorkGroupSize.x * gl_WorkGroupSize.y, gl_WorkGroupID.y, gl_NumWorkGroups.z);
}
