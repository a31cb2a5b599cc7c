from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="driver_too_old",
    family="G",
    phase="environment",
    category="toolchain",
    weight=80,
    anchors=(
        "driver on your system is too old",
        "CUDA driver version is insufficient for CUDA runtime version",
        "PTX was compiled with an unsupported toolchain",
        "a PTX JIT compilation failed",
    ),
    patterns=(
        (
            r"(?P<what>NVIDIA driver on your system is too old|CUDA driver version is "
            r"insufficient for CUDA runtime version|the provided PTX was compiled with an "
            r"unsupported toolchain|a PTX JIT compilation failed)"
        ),
    ),
    summary=("The NVIDIA driver is older than what this torch or package was built with: {what}"),
    means=(
        "The CUDA runtime refuses to start, or the driver cannot compile PTX of a newer toolkit."
    ),
    check="nvidia-smi (top right: highest CUDA version) against torch.version.cuda.",
    fixes=(
        Fix(
            what=(
                "Update the driver, or use a torch build and a compile machine with an older CUDA"
            )
        ),
    ),
    guide="guides/toolchain.md#driver-too-old",
    next_tool="check_environment",
    matches=(
        Sample(
            (
                "CUDA initialization: The NVIDIA driver on your system is too old (found "
                "version 11040)."
            ),
            "quoted",
            "words of torch.cuda",
        ),
        Sample(
            "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
            "quoted",
            "words of the CUDA runtime",
        ),
        Sample(
            "CUDA driver error: the provided PTX was compiled with an unsupported toolchain.",
            "quoted",
            "words of the CUDA driver",
        ),
        Sample("CUDA error: a PTX JIT compilation failed", "quoted", "words of the CUDA driver"),
    ),
)
