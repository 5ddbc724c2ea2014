//! SPIRV-Tools behind one safe interface.
