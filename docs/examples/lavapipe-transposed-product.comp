// A mistake of lavapipe (Mesa 22.3.6) that `spirv-tv fuzz driver` found, by hand made small: the pipeline of a module that
// multiplies two transposed matrices is refused (vkCreateComputePipelines gives VK_ERROR_UNKNOWN) where the product is not a
// square matrix. With one transposition less, or with the second one through a variable, the module runs and is right.
//
//     glslangValidator -V --target-env vulkan1.3 lavapipe-transposed-product.comp -o product.spv
//     spirv-tv run product.spv
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Memory { mat4 a; mat4x3 b; mat3x4 product; } memory;

void main() {
    memory.product = transpose(memory.a) * transpose(memory.b);
}
