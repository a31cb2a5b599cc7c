from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="constant_state_unknown",
    family="D",
    phase="run",
    category="constants_missing",
    weight=84,
    confidence="proved",
    anchors=("Unknown constant state: ",),
    patterns=(r"Unknown constant state: (?:ConstantState::)?(?P<state>\w+)",),
    summary="The active constant buffer is empty (state {state})",
    means="swap_constant_buffer made a buffer active that was never filled.",
    fixes=(
        Fix(
            what=(
                "Fill the inactive buffer before swapping: update_constant_buffer(map, "
                "use_inactive=True, ...), then swap"
            )
        ),
    ),
    guide="guides/constants.md#swap-and-inactive-buffers",
    since="2.8",
    references=("pytorch/pytorch#195089",),
    matches=(
        Sample(
            "RuntimeError: Unknown constant state: ConstantState::NONE",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample("Unknown constant state: NONE", "quoted", "pytorch/pytorch#195089"),
    ),
)
