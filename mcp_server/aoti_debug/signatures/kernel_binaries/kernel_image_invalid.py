from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="kernel_image_invalid",
    family="H",
    phase="run",
    category="missing_kernel_binary",
    weight=82,
    anchors=(
        "device kernel image is invalid",
        "named symbol not found",
        "cudaErrorInvalidKernelImage",
        "cudaErrorSymbolNotFound",
        "CUDA_ERROR_INVALID_IMAGE",
        "CUDA_ERROR_NOT_FOUND",
        "cudaErrorInvalidSource",
        "CUDA_ERROR_INVALID_SOURCE",
        "shared object symbol not found",
        "shared object initialization failed",
        "CUDA_ERROR_SHARED_OBJECT",
        "cudaErrorSharedObject",
        "CUDA_ERROR_FILE_NOT_FOUND",
        "invalid device symbol",
        "invalid kernel file",
        "hipErrorInvalidKernelFile",
        "hipErrorInvalidImage",
    ),
    patterns=(
        (
            r"^(?!.{0,200}Triton Error \[CUDA\]).{0,4000}(?P<what>device kernel image is "
            "invalid"
            "|cudaErrorInvalidKernelImage|CUDA_ERROR_INVALID_IMAGE)"
        ),
        (
            r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]|HIP error): (?P<what>named "
            "symbol "
            "not found|shared object (?:symbol not found|initialization failed)|invalid device "
            "symbol|invalid kernel file)"
        ),
        (
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?"
            "(?P<what>cudaErrorSymbolNotFound|CUDA_ERROR_NOT_FOUND|(?:cudaErrorI|CUDA_ERROR_I)"
            r"(?:nvalidSource|NVALID_SOURCE)|CUDA_ERROR_SHARED_OBJECT\w{1,200}"
            r"|cudaErrorSharedObject\w{1,200}"
            "|CUDA_ERROR_FILE_NOT_FOUND|hipErrorInvalid(?:KernelFile|Image))"
        ),
    ),
    summary="A kernel binary cannot be used: {what}",
    means=(
        "It is damaged, built for another architecture or by a toolkit newer than the driver; "
        "`named symbol not found` means a stale or foreign cubin under the expected name."
    ),
    check="cuobjdump the .cubin; compare the GPU's capability with the package's.",
    fixes=(
        fix(
            "Compile again on the target GPU, into empty TORCHINDUCTOR_CACHE_DIR and "
            "TRITON_CACHE_DIR"
        ),
    ),
    guide="guides/package-and-load.md#wrong-gpu-architecture",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: CUDA driver error: device kernel image is invalid",
            "words of the CUDA driver",
        ),
        quoted(
            "RuntimeError: CUDA driver error: named symbol not found",
            "words of the CUDA driver",
        ),
        quoted(
            "Search for `cudaErrorSymbolNotFound' in https://docs.nvidia.com/cuda/"
            "cuda-runtime-api/group__CUDART__TYPES.html",
            "names of the CUDA runtime",
        ),
    ),
    apart_from=("cubin_not_found",),
)
