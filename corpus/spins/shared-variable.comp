#version 450
// Two invocations of a workgroup add themselves to a shared variable, and wait for each other by plain loads.
layout(local_size_x = 2) in;
layout(set = 0, binding = 1) buffer Results { uint result[2]; };
shared uint flag;
void main() {
    if (gl_LocalInvocationIndex == 0) flag = 0;
    barrier();
    atomicAdd(flag, 1);
    while (flag < 2);
    result[gl_LocalInvocationIndex] = 1;
}
