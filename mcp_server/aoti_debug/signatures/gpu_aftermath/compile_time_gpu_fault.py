from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="compile_time_gpu_fault",
    family="I",
    phase="autotune",
    category="illegal_memory_access",
    weight=68,
    anchors=(
        "InductorError: AcceleratorError",
        "InductorError: RuntimeError: CUDA error",
        "InductorError: RuntimeError: Triton Error",
    ),
    patterns=(
        (
            "InductorError: (?:AcceleratorError|RuntimeError): (?:CUDA error|Triton Error "
            r"\[CUDA\]): (?P<text>an illegal memory access was encountered|operation not "
            "supported on global/shared address space|unspecified launch failure)"
        ),
    ),
    summary="A kernel faulted while the model was being compiled: {text}",
    means=(
        "Inductor runs kernels to tune them, so a faulty kernel, most often a user Triton "
        "kernel, kills the compile. No package exists yet, and printer and input checks "
        "cannot act."
    ),
    mistaken_for="A fault of random state handling, where the traceback ends",
    check="A core dump on exception names kernel and line in the same run",
    fixes=(
        fix("Correct the kernel that the core dump names"),
        fix(
            "To see whether tuning data is to blame, compile with "
            "TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0"
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#a-fault-while-compiling",
    next_tool="triage",
    references=("pytorch/pytorch#195604", "pytorch/pytorch#115344"),
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: AcceleratorError: CUDA error: operation not "
            "supported on global/shared address space",
            "torch 2.11, H200",
        ),
        recorded(
            "torch._inductor.exc.InductorError: AcceleratorError: CUDA error: an illegal "
            "memory access was encountered",
            "torch 2.11, H200",
        ),
    ),
    apart_from=("cuda_illegal_memory_access",),
)
