from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="gpu_index_assert",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    weight=92,
    confidence="proved",
    anchors=("Assertion `index out of bounds",),
    patterns=(
        (
            r"block: \[(?P<block>[-\d,]{1,200})\], thread: \[(?P<thread>[-\d,]{1,200})\] "
            r"Assertion `index "
            "out of bounds: (?P<bounds>[^`']{1,120})` failed"
        ),
    ),
    summary="A generated GPU kernel checked an index and it was outside {bounds}",
    means=(
        "Inductor's own bounds check around an indexed load or store fired; the tensor that "
        "holds the index carries a value outside the table. The file and line are those of "
        "the kernel, the upper bound is the size of the indexed dimension."
    ),
    mistaken_for="The cuBLAS, random-state or event errors that follow it",
    check=("The assert is printed first; everything after it in the same process is a consequence"),
    fixes=(
        fix(
            "Check the index tensor against the bound before the call, or clamp it in the model",
            why="the compiled kernel cannot report which input it was",
        ),
        fix(
            "Compare the size of the table (vocabulary, position table) with what the "
            "tokenizer or caller produces"
        ),
    ),
    guide="guides/triton-index-out-of-bounds.md#read-the-message",
    next_tool="explain_kernel",
    references=("pytorch/pytorch#147799",),
    matches=(
        recorded(
            "/tmp/w/embed_oob-base/ic/kf/ckfrkydudem26ptascmpnnrmjbgdltfqds6xqukry7hbdo6mz5y2."
            "py:34: unknown: block: [0,3,0], thread: [5,0,0] Assertion `index out of bounds: "
            "0 <= tmp4 < 1000` failed.",
            "torch 2.11, H200",
        ),
    ),
    apart_from=("cpu_index_out_of_bounds", "aten_index_assert"),
)
