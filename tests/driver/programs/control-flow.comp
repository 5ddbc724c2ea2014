// launch: --workgroups 2 --buffer 0.0=zeros:256 --buffer 0.1=words:3,0,7,1,9,4,2,8,5,6,11,10,0xffffffff,0x80000000,100,31
#version 450
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer Result { uint result[]; };
layout(set = 0, binding = 1) readonly buffer Input { uint data[]; };

uint collatz(uint n) {
    uint steps = 0u;
    while (n > 1u) {
        n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u;
        if (++steps > 200u) return 0xffffu;
    }
    return steps;
}

void swap(inout uint a, inout uint b) {
    uint t = a;
    a = b;
    b = t;
}

uint classify(uint x) {
    uint r = 0u;
    switch (x % 7u) {
    case 0u: r += 1u;
    case 1u: r += 10u; break;
    case 2u: return 77u;
    case 3u: { for (uint i = 0u; i < x % 5u; ++i) { if (i == 2u) continue; r += i; } break; }
    case 5u:
    case 6u: r = 5u;
    default: r += 100u;
    }
    return r;
}

uint always(uint x) {
    switch (x & 3u) {
    case 0u: return 5u;
    case 1u: return x;
    default: return x * 2u;
    }
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = data[i % 16u];
    uint sorted[16];
    for (uint k = 0u; k < 16u; ++k) sorted[k] = data[k] ^ i;
    for (uint a = 0u; a < 15u; ++a)
        for (uint b = a + 1u; b < 16u; ++b)
            if (sorted[a] > sorted[b]) swap(sorted[a], sorted[b]);
    uint sum = 0u, steps = 0u;
    do {
        sum += sorted[steps] >> (steps & 7u);
        if ((sum & 0x40u) != 0u && steps > 5u) break;
        ++steps;
    } while (steps < 16u);
    uint nested = 0u;
    for (int p = 0; p < 6; ++p) {
        for (int q = p; q >= 0; --q) {
            if (((p ^ q) & 3) == 3) break;
            if (uint(p * q) == i % 4u) continue;
            nested = nested * 31u + uint(p * 8 + q);
        }
        if (nested > 0x70000000u) break;
    }
    bool known = false;
    if (x == 4u) known = true;
    if (known) nested += always(i);
    result[i * 8u] = collatz(x % 1000u);
    result[i * 8u + 1u] = classify(x);
    result[i * 8u + 2u] = classify(i);
    result[i * 8u + 3u] = sum;
    result[i * 8u + 4u] = steps;
    result[i * 8u + 5u] = nested;
    result[i * 8u + 6u] = sorted[i % 16u];
    result[i * 8u + 7u] = (x > 5u && data[(x + 1u) % 16u] > 3u) || i == 3u ? 1u : 0u;
}
