from aoti_debug.signatures.signature import Signature, fix, quoted

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
            "(?P<what>Found no NVIDIA driver on your system|No CUDA GPUs are available|no "
            "CUDA-capable device is detected|invalid device ordinal|Cannot load AOTInductor "
            r"package for device '[^']{1,20}' because \w{1,200} is not available"
            r"|\d{1,20} active drivers "
            r"\(\[.{0,120}\]\)\. There should only be one)"
        ),
    ),
    summary="No usable GPU: {what}",
    means=(
        "A GPU package, or a compile for one, in a process that sees no GPU or asks for an "
        "index that does not exist. `0 active drivers` are Triton's words for it; 2 means two "
        "Triton backends."
    ),
    check=(
        "torch.cuda.is_available() and nvidia-smi in the same process environment; "
        "CUDA_VISIBLE_DEVICES."
    ),
    fixes=(
        fix(
            "Make the GPU visible (container flags, CUDA_VISIBLE_DEVICES) and use an existing index"
        ),
        fix("Or compile the package for the CPU"),
    ),
    guide="guides/inputs-and-devices.md#no-gpu-visible",
    next_tool="check_environment",
    references=("pytorch/pytorch#145730",),
    matches=(
        quoted(
            "RuntimeError: Found no NVIDIA driver on your system. Please check",
            "words of torch.cuda",
        ),
        quoted("RuntimeError: No CUDA GPUs are available", "words of torch.cuda"),
        quoted("CUDA error: no CUDA-capable device is detected", "words of the CUDA runtime"),
        quoted("RuntimeError: CUDA error: invalid device ordinal", "words of the CUDA runtime"),
        quoted(
            "RuntimeError: Cannot load AOTInductor package for device 'cuda' because CUDA is "
            "not available in this process.",
            "words of the 2.14 loader",
        ),
        quoted(
            "RuntimeError: 0 active drivers ([]). There should only be one.",
            "pytorch/pytorch#145730",
        ),
    ),
    apart_from=("driver_too_old",),
)
