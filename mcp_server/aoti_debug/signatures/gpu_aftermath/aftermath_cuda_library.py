from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
        "CUSPARSE_STATUS_",
        "CUFFT_INTERNAL_ERROR",
        "CUFFT_EXEC_FAILED",
        "CURAND_STATUS_",
        "HIPBLAS_STATUS_",
        "rocblas_status_",
        "miopenStatus",
    ),
    patterns=(
        (
            "(?P<status>CUBLAS_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED|EXECUTION_FAILED"
            "|MAPPING_ERROR)|CUDNN_STATUS_(?:INTERNAL_ERROR(?!_HOST|_DEVICE)|EXECUTION_FAILED"
            r"\w{0,20}|MAPPING_ERROR|NOT_INITIALIZED)|CUSOLVER_STATUS_(?:INTERNAL_ERROR"
            "|EXECUTION_FAILED|NOT_INITIALIZED)|CUSPARSE_STATUS_(?:INTERNAL_ERROR"
            "|EXECUTION_FAILED|NOT_INITIALIZED)|CUFFT_(?:INTERNAL_ERROR|EXEC_FAILED)"
            "|CURAND_STATUS_(?:LAUNCH_FAILURE|INTERNAL_ERROR|PREEXISTING_FAILURE)"
            "|(?:rocblas|hipblas|HIPBLAS)_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED)"
            "|rocblas_status_internal_error|miopenStatus(?:InternalError|UnknownError))"
        ),
    ),
    summary=(
        "{status}: a library call failed on a CUDA context that an earlier fault had already broken"
    ),
    means=(
        "The library is the first to notice, not the culprit. Look for an assert, an illegal "
        "access or full memory before this line."
    ),
    mistaken_for="A cuBLAS or cuDNN installation problem",
    check="Does a fresh process that only runs the matrix product succeed?",
    fixes=(
        fix(
            "Find the first GPU message of the process; restart the process before trying "
            "anything else"
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-first-gpu-message-wins",
    next_tool="triage",
    matches=(
        recorded(
            "in aoti_torch: CUDA error: CUBLAS_STATUS_INTERNAL_ERROR",
            "after a device assert, H200",
        ),
    ),
    neighbours=(
        quoted(
            "CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul",
            "an unsupported shape or type",
        ),
    ),
    apart_from=("cuda_out_of_memory",),
)
