from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="input_check_dtype",
    family="A",
    phase="run",
    category="contract_dtype",
    weight=90,
    confidence="proved",
    anchors=("unmatched dtype, expected: ",),
    patterns=(
        (
            r"input_handles\[(?P<input>\d+)\]: unmatched dtype, expected: "
            r"(?P<expected>\d+\(at::k\w+\)|\S+), but got: (?P<got>-?\d+)"
        ),
    ),
    summary="Input {input} has dtype code {got}, the package was compiled for {expected}",
    means=(
        "The package reads the bytes as the dtype it was compiled for. Without the "
        "check the run ends well and returns garbage."
    ),
    mistaken_for=(
        "A wrong kernel or a numerics bug; the exported program's own guards do not compare dtypes."
    ),
    check="Compare the tensor's dtype with the example input of torch.export.",
    fixes=(
        Fix(what="Cast before the call: x = x.to(torch.float32)", where="the caller"),
        Fix(what="Or export again with an example input of the dtype you serve"),
    ),
    guide="guides/input-contracts.md#dtype",
    next_tool="inspect_package",
    references=("pytorch/pytorch#121820",),
    matches=(
        Sample(
            (
                "RuntimeError: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but "
                "got: 7"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            "input_handles[0]: unmatched dim value at 1, expected: 10, but got: 11",
            "quoted",
            "another failure",
        ),
        Sample(
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
            "quoted",
            "another failure",
        ),
    ),
)
