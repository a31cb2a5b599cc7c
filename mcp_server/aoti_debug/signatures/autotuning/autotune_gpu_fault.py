from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="autotune_gpu_fault",
    family="K",
    phase="autotune",
    category="illegal_memory_access",
    weight=74,
    anchors=(
        "autotuning code block",
        "torch/_inductor/select_algorithm.py:",
        "torch/_inductor/runtime/triton_heuristics.py:",
    ),
    patterns=(
        (
            "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm"
            r"|runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}(?:illegal memory access"
            "|unspecified "
            "launch failure|global/shared address space)"
        ),
    ),
    summary="A kernel faulted on the GPU while it was being tuned",
    means=(
        "Either the kernel is wrong, or the made-up tuning inputs (sizes from hints, None as "
        "a tensor, random indices) are. The process must be restarted before anything else."
    ),
    check="A core dump on exception names the kernel; run it alone on real inputs",
    fixes=(fix("Correct the kernel; or switch tuning at compile time off"),),
    guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
    next_tool="triage",
    references=("pytorch/pytorch#115344", "pytorch/pytorch#195604"),
    matches=(
        quoted(
            "RuntimeError: Failed to run autotuning code block: Triton Error [CUDA]: an "
            "illegal memory access was encountered",
            "pytorch/pytorch#115344",
        ),
    ),
)
