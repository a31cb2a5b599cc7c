from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="gpu_library_mismatch",
    family="G",
    phase="run",
    category="toolchain",
    weight=62,
    anchors=(
        "cuDNN version incompatibility",
        "CUDNN_STATUS_SUBLIBRARY_",
        "CUDNN_STATUS_VERSION_MISMATCH",
        "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING",
        "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING",
        "Failed to import CUTLASS lib",
        "was compiled against an incompatible cuDNN",
        "CUDART_VERSION mismatch",
    ),
    patterns=(
        (
            r"(?P<what>cuDNN version incompatibility|CUDNN_STATUS_SUBLIBRARY_\w{1,40}"
            "|CUDNN_STATUS_VERSION_MISMATCH"
            "|CUDNN_STATUS_(?:NOT_SUPPORTED_)?RUNTIME_PREREQUISITE_"
            "MISSING|Failed to import CUTLASS lib|compiled against an incompatible cuDNN"
            "|CUDART_VERSION mismatch)"
        ),
    ),
    summary="A CUDA library is missing or of another release than torch was built with: {what}",
    means=(
        "Another copy of the library comes first on LD_LIBRARY_PATH, or only a part of it is "
        "installed."
    ),
    mistaken_for="A fault of the convolution that happened to be first",
    check="ldd and LD_LIBRARY_PATH; pip list | grep nvidia",
    fixes=(fix("Take other CUDA libraries off LD_LIBRARY_PATH; reinstall torch with its wheels"),),
    guide="guides/toolchain.md#cuda-toolkit",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 1, "
            "0) but found runtime version (8, 9, 2).",
            "words of torch/backends/cudnn",
        ),
    ),
)
