from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="input_check_size",
    family="A",
    phase="run",
    category="contract_shape",
    weight=90,
    confidence="proved",
    anchors=("unmatched dim value at ",),
    patterns=(
        (
            r"input_handles\[(?P<input>\d{1,20})\]: unmatched dim value at (?P<dim>\d{1,2"
            r"0}), expected: "
            r"(?P<expected>-?\d{1,20}), but got: (?P<got>-?\d{1,20})"
        ),
    ),
    summary=(
        "Dimension {dim} of input {input} is {got}, but {expected} is compiled into the package"
    ),
    means=(
        "This dimension was static at export, so the kernels index with the compiled size and "
        "read past the tensor. `got: 0` mostly means that the input has too few dimensions: "
        "the check has no test of the rank."
    ),
    mistaken_for=(
        "A kernel bug or an illegal memory access; a slice of a larger buffer may even seem "
        "to work."
    ),
    check="Look at the dynamic_shapes given to torch.export.",
    fixes=(
        fix("Pad or crop input {input} to {expected} in dimension {dim}"),
        fix(
            "Or export with that dimension dynamic: dynamic_shapes={{'x': {{{dim}: Dim('n', "
            "min=1, max=4096)}}}}",
            why="only then are other sizes legal",
        ),
    ),
    guide="guides/input-contracts.md#sizes-and-rank",
    next_tool="inspect_package",
    references=("pytorch/pytorch#153992",),
    matches=(
        recorded(
            "RuntimeError: input_handles[0]: unmatched dim value at 1, expected: 10, but got: 11",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: input_handles[0]: unmatched dim value at 1, expected: 10, but got: 0",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("input_check_range",),
)
