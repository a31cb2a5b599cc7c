from aoti_debug.signatures.signature import Signature, fix, quoted

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
            "unknown type name ['‘]async_compile['’]|KeyError:? "
            "['"
            r"\"]cubin["
            "'"
            r"\"]|CpuTritonKernelCache not populated for "
            r"'(?P<kernel>\w{1,200})'"
        ),
    ),
    summary="A Triton kernel is part of a model compiled for the CPU",
    means=(
        "AOTInductor can run Triton kernels on the CPU only with a CPU build of Triton and a "
        "recent torch; otherwise code generation fails in one of these ways."
    ),
    fixes=(fix("Give the op a CPU implementation without Triton, or compile for the GPU"),),
    guide="guides/triton-and-autotuning.md#triton-kernels-on-the-cpu",
    references=("pytorch/pytorch#181068", "pytorch/pytorch#183463"),
    matches=(
        quoted("KeyError: 'cubin'", "pytorch/pytorch#181068"),
        quoted("error: unknown type name 'async_compile'", "pytorch/pytorch#181068"),
    ),
)
