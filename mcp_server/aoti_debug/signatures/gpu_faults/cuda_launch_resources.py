from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_launch_resources",
    family="I",
    phase="run",
    category="kernel_resources",
    weight=64,
    anchors=(
        "too many resources requested for launch",
        "cudaErrorLaunchOutOfResources",
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "invalid configuration argument",
        "cudaErrorInvalidConfiguration",
        "too many blocks in cooperative launch",
        "cudaErrorCooperativeLaunchTooLarge",
        "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
        "hipErrorInvalidConfiguration",
        "cluster misconfiguration",
        "Cluster target block not present",
        "limit is not supported on this architecture",
        "exceeds maximum grid size",
    ),
    patterns=(
        (
            "(?P<text>too many resources requested for launch|cudaErrorLaunchOutOfResources"
            "|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|invalid configuration argument"
            "|cudaErrorInvalidConfiguration|too many blocks in cooperative launch"
            "|cudaErrorCooperativeLaunchTooLarge|CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
            "|hipErrorInvalidConfiguration|cluster misconfiguration|Cluster target block not "
            "present|limit is not supported on this architecture|exceeds maximum grid size)"
        ),
    ),
    summary="The GPU refused to launch a kernel: {text}",
    means=(
        "Grid, block, registers or shared memory exceed what the device allows, or a "
        "dimension of the grid is zero. The kernel did not run, so nothing was corrupted."
    ),
    mistaken_for="A memory fault",
    check=(
        "Sizes of the failing call: an empty dimension gives an empty grid, a huge one "
        "overflows grid y/z (65535)"
    ),
    fixes=(
        fix("Compile on the GPU type that runs the model"),
        fix("Reduce num_warps, num_stages or block sizes of user kernels"),
        fix("Guard against empty inputs"),
    ),
    guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
    next_tool="triage",
    references=("pytorch/torchtitan#2272", "pytorch/pytorch#176193"),
    matches=(
        quoted(
            "RuntimeError: CUDA error: too many resources requested for launch",
            "common form in public threads",
        ),
        quoted(
            "RuntimeError: CUDA error: invalid configuration argument",
            "common form in public threads",
        ),
    ),
    neighbours=(
        quoted(
            "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: "
            "131072, Hardware limit: 101376."
        ),
    ),
)
