from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_launch_failure",
    family="I",
    phase="run",
    category="illegal_memory_access",
    weight=46,
    anchors=(
        "unspecified launch failure",
        "cudaErrorLaunchFailure",
        "CUDA_ERROR_LAUNCH_FAILED",
        "an illegal instruction was encountered",
        "invalid program counter",
        "hardware stack error",
        "cudaErrorIllegalInstruction",
    ),
    patterns=(
        (
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}(?:unspecified launch failure|"
            "cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED|"
            "an illegal instruction was encountered|cudaErrorIllegalInstruction|"
            "invalid program counter|hardware stack error)"
        ),
    ),
    summary="A GPU kernel died without a precise reason",
    means=(
        "The kernel faulted in a way the runtime does not classify; most often an invalid "
        "access, in shared memory too. Under compute-sanitizer this is the normal end after "
        "its report."
    ),
    mistaken_for="A launch that was refused",
    check="If compute-sanitizer ran, read its first report; otherwise take a core dump",
    fixes=(
        Fix(
            what=(
                "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the "
                "kernel and its line"
            ),
            why="the Python traceback shows a later call, not the faulty one",
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
    next_tool="triage",
    references=("triton-lang/triton#8475",),
    matches=(
        Sample(
            "  what():  CUDA error: unspecified launch failure",
            "recorded",
            "torch 2.11 under compute-sanitizer, H200",
        ),
        Sample(
            (
                "Search for `cudaErrorLaunchFailure' in "
                "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html "
                "for more information."
            ),
            "recorded",
        ),
        Sample(
            "RuntimeError: CUDA error: an illegal instruction was encountered",
            "quoted",
            "common form in public threads",
        ),
    ),
    neighbours=(
        Sample("CUDA error: too many resources requested for launch", "quoted"),
        Sample("Illegal instruction (core dumped)", "quoted", "the host CPU"),
    ),
)
