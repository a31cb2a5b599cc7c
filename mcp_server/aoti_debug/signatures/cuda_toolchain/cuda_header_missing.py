from aoti_debug.signatures.signature import Signature, fix, recorded

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
            r"fatal error: '?(?P<header>cuda(?:_runtime\w{0,200}|_fp16|_bf16)?\.h"
            r"|cublas\w{0,200}\.h"
            r"|cudnn\w{0,200}\.h|cusparse\w{0,200}\.h|cusolver\w{0,200}\.h|nvrtc\.h|nvtx3?/\S{1,60}"
            r"|crt/host_defines\.h)'?:? (?:No such file|file not found)"
        ),
    ),
    summary="The CUDA header {header} is missing",
    means=(
        "Compiling for CUDA needs the toolkit's headers; runtime container images and pip "
        "wheels of torch do not have them all."
    ),
    fixes=(
        fix(
            "Use a devel image or install the toolkit and set CUDA_HOME; with conda: conda "
            "install cuda-cudart-dev cuda-driver-dev"
        ),
    ),
    guide="guides/toolchain.md#missing-headers",
    next_tool="check_environment",
    references=("conda-forge/pytorch-cpu-feedstock#363", "pytorch/pytorch#139917"),
    matches=(
        recorded(
            "c.cpp:1:10: fatal error: cuda.h: No such file or directory",
            "g++ 12 on a file of ours",
        ),
        recorded(
            "c2.cpp:1:10: fatal error: cuda_runtime_api.h: No such file or directory",
            "g++ 12 on a file of ours",
        ),
    ),
    apart_from=("python_header_missing",),
)
