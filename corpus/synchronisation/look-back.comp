#version 450
#extension GL_GOOGLE_include_directive : require
#include "semantics.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Shared { uint flags[8]; uint aggregates[8]; uint prefixes[8]; };
layout(set = 0, binding = 1) buffer Results { uint results[]; };
void main() {
    uint part = gl_WorkGroupID.x;
    uint own = part + 1u;
    uint before = 0u;
    if (part != 0u) {
        aggregates[part] = own;
        atomicStore(flags[part], 1u, SCOPE, RELEASE);
        uint at = part - 1u;
        while (true) {
            uint flag = atomicLoad(flags[at], SCOPE, ACQUIRE);
            if (flag == 2u) {
                before += prefixes[at];
                break;
            } else if (flag == 1u) {
                before += aggregates[at];
                at--;
            }
        }
    }
    prefixes[part] = before + own;
    atomicStore(flags[part], 2u, SCOPE, RELEASE);
    results[part] = before;
}
