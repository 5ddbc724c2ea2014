// A mistake of lavapipe (Mesa 22.3.6) that `spirv-tv fuzz driver` found, by hand made small: the module declares
// SignedZeroInfNanPreserve for 32 bits (SPIR-V specification, Execution Mode), which the device has
// (shaderSignedZeroInfNanPreserveFloat32), but a constant operand that is 0 is dropped as if zeros had no signs. IEEE 754 has
// -0 + 0 = 0, 0 - 0 = 0 and -1 * 0 = -0; the device gives -0, -0 and 0. Where the zero is loaded from memory, too, all three
// are right.
//
//     glslangValidator -V --target-env vulkan1.3 lavapipe-signed-zero.comp -o zero.spv
//     spirv-tv run zero.spv --buffer 0.0=words:0x80000000,0,0xbf800000,1,1,1
#version 450
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(capabilities = [4466], 4461, 32); // SignedZeroInfNanPreserve 32
layout(local_size_x = 1) in;
layout(binding = 0) buffer Memory { float negative_zero, zero, minus_one, sum, difference, product; } memory;

void main() {
    memory.sum = memory.negative_zero + 0.0;
    memory.difference = 0.0 - memory.zero;
    memory.product = memory.minus_one * 0.0;
}
