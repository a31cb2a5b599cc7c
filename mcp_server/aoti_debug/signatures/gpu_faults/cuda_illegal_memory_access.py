from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cuda_illegal_memory_access",
    family="I",
    phase="run",
    category="illegal_memory_access",
    anchors=(
        "an illegal memory access was encountered",
        "cudaErrorIllegalAddress",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "operation not supported on global/shared address space",
        "cudaErrorInvalidAddressSpace",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    ),
    patterns=(
        (
            "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}(?:an illegal "
            "memory access was encountered|operation not supported on global/shared address "
            "space|cudaErrorIllegalAddress|cudaErrorInvalidAddressSpace"
            "|CUDA_ERROR_ILLEGAL_ADDRESS|CUDA_ERROR_INVALID_ADDRESS_SPACE)"
        ),
    ),
    summary="A GPU kernel read or wrote an address that it may not touch",
    means=(
        "Some kernel launched earlier in this process left its tensors; the call that reports "
        "it is usually innocent. A violated input contract, a host pointer, int32 overflow or "
        "a faulty user kernel are the usual reasons, and the same bug may give the address "
        "space text on the next run."
    ),
    mistaken_for="A bug of the operator in the traceback",
    check=("AOTI_RUNTIME_CHECK_INPUTS=1 on the same call; then a core dump for the kernel's name"),
    fixes=(
        fix(
            "Run the captured call once with AOTI_RUNTIME_CHECK_INPUTS=1 and once through "
            "ep.module()",
            why=(
                "a violated input contract is the most frequent reason, and both checks are "
                "free of a recompile"
            ),
        ),
        fix(
            "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel "
            "and its line",
            why="the Python traceback shows a later call, not the faulty one",
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
    next_tool="triage",
    references=(
        "pytorch/pytorch#153992",
        "pytorch/pytorch#131027",
        "pytorch/pytorch#182193",
        "pytorch/pytorch#195604",
    ),
    matches=(
        recorded(
            "Error: CUDA driver error: an illegal memory access was encountered",
            "torch 2.11, H200",
        ),
        recorded(
            "  what():  CUDA error: an illegal memory access was encountered",
            "torch 2.11, H200",
        ),
        recorded(
            "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/"
            "cuda-runtime-api/group__CUDART__TYPES.html",
            "torch 2.11, H200",
        ),
        quoted(
            "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered",
            "Triton launcher form",
        ),
        recorded(
            "torch.AcceleratorError: CUDA error: operation not supported on global/shared "
            "address space",
            "torch 2.11, H200, a user Triton kernel",
        ),
        recorded(
            "Search for `cudaErrorInvalidAddressSpace' in https://docs.nvidia.com/cuda/"
            "cuda-runtime-api/group__CUDART__TYPES.html"
        ),
    ),
    apart_from=("aftermath_cleanup", "gpu_exception_dump"),
)
