// launch: --workgroups 1 --buffer 0.0=words:5,0xfffffff0,17 --buffer 0.1=zeros:32
#version 450
layout(local_size_x = 2) in;
layout(set = 0, binding = 0) readonly buffer Input { uint data[]; };
layout(set = 0, binding = 1) buffer Result { uint total; uint largest; uint bits; int low; uint old[2]; uint bins[4]; };
shared uint histogram[4];
void main() {
    uint i = gl_LocalInvocationID.x;
    uint value = data[i];
    histogram[i] = 0u;
    histogram[2u + i] = 0u;
    barrier();
    atomicAdd(histogram[value & 3u], i + 1u);
    barrier();
    bins[i] = histogram[i];
    old[i] = atomicAdd(total, value);
    atomicMax(largest, value);
}
