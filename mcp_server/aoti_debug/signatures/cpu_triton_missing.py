from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cpu_triton_missing",
    family="K",
    phase="cpp_compile",
    category="triton_error",
    weight=72,
    anchors=(
        "unknown type name 'async_compile'",
        "KeyError: 'cubin'",
        'KeyError "cubin"',
        "CpuTritonKernelCache",
    ),
    patterns=(
        (
            "unknown type name ['‘]async_compile['’]|KeyError:? ['\\\"]cubin['\\\"]|"
            r"CpuTritonKernelCache not populated for '(?P<kernel>\w+)'"
        ),
    ),
    summary="A Triton kernel is part of a model compiled for the CPU",
    means=(
        "AOTInductor can run Triton kernels on the CPU only with a CPU build of Triton and "
        "a recent torch; otherwise code generation fails in one of these ways."
    ),
    fixes=(Fix(what="Give the op a CPU implementation without Triton, or compile for the GPU"),),
    guide="guides/triton-and-autotuning.md#triton-kernels-on-the-cpu",
    references=(
        "pytorch/pytorch#181068",
        "pytorch/pytorch#183463",
    ),
    matches=(
        Sample("KeyError: 'cubin'", "quoted", "pytorch/pytorch#181068"),
        Sample("error: unknown type name 'async_compile'", "quoted", "pytorch/pytorch#181068"),
    ),
)
