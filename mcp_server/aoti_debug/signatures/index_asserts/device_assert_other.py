from aoti_debug.signatures.signature import Signature, fix, quoted

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
            r": block: \[[-\d,]{1,200}\], thread: \[[-\d,]{1,200}\] Assertion `(?!index o"
            r"ut of bounds|NaN "
            r"or Inf|srcIndex <|-sizes\[i\]|index >= -sizes|ind ?>=|t >= 0 &&|idx_dim >= "
            "0|input_val >= zero|cumdist|val >= zero|sum > accZero|0 <= p4|!|probability "
            "tensor)(?P<condition>[^`']{1,120})` failed"
        ),
    ),
    summary="A device-side assertion of a GPU kernel failed: {condition}",
    means=(
        "A tl.device_assert or CUDA assert outside Inductor's own index checks fired, usually "
        "one of a user kernel. Its condition says what was expected; most guard an index or a "
        "size."
    ),
    mistaken_for="An Inductor index check",
    check=(
        "The file before the line number is the user's kernel or a library, not the Inductor cache"
    ),
    fixes=(fix("Check the argument named in the condition at the kernel's call site"),),
    guide="guides/triton-index-out-of-bounds.md#read-the-message",
    next_tool="explain_kernel",
    matches=(
        quoted(
            "/home/me/kernels.py:17: _gather_rows: block: [3,0,0], thread: [64,0,0] Assertion "
            "`row index must be smaller than n_rows` failed.",
            "layout of a user tl.device_assert",
        ),
    ),
    neighbours=(
        quoted(
            "/tmp/ic/ab/cab.py:20: unknown: block: [0,0,0], thread: [0,0,0] Assertion `NaN or "
            "Inf found` failed."
        ),
    ),
    apart_from=("gpu_index_assert",),
)
