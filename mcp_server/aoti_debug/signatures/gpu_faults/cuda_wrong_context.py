from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_wrong_context",
    family="N",
    phase="run",
    category="concurrency",
    weight=50,
    confidence="possible",
    anchors=(
        "invalid resource handle",
        "cudaErrorInvalidResourceHandle",
        "CUDA_ERROR_INVALID_HANDLE",
        "hipErrorInvalidHandle",
        "context is destroyed",
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "cudaErrorContextIsDestroyed",
        "driver shutting down",
        "CUDA_ERROR_DEINITIALIZED",
        "cudaErrorCudartUnloading",
        "invalid device context",
        "CUDA_ERROR_INVALID_CONTEXT",
        "cudaErrorDeviceUninitialized",
        "primary context for the specified device has already been initialized",
        "cannot set while device is active in this process",
        "graph update was not performed",
        "cudaErrorGraphExecUpdateFailure",
        "accessing tensor output of CUDAGraphs that has been overwritten",
        "Running CUDAGraph after shutdown",
        "no longer valid CUDA graph",
        "CUDA_ERROR_NOT_INITIALIZED",
        "depend on a capturing blocking stream",
        "merge of separate capture sequences",
        "capturing stream has unjoined work",
        "capture was not ended in the same stream",
        "dependency created on uncaptured work",
        "last recorded in a capturing stream",
    ),
    patterns=(
        (
            "depend on a capturing blocking stream|merge of separate capture sequences"
            "|capturing stream has unjoined work|capture was not ended in the same stream"
            "|dependency created on uncaptured work|last recorded in a capturing stream"
            "|(?:CUDA|HIP|cuda|Triton).{0,80}(?:invalid resource handle|context is destroyed"
            "|driver shutting down|invalid device context|primary context for the specified "
            "device|cannot set while device is active|graph update was not performed)"
        ),
        (
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}(?:"
            "cudaErrorInvalidResourceHandle|CUDA_ERROR_INVALID_HANDLE|hipErrorInvalidHandle"
            "|CUDA_ERROR_CONTEXT_IS_DESTROYED|cudaErrorContextIsDestroyed"
            "|CUDA_ERROR_DEINITIALIZED|cudaErrorCudartUnloading|CUDA_ERROR_INVALID_CONTEXT"
            "|cudaErrorDeviceUninitialized|cudaErrorGraphExecUpdateFailure|accessing tensor "
            "output of CUDAGraphs that has been overwritten|Running CUDAGraph after shutdown"
            "|CUDA_ERROR_NOT_INITIALIZED)"
        ),
    ),
    summary="A stream, event or context is used where it does not belong or no longer exists",
    means=(
        "Handles are valid in the context that made them: another device, another thread "
        "without a current context, a forked process, or the end of the process."
    ),
    mistaken_for="A faulty kernel",
    check="Do stream and inputs belong to the device that the model was loaded for?",
    fixes=(
        fix("Set the device before the call (torch.cuda.set_device, DeviceGuard)"),
        fix("Delete the model before the process ends; clone outputs kept across graph replays"),
    ),
    guide="guides/threads-streams-hangs.md#streams-inside-the-model",
    next_tool="triage",
    matches=(
        quoted("RuntimeError: CUDA error: invalid resource handle", "CUDA runtime text"),
        quoted(
            "Error: accessing tensor output of CUDAGraphs that has been overwritten by a "
            "subsequent run.",
            "words of torch's CUDA graph trees",
        ),
    ),
)
