from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_launch_timeout",
    family="I",
    phase="hang",
    category="hang",
    weight=66,
    anchors=(
        "the launch timed out and was terminated",
        "cudaErrorLaunchTimeout",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
    ),
    patterns=(
        (
            "the launch timed out and was terminated|cudaErrorLaunchTimeout"
            "|CUDA_ERROR_LAUNCH_TIMEOUT"
        ),
    ),
    summary="A GPU kernel ran longer than the display watchdog allows",
    means=(
        "The kernel never ended or is far too slow; GPUs that drive a display (and Windows) "
        "stop it after a few seconds."
    ),
    check="Does the same input end on a GPU without a display?",
    fixes=(
        fix(
            "Look for a loop in a user kernel whose bound is data; shrink the problem; run on "
            "a compute-only GPU"
        ),
    ),
    guide="guides/threads-streams-hangs.md#kernels-that-never-end",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: CUDA error: the launch timed out and was terminated",
            "common form in public threads",
        ),
    ),
)
