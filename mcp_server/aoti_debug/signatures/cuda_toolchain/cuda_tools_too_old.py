from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_tools_too_old",
    family="H",
    phase="cpp_compile",
    category="toolchain",
    weight=84,
    anchors=(
        "Unsupported .version ",
        "is not defined for option 'gpu-name'",
        "Unsupported gpu architecture",
    ),
    patterns=(
        (
            r"(?P<what>Unsupported \.version \d{1,20}\.\d{1,20}; current version is '\d{1"
            r",20}\.\d{1,20}')"
        ),
        r"(?P<what>Value 'sm_\d{1,20}[af]?' is not defined for option 'gpu-name')",
        r"(?P<what>Unsupported gpu architecture '(?:compute|sm)_\d{1,20}[af]?')",
    ),
    summary="ptxas or nvcc is too old: {what}",
    means=(
        "Triton writes newer PTX, or the GPU is newer, than the CUDA tools in use know; "
        "mostly with multi-arch kernels."
    ),
    fixes=(
        fix("Use a toolkit as new as Triton's: set TRITON_PTXAS_PATH and CUDA_HOME to it"),
        fix("Or limit TORCH_CUDA_ARCH_LIST to what the tools know"),
    ),
    guide="guides/toolchain.md#cuda-toolkit",
    next_tool="check_environment",
    references=("pytorch/pytorch#184456", "pytorch/pytorch#185328"),
    matches=(
        quoted(
            "ptxas /tmp/tmpabc.ptx, line 5; fatal   : Unsupported .version 8.7; current "
            "version is '8.4'",
            "words of ptxas",
        ),
        quoted(
            "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
            "words of ptxas",
        ),
        quoted("nvcc fatal   : Unsupported gpu architecture 'compute_120'", "words of nvcc"),
    ),
)
