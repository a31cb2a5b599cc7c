from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_invalid_address_space",
    family="I",
    phase="run",
    category="illegal_memory_access",
    weight=52,
    anchors=(
        "operation not supported on global/shared address space",
        "cudaErrorInvalidAddressSpace",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    ),
    patterns=(
        (
            "^(?!Failed to (?:destroy|free|"
            "unload)).{0,4000}(?:operation not supported on global/shared address space|"
            "cudaErrorInvalidAddressSpace|CUDA_ERROR_INVALID_ADDRESS_SPACE)"
        ),
    ),
    summary="A GPU kernel used an address outside every address space it may touch",
    means=(
        "A wild pointer: the index arithmetic of a kernel left the memory of the process "
        "altogether. Handle it like an illegal memory access; the same bug gives either "
        "text from run to run."
    ),
    mistaken_for="An unsupported instruction or GPU",
    check="A core dump names kernel and line at once",
    fixes=(
        Fix(
            what=(
                "Run the captured call once with AOTI_RUNTIME_CHECK_INPUTS=1 and once "
                "through ep.module()"
            ),
            why=(
                "a violated input contract is the most frequent reason, and both checks are "
                "free of a recompile"
            ),
        ),
        Fix(
            what=(
                "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the "
                "kernel and its line"
            ),
            why="the Python traceback shows a later call, not the faulty one",
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
    next_tool="triage",
    references=("pytorch/pytorch#195604",),
    matches=(
        Sample(
            (
                "torch.AcceleratorError: CUDA error: operation not supported on "
                "global/shared address space"
            ),
            "recorded",
            "torch 2.11, H200, a user Triton kernel",
        ),
        Sample(
            (
                "Search for `cudaErrorInvalidAddressSpace' in "
                "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html "
                "for more information."
            ),
            "recorded",
        ),
    ),
)
