from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="no_gpu_in_process",
    family="C",
    phase="load",
    category="device_unavailable",
    weight=78,
    anchors=(
        "Found no NVIDIA driver on your system",
        "No CUDA GPUs are available",
        "no CUDA-capable device is detected",
        "invalid device ordinal",
        "Cannot load AOTInductor package for device",
        " active drivers (",
    ),
    patterns=(
        (
            r"(?P<what>Found no NVIDIA driver on your system|No CUDA GPUs are available|no "
            r"CUDA-capable device is detected|invalid device ordinal|Cannot load AOTInductor "
            r"package for device '[^']{1,20}' because \w+ is not available|\d+ active "
            r"drivers \(\[.{0,120}\]\)\. There should only be one)"
        ),
    ),
    summary="No usable GPU: {what}",
    means=(
        "A GPU package, or a compile for one, in a process that sees no GPU or asks for "
        "an index that does not exist. `0 active drivers` are Triton's words for it; 2 "
        "means two Triton backends."
    ),
    check=(
        "torch.cuda.is_available() and nvidia-smi in the same process environment; "
        "CUDA_VISIBLE_DEVICES."
    ),
    fixes=(
        Fix(
            what=(
                "Make the GPU visible (container flags, CUDA_VISIBLE_DEVICES) and use an "
                "existing index"
            )
        ),
        Fix(what="Or compile the package for the CPU"),
    ),
    guide="guides/inputs-and-devices.md#no-gpu-visible",
    next_tool="check_environment",
    references=("pytorch/pytorch#145730",),
    matches=(
        Sample(
            (
                "RuntimeError: Found no NVIDIA driver on your system. Please check that you "
                "have an NVIDIA GPU and installed a driver"
            ),
            "quoted",
            "words of torch.cuda",
        ),
        Sample("RuntimeError: No CUDA GPUs are available", "quoted", "words of torch.cuda"),
        Sample(
            "CUDA error: no CUDA-capable device is detected", "quoted", "words of the CUDA runtime"
        ),
        Sample(
            "RuntimeError: CUDA error: invalid device ordinal",
            "quoted",
            "words of the CUDA runtime",
        ),
        Sample(
            (
                "RuntimeError: Cannot load AOTInductor package for device 'cuda' because CUDA "
                "is not available in this process."
            ),
            "quoted",
            "words of the 2.14 loader",
        ),
        Sample(
            "RuntimeError: 0 active drivers ([]). There should only be one.",
            "quoted",
            "pytorch/pytorch#145730",
        ),
    ),
    neighbours=(
        Sample(
            (
                "CUDA initialization: The NVIDIA driver on your system is too old (found "
                "version 11040)."
            ),
            "quoted",
            "another failure",
        ),
    ),
)
