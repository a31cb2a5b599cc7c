from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="cpu_index_out_of_bounds",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    weight=90,
    confidence="proved",
    anchors=("index out of bounds: ",),
    patterns=(
        (
            r"^(?:Error: |RuntimeError: "
            r"|  what\(\):\s{1,20})?index out of bounds: (?P<bounds>\S{1,300} "
            r"<= \S{1,300} < \S{1,300})"
        ),
    ),
    summary="A generated CPU kernel checked an index and it was outside {bounds}",
    means=(
        "The bounds check of a CPU kernel raised instead of reading past the table. "
        "`Exception raised from` names the kernel."
    ),
    mistaken_for="A fault of the compiler",
    check="Run ep.module() on the same inputs: eager raises for the same index",
    fixes=(fix("Validate or clamp the index tensor before the call"),),
    guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
    next_tool="explain_kernel",
    matches=(
        recorded("Error: index out of bounds: 0 <= tmp2 < 10L", "torch 2.13, CPU, stderr"),
        recorded(
            "RuntimeError: index out of bounds: 0 <= tmp2 < 10L", "torch 2.13, CPU, exception"
        ),
    ),
    neighbours=(quoted("IndexError: index out of range in self", "eager embedding"),),
)
