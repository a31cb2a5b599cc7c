from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="device_assert_other",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    weight=60,
    confidence="possible",
    anchors=("thread: [",),
    patterns=(
        (
            r": block: \[[-\d,]+\], thread: \[[-\d,]+\] Assertion `(?!index out of bounds|"
            r"NaN or Inf|srcIndex <|-sizes\[i\]|index >= -sizes|ind ?>=|t >= 0 &&|"
            "idx_dim >= 0)(?P<condition>[^`']{1,120})` failed"
        ),
    ),
    summary="A device-side assertion of a GPU kernel failed: {condition}",
    means=(
        "A tl.device_assert or CUDA assert outside Inductor's own index checks fired, "
        "usually one of a user kernel. Its condition says what was expected; most guard an "
        "index or a size."
    ),
    mistaken_for="An Inductor index check",
    check=(
        "The file before the line number is the user's kernel or a library, not the Inductor cache"
    ),
    fixes=(Fix(what="Check the argument named in the condition at the kernel's call site"),),
    guide="guides/triton-index-out-of-bounds.md#read-the-message",
    next_tool="explain_kernel",
    matches=(
        Sample(
            (
                "/home/me/kernels.py:17: _gather_rows: block: [3,0,0], thread: [64,0,0] "
                "Assertion `row index must be smaller than n_rows` failed."
            ),
            "quoted",
            "layout of a user tl.device_assert",
        ),
    ),
    neighbours=(
        Sample(
            (
                "/tmp/w/embed_oob-base/ic/kf/ckfrkydudem26ptascmpnnrmjbgdltfqds6xq"
                "ukry7hbdo6mz5y2.py:34: unknown: block: [0,3,0], thread: [5,0,0] Assertion "
                "`index out of bounds: 0 <= tmp4 < 1000` failed."
            ),
            "recorded",
        ),
        Sample(
            (
                "/tmp/ic/ab/cab.py:20: unknown: block: [0,0,0], thread: [0,0,0] Assertion "
                "`NaN or Inf found` failed."
            ),
            "quoted",
        ),
    ),
)
