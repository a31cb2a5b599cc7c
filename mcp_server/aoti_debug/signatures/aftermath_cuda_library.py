from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="aftermath_cuda_library",
    family="I",
    phase="run",
    category="illegal_memory_access",
    role="aftermath",
    weight=40,
    confidence="possible",
    anchors=(
        "CUBLAS_STATUS_",
        "CUDNN_STATUS_",
        "CUSOLVER_STATUS_",
    ),
    patterns=(
        (
            "(?P<status>CUBLAS_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED|EXECUTION_FAILED|"
            "MAPPING_ERROR)|CUDNN_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED|MAPPING_ERROR|"
            "NOT_INITIALIZED)|CUSOLVER_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED))"
        ),
    ),
    summary=(
        "{status}: a library call failed on a CUDA context that an earlier fault had already broken"
    ),
    means=(
        "The library is the first to notice, not the culprit. Look for an assert, an "
        "illegal access or full memory before this line."
    ),
    mistaken_for="A cuBLAS or cuDNN installation problem",
    check="Does a fresh process that only runs the matrix product succeed?",
    fixes=(
        Fix(
            what=(
                "Find the first GPU message of the process; restart the process before "
                "trying anything else"
            )
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
    next_tool="triage",
    matches=(
        Sample(
            (
                "[E1121 05:21:20.794564756 c_shim_cuda.cpp:1273] Exception in aoti_torch: "
                "CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling "
                "`cublasCreate(handle)`"
            ),
            "recorded",
            "after a device assert, H200",
        ),
    ),
    neighbours=(
        Sample(
            (
                "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
                "`cublasCreate(handle)`"
            ),
            "quoted",
            "memory is full",
        ),
        Sample(
            "CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul",
            "quoted",
            "an unsupported shape or type",
        ),
    ),
)
