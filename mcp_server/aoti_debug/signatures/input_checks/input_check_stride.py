from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="input_check_stride",
    family="A",
    phase="run",
    category="contract_stride",
    weight=88,
    anchors=("unmatched stride value at ",),
    patterns=(
        (
            r"input_handles\[(?P<input>\d{1,20})\]: unmatched stride value at (?P<dim>\d{"
            r"1,20}), "
            r"expected: (?P<expected>-?\d{1,20}), but got: (?P<got>-?\d{1,20})"
        ),
    ),
    summary=(
        "Input {input} has stride {got} in dimension {dim}, {expected} is compiled into the package"
    ),
    means=(
        "Static strides are compiled in, so a transposed, sliced or channels-last tensor is "
        "read in the wrong order and gives wrong numbers."
    ),
    mistaken_for=("A false alarm when that dimension has size 1: then its stride does not matter."),
    check="Print x.shape and x.stride(); a dimension of size 1 may be ignored.",
    fixes=(
        fix(
            "Pass x.contiguous(), or the memory format of the example: "
            "x.contiguous(memory_format=torch.channels_last)"
        ),
        fix("Or export with an example that has the strides you serve"),
    ),
    guide="guides/input-contracts.md#strides",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: input_handles[0]: unmatched stride value at 0, expected: 10, but got: 1",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("inner_shape_mismatch",),
)
