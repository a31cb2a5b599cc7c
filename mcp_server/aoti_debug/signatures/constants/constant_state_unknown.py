from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="constant_state_unknown",
    family="D",
    phase="run",
    category="constants_missing",
    weight=84,
    confidence="proved",
    anchors=("Unknown constant state: ",),
    patterns=(r"Unknown constant state: (?:ConstantState::)?(?P<state>\w{1,200})",),
    summary="The active constant buffer is empty (state {state})",
    means="swap_constant_buffer made a buffer active that was never filled.",
    fixes=(
        fix(
            "Fill the inactive buffer before swapping: update_constant_buffer(map, "
            "use_inactive=True, ...), then swap"
        ),
    ),
    guide="guides/constants.md#swap-and-inactive-buffers",
    since="2.8",
    references=("pytorch/pytorch#195089",),
    matches=(
        recorded("RuntimeError: Unknown constant state: ConstantState::NONE", "torch 2.13.0, CPU"),
        quoted("Unknown constant state: NONE", "pytorch/pytorch#195089"),
    ),
)
