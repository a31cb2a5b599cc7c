from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="triton_missing",
    family="G",
    phase="environment",
    category="toolchain",
    weight=80,
    anchors=(
        "Cannot find a working triton installation",
        "No module named 'triton'",
    ),
    patterns=(
        (
            r"Cannot find a working triton installation|ModuleNotFoundError: No module named "
            r"'triton'"
        ),
    ),
    summary="Triton is missing or does not fit this torch",
    means=(
        "Compiling for a GPU needs the Triton release that torch was built with; "
        "running a finished package does not."
    ),
    fixes=(
        Fix(
            what=(
                "Install the triton version that torch's wheel names: pip install torch brings "
                "it on Linux"
            )
        ),
    ),
    guide="guides/toolchain.md#triton-missing-or-mismatched",
    next_tool="check_environment",
    matches=(
        Sample(
            (
                "torch._inductor.exc.TritonMissing: Cannot find a working triton installation. "
                "Either the package is not installed or it is too old."
            ),
            "quoted",
            "words of torch/_inductor/exc.py",
        ),
        Sample("ModuleNotFoundError: No module named 'triton'", "quoted", "words of Python"),
    ),
)
