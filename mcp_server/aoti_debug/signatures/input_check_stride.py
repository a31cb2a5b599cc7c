from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="input_check_stride",
    family="A",
    phase="run",
    category="contract_stride",
    weight=88,
    anchors=("unmatched stride value at ",),
    patterns=(
        (
            r"input_handles\[(?P<input>\d+)\]: unmatched stride value at (?P<dim>\d+), "
            r"expected: (?P<expected>-?\d+), but got: (?P<got>-?\d+)"
        ),
    ),
    summary=(
        "Input {input} has stride {got} in dimension {dim}, {expected} is compiled into the package"
    ),
    means=(
        "Static strides are compiled in, so a transposed, sliced or channels-last "
        "tensor is read in the wrong order and gives wrong numbers."
    ),
    mistaken_for="A false alarm when that dimension has size 1: then its stride does not matter.",
    check="Print x.shape and x.stride(); a dimension of size 1 may be ignored.",
    fixes=(
        Fix(
            what=(
                "Pass x.contiguous(), or the memory format of the example: "
                "x.contiguous(memory_format=torch.channels_last)"
            )
        ),
        Fix(what="Or export with an example that has the strides you serve"),
    ),
    guide="guides/input-contracts.md#strides",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "RuntimeError: input_handles[0]: unmatched stride value at 0, expected: 10, but "
                "got: 1"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(Sample("expected size 3==4, stride 1==1 at dim=0", "quoted", "another failure"),),
)
