// Compiled to device_kernels.ptx by NVRTC 11.8, for any GPU since Maxwell:
//   nvrtcCompileProgram(..., "--gpu-architecture=compute_52", "--std=c++14")
typedef unsigned long long u64;
struct Copy { const char *from; char *to; u64 bytes; };
struct Copies { struct Copy of[24]; };
struct Output { const void *data; u64 count, exponent, mantissa; int width, shift; };
struct Outputs { struct Output of[20]; };

extern "C" __global__ void hold(Copies given, int count, volatile u64 *slot, u64 call)
{
    u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = gridDim.x * (u64)blockDim.x;
    if (first == 0 && slot) slot[0] = call;
    for (int n = 0; n < count; ++n) {
        const char *from = given.of[n].from;
        char *to = given.of[n].to;
        u64 bytes = given.of[n].bytes, whole = 0;
        if ((((u64)from | (u64)to) & 15) == 0) {
            whole = bytes & ~15ull;
            for (u64 at = first * 16; at < whole; at += step * 16)
                *(uint4 *)(to + at) = *(const uint4 *)(from + at);
        }
        for (u64 at = whole + first; at < bytes; at += step) to[at] = from[at];
    }
}

extern "C" __global__ void judge(Outputs given, int count, u64 *scratch, volatile u64 *slot, u64 call)
{
    u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = gridDim.x * (u64)blockDim.x;
    u64 found = 0;
    for (int n = 0; n < count; ++n) {
        const Output &one = given.of[n];
        u64 exponent = one.exponent, sign = 1ull << (8 * one.width - 1);
        for (u64 at = first; at < one.count; at += step) {
            u64 bits = one.width == 4 ? ((const unsigned *)one.data)[at]
                     : one.width == 2 ? ((const unsigned short *)one.data)[at]
                     : one.width == 8 ? ((const u64 *)one.data)[at]
                                      : ((const unsigned char *)one.data)[at];
            if ((bits & exponent) == exponent)
                found |= (bits & one.mantissa ? 1ull : bits & sign ? 4ull : 2ull) << one.shift;
        }
    }
    if (found & ~*(volatile u64 *)scratch) atomicOr(scratch, found);
    if (!slot) return;  // more outputs of this call follow
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc((unsigned *)(scratch + 1), gridDim.x - 1) == gridDim.x - 1) {
        slot[2] = atomicExch(scratch, 0);
        __threadfence_system();
        slot[1] = call;
    }
}
