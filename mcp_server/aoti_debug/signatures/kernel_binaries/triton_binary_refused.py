from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_binary_refused",
    family="G",
    phase="triton_compile",
    category="toolchain",
    weight=83,
    anchors=("Triton Error [CUDA]: device kernel", "Triton Error [CUDA]: no kernel image"),
    patterns=(
        (
            r"Triton Error \[CUDA\]: (?P<what>device kernel image is invalid|no kernel image "
            "is "
            "available for execution)"
        ),
    ),
    summary="The driver refuses a kernel that Triton has just compiled: {what}",
    means=(
        "ptxas made code that this driver or GPU does not take: a ptxas newer than the driver, "
        "one set by TRITON_PTXAS_PATH, a Triton that does not know the GPU, or a cached binary "
        "of another GPU."
    ),
    mistaken_for="A package made for another GPU",
    check="The CUDA version in nvidia-smi against that of Triton's ptxas (ptxas --version)",
    fixes=(
        fix("Update the driver, or install the Triton and torch that fit it"),
        fix("Unset TRITON_PTXAS_PATH; empty TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR"),
    ),
    guide="guides/toolchain.md#driver-too-old",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: Triton Error [CUDA]: device kernel image is invalid",
            "words of Triton's launcher",
        ),
    ),
    apart_from=("no_kernel_image", "kernel_image_invalid"),
)
