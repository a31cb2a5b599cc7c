from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="inner_dtype_mismatch",
    family="A",
    phase="run",
    category="contract_dtype",
    weight=58,
    anchors=(
        "have the same dtype, but got",
        "but got dtype code ",
    ),
    patterns=(
        (
            r"(?:mat1 and mat2|m1 and m2|self and \w+) (?:must|to) have the same dtype, but "
            r"got:? (?P<one>\w+) (?:and|!=) (?P<other>\w+)"
        ),
        r"expected dtype (?P<one>torch\.\w+) but got dtype (?P<other>code -?\d+)",
    ),
    summary="A tensor inside the model has another dtype than compiled: {one} and {other}",
    means=(
        "An operator of the package met a dtype that it was not compiled for: an input "
        "of another dtype, or an operator whose fake kernel promises another one. "
        "Pointwise kernels before it have already read garbage."
    ),
    mistaken_for=(
        "A fault of the operator; up to 2.12 only stderr says this and the exception is "
        "an empty shell."
    ),
    check="AOTI_RUNTIME_CHECK_INPUTS=1 names the input.",
    fixes=(
        Fix(what="Cast the input to the exported dtype, or correct the operator's fake kernel"),
    ),
    guide="guides/input-contracts.md#dtype",
    next_tool="triage",
    matches=(
        Sample(
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
            "recorded",
            "torch 2.13.0, CPU, check off",
        ),
        Sample(
            "RuntimeError: expected dtype torch.float32 but got dtype code 7",
            "quoted",
            "words of the generated checks",
        ),
    ),
    neighbours=(
        Sample(
            "input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7",
            "quoted",
            "another failure",
        ),
    ),
)
