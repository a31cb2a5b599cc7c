from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="autotune_device_assert",
    family="K",
    phase="autotune",
    category="autotune_error",
    weight=74,
    anchors=("autotuning code block",),
    patterns=("Failed to run autotuning code block: .{0,80}device-side assert triggered",),
    summary="A kernel's assertion fired on the made-up inputs used for tuning",
    means=(
        "Random numbers were used as indices while tuning, and the bounds check of a kernel "
        "rejected them. The model's real indices were not involved."
    ),
    mistaken_for="A bad index in the example inputs",
    check="Does the model pass eagerly on the example inputs? Then it is the tuning data",
    fixes=(
        fix(
            "Upgrade, or switch tuning at compile time off; keep the producer and the "
            "consumer of indices in one graph"
        ),
    ),
    guide="guides/triton-index-out-of-bounds.md#an-assert-while-compiling",
    next_tool="triage",
    references=("pytorch/pytorch#147799", "pytorch/pytorch#146706"),
    matches=(
        quoted(
            "Failed to run autotuning code block: Triton Error [CUDA]: device-side assert "
            "triggered",
            "pytorch/pytorch#147799",
        ),
    ),
)
