from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="tensor_without_storage",
    family="L",
    phase="run",
    category="user_code",
    role="aftermath",
    weight=30,
    confidence="possible",
    anchors=("Cannot access data pointer of Tensor",),
    patterns=(
        ("Cannot access data pointer of Tensor that doesn't have (?:storage|initialized dtype)"),
    ),
    summary="A kernel was handed an output that an operator never produced",
    means=(
        "Before torch 2.13 a failing custom operator leaves its output empty and the next "
        "step stumbles over it. The operator's own message stands before this line."
    ),
    mistaken_for="A fake tensor that leaked from export",
    check="The shim message just above",
    guide="guides/custom-ops.md#an-op-that-raises",
    next_tool="triage",
    until="2.12",
    matches=(
        Sample(
            (
                "[E1121 05:31:40.677208367 shim_common.cpp:274] Exception in aoti_torch: "
                "Cannot access data pointer of Tensor that doesn't have storage"
            ),
            "recorded",
            "torch 2.11, H200, after a raising custom op",
        ),
    ),
)
