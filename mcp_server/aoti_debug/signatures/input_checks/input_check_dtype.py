from aoti_debug.signatures.signature import Signature, fix, recorded

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
            r"input_handles\[(?P<input>\d{1,20})\]: unmatched dtype, expected: "
            r"(?P<expected>\d{1,20}\(at::k\w{1,200}\)|\S{1,300}), but got: (?P<got>-?\d{1,20})"
        ),
    ),
    summary="Input {input} has dtype code {got}, the package was compiled for {expected}",
    means=(
        "The package reads the bytes as the dtype it was compiled for. Without the check the "
        "run ends well and returns garbage."
    ),
    mistaken_for=(
        "A wrong kernel or a numerics bug; the exported program's own guards do not compare dtypes."
    ),
    check="Compare the tensor's dtype with the example input of torch.export.",
    fixes=(
        fix("Cast before the call: x = x.to(torch.float32)", where="the caller"),
        fix("Or export again with an example input of the dtype you serve"),
    ),
    guide="guides/input-contracts.md#dtype",
    next_tool="inspect_package",
    references=("pytorch/pytorch#121820",),
    matches=(
        recorded(
            "RuntimeError: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("input_check_size", "inner_dtype_mismatch"),
)
