from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="driver_too_old",
    family="G",
    phase="environment",
    category="toolchain",
    weight=80,
    anchors=(
        "PTX was compiled with an unsupported toolchain",
        "a PTX JIT compilation failed",
    ),
    patterns=(
        (
            "(?P<what>the provided PTX was compiled with an unsupported toolchain|a PTX JIT "
            "compilation failed)"
        ),
    ),
    summary=("The NVIDIA driver is older than what this torch or package was built with: {what}"),
    means=(
        "The CUDA runtime refuses to start, or the driver cannot compile PTX of a newer toolkit."
    ),
    check="nvidia-smi (top right: highest CUDA version) against torch.version.cuda.",
    fixes=(
        fix("Update the driver, or use a torch build and a compile machine with an older CUDA"),
    ),
    guide="guides/toolchain.md#driver-too-old",
    next_tool="check_environment",
    matches=(
        quoted(
            "CUDA driver error: the provided PTX was compiled with an unsupported toolchain.",
            "words of the CUDA driver",
        ),
        quoted("CUDA error: a PTX JIT compilation failed", "words of the CUDA driver"),
    ),
)
