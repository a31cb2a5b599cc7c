from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_header_missing",
    family="G",
    phase="cpp_compile",
    category="toolchain",
    weight=86,
    confidence="proved",
    anchors=("fatal error: ",),
    patterns=(
        (
            r"fatal error: '?(?P<header>cuda(?:_runtime\w*|_fp16|_bf16)?\.h|cublas\w*\.h|cudn"
            r"n\w*\.h|cusparse\w*\.h|cusolver\w*\.h|nvrtc\.h|nvtx3?/\S{1,60}|crt/host_defines"
            r"\.h)'?:? (?:No such file|file not found)"
        ),
    ),
    summary="The CUDA header {header} is missing",
    means=(
        "Compiling for CUDA needs the toolkit's headers; runtime container images and "
        "pip wheels of torch do not have them all."
    ),
    fixes=(
        Fix(
            what=(
                "Use a devel image or install the toolkit and set CUDA_HOME; with conda: conda "
                "install cuda-cudart-dev cuda-driver-dev"
            )
        ),
    ),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    references=(
        "conda-forge/pytorch-cpu-feedstock#363",
        "pytorch/pytorch#139917",
    ),
    matches=(
        Sample(
            "c.cpp:1:10: fatal error: cuda.h: No such file or directory",
            "recorded",
            "g++ 12 on a file of ours",
        ),
        Sample(
            "c2.cpp:1:10: fatal error: cuda_runtime_api.h: No such file or directory",
            "recorded",
            "g++ 12 on a file of ours",
        ),
    ),
    neighbours=(
        Sample(
            "p.cpp:1:10: fatal error: Python.h: No such file or directory",
            "recorded",
            "another header",
        ),
    ),
)
