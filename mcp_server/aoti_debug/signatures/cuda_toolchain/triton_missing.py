from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="triton_missing",
    family="G",
    phase="environment",
    category="toolchain",
    weight=80,
    anchors=("Cannot find a working triton installation", "No module named 'triton'"),
    patterns=(
        ("Cannot find a working triton installation|ModuleNotFoundError: No module named 'triton'"),
    ),
    summary="Triton is missing or does not fit this torch",
    means=(
        "Compiling for a GPU needs the Triton release that torch was built with; running a "
        "finished package does not."
    ),
    fixes=(
        fix(
            "Install the triton version that torch's wheel names: pip install torch brings it "
            "on Linux"
        ),
    ),
    guide="guides/toolchain.md#triton-missing-or-mismatched",
    next_tool="check_environment",
    matches=(
        quoted(
            "torch._inductor.exc.TritonMissing: Cannot find a working triton installation.",
            "words of torch/_inductor/exc.py",
        ),
        quoted("ModuleNotFoundError: No module named 'triton'", "words of Python"),
    ),
)
