from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="library_alloc_failed",
    family="O",
    phase="run",
    category="out_of_memory",
    weight=72,
    anchors=(
        "STATUS_ALLOC_FAILED",
        "Unable to find a valid cuDNN algorithm",
        "unable to find an engine to execute this computation",
        "STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
        "STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "CUFFT_ALLOC_FAILED",
        "CURAND_STATUS_ALLOCATION_FAILED",
        "NVRTC_ERROR_OUT_OF_MEMORY",
    ),
    patterns=(
        (
            "(?P<what>CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED|Unable to find a valid "
            "cuDNN algorithm|unable to find an engine to execute this computation|CUDNN_STATUS_"
            r"INTERNAL_ERROR_\w{4,6}_ALLOCATION_FAILED|CUFFT_ALLOC_FAILED"
            "|CURAND_STATUS_ALLOCATION_FAILED|NVRTC_ERROR_OUT_OF_MEMORY)"
        ),
    ),
    summary="A CUDA library could not get its workspace: {what}",
    means=(
        "Handles and workspaces of cuBLAS and cuDNN come after the model's tensors, so a full "
        "GPU shows here first; after an earlier GPU fault these calls fail too."
    ),
    mistaken_for="A broken cuBLAS or cuDNN",
    check="nvidia-smi: how much is free just before? Any GPU message before this one?",
    fixes=(fix("Free memory or reduce the batch; look for an earlier GPU message"),),
    guide="guides/memory-and-time.md#out-of-memory-in-disguise",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
            "`cublasCreate(handle)`",
            "common form in public threads",
        ),
    ),
)
