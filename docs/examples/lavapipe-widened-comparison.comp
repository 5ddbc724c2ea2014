// A mistake of lavapipe (Mesa 22.3.6) that `spirv-tv fuzz driver` found and `spirv-tv reduce` made small: whether a signed
// number of 32 bits that is widened to 64 is greater than 0 is answered with yes, whatever it is. 0 and -1 are not. So are all signed
// comparisons of such a number with the constants -1, 0 and 1: it counts as the greater side.
//
//     glslangValidator -V --target-env vulkan1.3 lavapipe-widened-comparison.comp -o widened.spv
//     spirv-tv run widened.spv --workgroups 1 --buffer 0.0=words:-1,0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer Memory { int number; uint is_positive; } memory;

void main() {
    memory.is_positive = int64_t(memory.number) > 0 ? 1 : 0;
}
