from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_invalid_argument",
    family="I",
    phase="run",
    category="kernel_resources",
    weight=36,
    confidence="possible",
    anchors=(
        "error: invalid argument",
        "[CUDA]: invalid argument",
        "cudaErrorInvalidValue",
        "CUDA_ERROR_INVALID_VALUE",
        "hipErrorInvalidValue",
        "[HIP]:  Code: 1,",
        "error (11) : invalid argument",
        "error (1) : invalid argument",
    ),
    patterns=(
        (
            r"hipErrorInvalidValue|HIP error: invalid argument|\[HIP\]:  Code: 1,|error "
            r"\(11?\) "
            ": invalid argument"
        ),
        (
            "^(?!Failed to run autotuning).{0,4000}(?:CUDA (?:driver )?error: invalid "
            r"argument|Triton Error \[CUDA\]: invalid argument|cudaErrorInvalidValue"
            "|CUDA_ERROR_INVALID_VALUE)"
        ),
    ),
    summary="A CUDA call was given an argument it does not accept",
    means=(
        "In a compiled model this is nearly always a kernel launch whose grid is zero or "
        "beyond the limit, or a pointer of another device. At load time it points to a "
        "package made for another device or with missing constants."
    ),
    mistaken_for="A memory fault",
    check="CUDA_LOG_FILE=FILE (CUDA 12.9 and later) writes which argument was refused",
    fixes=(fix("Check the sizes of the failing call for empty or very large dimensions"),),
    guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
    next_tool="triage",
    references=("pytorch/torchchat#709",),
    matches=(
        quoted("Error: CUDA error: invalid argument", "pytorch/torchchat#709"),
        quoted("RuntimeError: Triton Error [CUDA]: invalid argument", "pytorch/pytorch#145984"),
        quoted("RuntimeError: HIP error: invalid argument", "words of the HIP runtime"),
    ),
    apart_from=("autotune_invalid_argument",),
)
