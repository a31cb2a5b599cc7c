from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
    ),
    patterns=(
        (
            "^(?!Failed to run autotuning).{0,4000}(?:CUDA (?:driver )?error: invalid argume"
            r"nt|Triton Error \[CUDA\]: invalid argument|cudaErrorInvalidValue|"
            "CUDA_ERROR_INVALID_VALUE)"
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
    fixes=(Fix(what="Check the sizes of the failing call for empty or very large dimensions"),),
    guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
    next_tool="triage",
    references=("pytorch/torchchat#709",),
    matches=(
        Sample("Error: CUDA error: invalid argument", "quoted", "pytorch/torchchat#709"),
        Sample(
            "RuntimeError: Triton Error [CUDA]: invalid argument",
            "quoted",
            "pytorch/pytorch#145984",
        ),
    ),
    neighbours=(
        Sample(
            ("Failed to run autotuning code block: Triton Error [CUDA]: invalid argument"),
            "quoted",
            "its own signature",
        ),
    ),
)
