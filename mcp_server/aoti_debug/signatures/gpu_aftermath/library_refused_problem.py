from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="library_refused_problem",
    family="I",
    phase="run",
    category="contract_shape",
    role="symptom",
    weight=44,
    confidence="possible",
    anchors=(
        "CUBLAS_STATUS_INVALID_VALUE",
        "CUBLAS_STATUS_NOT_SUPPORTED",
        "CUDNN_STATUS_BAD_PARAM",
        "CUDNN_STATUS_NOT_SUPPORTED",
        "CUSPARSE_STATUS_INVALID_VALUE",
        "CUSPARSE_STATUS_NOT_SUPPORTED",
        "CUSOLVER_STATUS_INVALID_VALUE",
        "HIPBLAS_STATUS_NOT_SUPPORTED",
        "HIPBLAS_STATUS_INVALID_VALUE",
        "CUFFT_INVALID_SIZE",
        "miopenStatusBadParm",
        "kErrorInvalidProblem",
        "Error Invalid Problem",
        "cutlass cannot implement",
        "CUTLASS error",
        "cutlass error",
        "Got cutlass error",
    ),
    patterns=(
        (
            r"(?P<status>CU(?:BLAS|SPARSE|SOLVER)_STATUS_(?:INVALID_VALUE|NOT_SUPPORTED)"
            r"|CUDNN_STATUS_(?:BAD_PARAM|NOT_SUPPORTED)\w{0,60}|HIPBLAS_STATUS_(?:NOT_SUPPORTED"
            "|INVALID_VALUE)|CUFFT_INVALID_SIZE|miopenStatusBadParm|kErrorInvalidProblem|Error "
            r"Invalid Problem|cutlass cannot implement|(?i:cutlass error)[: ].{0,80})"
        ),
    ),
    summary="A GPU library does not take this problem: {status}",
    means=(
        "Sizes, strides, alignment or dtype of the tensors are none that the library knows on "
        "this GPU; a library of another release on LD_LIBRARY_PATH answers in the same way."
    ),
    mistaken_for="A fault of the GPU",
    check="Does the same call run eagerly, with contiguous tensors of the exported sizes?",
    fixes=(
        fix("Check sizes and dtypes against the export; pass contiguous tensors"),
        fix("Remove other CUDA libraries from LD_LIBRARY_PATH"),
    ),
    guide="guides/input-contracts.md#sizes-and-rank",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling "
            "`cublasGemmEx(...)`",
            "words of ATen",
        ),
    ),
    apart_from=("aftermath_cuda_library",),
)
