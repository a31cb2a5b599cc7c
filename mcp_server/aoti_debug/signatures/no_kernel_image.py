from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="no_kernel_image",
    family="H",
    phase="run",
    category="missing_kernel_binary",
    weight=82,
    anchors=(
        "no kernel image is available for execution on the device",
        "hipErrorNoBinaryForGpu",
        "no binary for GPU",
    ),
    patterns=(
        (
            r"no kernel image is available for execution on the "
            r"device|hipErrorNoBinaryForGpu|no binary for GPU"
        ),
    ),
    summary="A kernel was built for another GPU architecture",
    means=(
        "A cubin runs only on the architecture it was compiled for. Either the package "
        "was compiled on another kind of GPU, or this torch lacks kernels for the GPU."
    ),
    check=(
        "AOTI_COMPUTE_CAPABILITY in the package's metadata (2.10 and later) against "
        "torch.cuda.get_device_capability()."
    ),
    fixes=(
        Fix(what="Compile on the kind of GPU that serves"),
        Fix(what="Or compile with aot_inductor.emit_multi_arch_kernel=True (2.8 and later)"),
    ),
    guide="guides/package-and-load.md#wrong-gpu-architecture",
    next_tool="inspect_package",
    references=("pytorch/pytorch#165243",),
    matches=(
        Sample(
            "CUDA driver error: no kernel image is available for execution on the device",
            "quoted",
            "words of the CUDA driver",
        ),
        Sample(
            "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
            "quoted",
            "words of ROCm",
        ),
        Sample("HIP error: no binary for GPU", "quoted", "words of ROCm"),
    ),
)
