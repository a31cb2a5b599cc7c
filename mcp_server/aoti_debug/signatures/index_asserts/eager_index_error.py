from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="eager_index_error",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    weight=48,
    anchors=(
        "index out of range in self",
        "is out of bounds for dimension",
        "IndexError: Target ",
        "index_select(): index out of range",
        "index out of range in ",
        "out of bounds for dimension ",
        "indices element is out of DATA bounds",
    ),
    patterns=(
        (
            r"index out of range in self"
            r"|[iI]ndex -?\d{1,20} is out of bounds for dimension \d{1,20} "
            "with "
            r"size \d{1,20}|IndexError: Target -?\d{1,20} is out of bounds"
            r"|index_select\(\): index out "
            "of "
            "range|indices element is out of DATA bounds"
        ),
    ),
    summary="An operator on the CPU was given an index outside its dimension",
    means=(
        "The index tensor of an embedding, gather, scatter or loss holds a value that the "
        "table does not have; the operator, compiled or eager, checks it and says so."
    ),
    mistaken_for="A fault of the compiled model",
    check="Maximum and minimum of the index tensor against the size of the table",
    fixes=(fix("Validate or clamp the index tensor before the call"),),
    guide="guides/triton-index-out-of-bounds.md#on-a-cpu-package",
    next_tool="triage",
    matches=(
        recorded("IndexError: index out of range in self", "torch 2.13 CPU, embedding"),
        recorded(
            "RuntimeError: index 12 is out of bounds for dimension 0 with size 10",
            "torch 2.13 CPU, gather",
        ),
        recorded("IndexError: Target 9 is out of bounds.", "torch 2.13 CPU, nll_loss"),
    ),
    neighbours=(
        quoted("IndexError: list index out of range", "Python code"),
        quoted("IndexError: index 5 is out of bounds for axis 0 with size 5", "NumPy"),
    ),
)
