from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            "^(?:Error: |RuntimeError: |"
            r"  what\(\):\s+)?index out of bounds: (?P<bounds>\S+ <= \S+ < \S+)"
        ),
    ),
    summary="A generated CPU kernel checked an index and it was outside {bounds}",
    means=(
        "The bounds check of a CPU kernel raised instead of reading past the table. "
        "`Exception raised from` names the kernel."
    ),
    mistaken_for="A fault of the compiler",
    check="Run ep.module() on the same inputs: eager raises for the same index",
    fixes=(Fix(what="Validate or clamp the index tensor before the call"),),
    guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
    next_tool="explain_kernel",
    matches=(
        Sample(
            "Error: index out of bounds: 0 <= tmp2 < 10L", "recorded", "torch 2.13, CPU, stderr"
        ),
        Sample(
            "RuntimeError: index out of bounds: 0 <= tmp2 < 10L",
            "recorded",
            "torch 2.13, CPU, exception",
        ),
    ),
    neighbours=(Sample("IndexError: index out of range in self", "quoted", "eager embedding"),),
)
