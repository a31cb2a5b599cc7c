from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="autotune_invalid_argument",
    family="K",
    phase="autotune",
    category="autotune_error",
    weight=72,
    anchors=("autotuning code block",),
    patterns=("Failed to run autotuning code block: .{0,80}invalid argument",),
    summary="A kernel launch made for tuning had an invalid grid or argument",
    means=(
        "With the sizes assumed for tuning, one kernel's grid is zero or too large. The real "
        "sizes may be fine."
    ),
    mistaken_for="A run-time launch failure",
    check="TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0",
    fixes=(
        fix(
            "Switch tuning at compile time off; upgrade to 2.10 or later, which logs the "
            "kernel's name"
        ),
    ),
    guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
    next_tool="triage",
    references=("pytorch/pytorch#145984", "pytorch/pytorch#176193"),
    matches=(
        quoted(
            "Failed to run autotuning code block: Triton Error [CUDA]: invalid argument",
            "pytorch/pytorch#145984",
        ),
    ),
)
