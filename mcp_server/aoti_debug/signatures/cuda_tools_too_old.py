from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
        r"(?P<what>Unsupported \.version \d+\.\d+; current version is '\d+\.\d+')",
        r"(?P<what>Value 'sm_\d+[af]?' is not defined for option 'gpu-name')",
        r"(?P<what>Unsupported gpu architecture '(?:compute|sm)_\d+[af]?')",
    ),
    summary="ptxas or nvcc is too old: {what}",
    means=(
        "Triton writes newer PTX, or the GPU is newer, than the CUDA tools in use know; "
        "mostly with multi-arch kernels."
    ),
    fixes=(
        Fix(what="Use a toolkit as new as Triton's: set TRITON_PTXAS_PATH and CUDA_HOME to it"),
        Fix(what="Or limit TORCH_CUDA_ARCH_LIST to what the tools know"),
    ),
    guide="guides/toolchain.md#cuda-toolkit",
    next_tool="check_environment",
    references=(
        "pytorch/pytorch#184456",
        "pytorch/pytorch#185328",
    ),
    matches=(
        Sample(
            (
                "ptxas /tmp/tmpabc.ptx, line 5; fatal   : Unsupported .version 8.7; current "
                "version is '8.4'"
            ),
            "quoted",
            "words of ptxas",
        ),
        Sample(
            "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
            "quoted",
            "words of ptxas",
        ),
        Sample(
            "nvcc fatal   : Unsupported gpu architecture 'compute_120'", "quoted", "words of nvcc"
        ),
    ),
)
