from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="kernel_image_invalid",
    family="H",
    phase="run",
    category="missing_kernel_binary",
    weight=82,
    anchors=(
        "device kernel image is invalid",
        "named symbol not found",
    ),
    patterns=(
        r"(?P<what>device kernel image is invalid)",
        (
            r"(?:CUDA (?:driver )?error|Triton Error \[CUDA\]): (?P<what>named symbol not "
            r"found)"
        ),
    ),
    summary="A kernel binary cannot be used: {what}",
    means=(
        "It is damaged, built for another architecture or by a toolkit newer than the "
        "driver; `named symbol not found` means a stale or foreign cubin under the "
        "expected name."
    ),
    check="cuobjdump the .cubin; compare the GPU's capability with the package's.",
    fixes=(
        Fix(
            what=(
                "Compile again on the target GPU, into empty TORCHINDUCTOR_CACHE_DIR and "
                "TRITON_CACHE_DIR"
            )
        ),
    ),
    guide="guides/package-and-load.md#wrong-gpu-architecture",
    next_tool="inspect_package",
    matches=(
        Sample(
            "RuntimeError: CUDA driver error: device kernel image is invalid",
            "quoted",
            "words of the CUDA driver",
        ),
        Sample(
            "RuntimeError: CUDA driver error: named symbol not found",
            "quoted",
            "words of the CUDA driver",
        ),
    ),
    neighbours=(Sample("CUDA driver error: file not found", "quoted", "another failure"),),
)
