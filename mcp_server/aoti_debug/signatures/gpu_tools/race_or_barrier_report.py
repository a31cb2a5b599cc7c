from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="race_or_barrier_report",
    family="I",
    phase="run",
    category="concurrency",
    weight=74,
    anchors=(
        "Race reported between",
        "Potential RAW hazard",
        "Potential WAR hazard",
        "Potential WAW hazard",
        "Barrier error detected",
    ),
    patterns=(
        (
            "={1,40} (?:Error: |Warning: )?(?P<what>Race reported between|Potential (?:RAW|WAR"
            "|WAW) hazard|Barrier error detected)"
        ),
    ),
    summary="compute-sanitizer: {what} inside a GPU kernel",
    means=(
        "Threads of one block use shared memory or a barrier without the order the kernel "
        "needs. For Triton kernels this is a compiler or pipelining bug, for CUDA custom ops "
        "a missing __syncthreads."
    ),
    fixes=(
        fix("Set num_stages=1 for the Triton kernel to see whether it goes away"),
        fix("Add the missing barrier in a CUDA custom op"),
    ),
    guide="guides/threads-streams-hangs.md#shared-memory-races",
    next_tool="explain_kernel",
    matches=(
        quoted(
            "========= Error: Race reported between Write access at 0x200 in addKernel",
            "compute-sanitizer manual",
        ),
        quoted(
            "========= Barrier error detected. Divergent thread(s) in block",
            "compute-sanitizer manual",
        ),
    ),
)
