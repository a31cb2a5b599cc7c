from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "cudaErrorInvalidPc",
        "CUDA_ERROR_INVALID_PC",
        "cudaErrorHardwareStackError",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "hipErrorLaunchFailure",
        "tensor memory not completely freed",
        "cudaErrorTensorMemoryLeak",
    ),
    patterns=(
        (
            "^(?!Failed to (?:destroy|free|unload)).{0,4000}(?:unspecified launch failure"
            "|cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED|an illegal instruction was "
            "encountered|cudaErrorIllegalInstruction|invalid program counter|hardware stack "
            "error|CUDA_ERROR_ILLEGAL_INSTRUCTION|cudaErrorInvalidPc|CUDA_ERROR_INVALID_PC"
            "|cudaErrorHardwareStackError|CUDA_ERROR_HARDWARE_STACK|hipErrorLaunchFailure"
            "|tensor "
            "memory not completely freed|cudaErrorTensorMemoryLeak)"
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
        fix(
            "Take a CUDA core dump (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1) to get the kernel "
            "and its line",
            why="the Python traceback shows a later call, not the faulty one",
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
    next_tool="triage",
    references=("triton-lang/triton#8475",),
    matches=(
        recorded(
            "  what():  CUDA error: unspecified launch failure",
            "torch 2.11 under compute-sanitizer, H200",
        ),
        recorded(
            "Search for `cudaErrorLaunchFailure' in https://docs.nvidia.com/cuda/"
            "cuda-runtime-api/group__CUDART__TYPES.html"
        ),
        quoted(
            "RuntimeError: CUDA error: an illegal instruction was encountered",
            "common form in public threads",
        ),
    ),
    neighbours=(quoted("CUDA error: too many resources requested for launch"),),
    apart_from=("host_illegal_instruction",),
)
