from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="autotune_gpu_fault",
    family="K",
    phase="autotune",
    category="illegal_memory_access",
    weight=74,
    anchors=(
        "autotuning code block",
        "Failed during launch",
    ),
    patterns=(
        (
            "Failed to run autotuning code block: .{0,80}(?:illegal memory access|"
            "unspecified launch failure|global/shared address space|misaligned address)"
        ),
    ),
    summary="A kernel faulted on the GPU while it was being tuned",
    means=(
        "Either the kernel is wrong, or the made-up tuning inputs (sizes from hints, None "
        "as a tensor, random indices) are. The process must be restarted before anything "
        "else."
    ),
    check="A core dump on exception names the kernel; run it alone on real inputs",
    fixes=(Fix(what="Correct the kernel; or switch tuning at compile time off"),),
    guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
    next_tool="triage",
    references=(
        "pytorch/pytorch#115344",
        "pytorch/pytorch#195604",
    ),
    matches=(
        Sample(
            (
                "RuntimeError: Failed to run autotuning code block: Triton Error [CUDA]: an "
                "illegal memory access was encountered"
            ),
            "quoted",
            "pytorch/pytorch#115344",
        ),
    ),
)
