from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="inner_dtype_mismatch",
    family="A",
    phase="run",
    category="contract_dtype",
    weight=58,
    anchors=("have the same dtype, but got", "but got dtype code "),
    patterns=(
        (
            r"(?:mat1 and mat2|m1 and m2|self and \w{1,40}) (?:must|to) have the same dtype, "
            r"but got:? (?P<one>\w{1,40}) (?:and|!=) (?P<other>\w{1,40})"
        ),
        r"expected dtype (?P<one>torch\.\w{1,40}) but got dtype (?P<other>code -?\d{1,20})",
    ),
    summary="A tensor inside the model has another dtype than compiled: {one} and {other}",
    means=(
        "An operator of the package met a dtype that it was not compiled for: an input of "
        "another dtype, or an operator whose fake kernel promises another one. Pointwise "
        "kernels before it have already read garbage."
    ),
    mistaken_for=(
        "A fault of the operator; up to 2.12 only stderr says this and the exception is an "
        "empty shell."
    ),
    check="AOTI_RUNTIME_CHECK_INPUTS=1 names the input.",
    fixes=(fix("Cast the input to the exported dtype, or correct the operator's fake kernel"),),
    guide="guides/input-contracts.md#dtype",
    next_tool="triage",
    matches=(
        recorded(
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
            "torch 2.13.0, CPU, check off",
        ),
        quoted(
            "RuntimeError: expected dtype torch.float32 but got dtype code 7",
            "words of the generated checks",
        ),
    ),
    apart_from=("input_check_dtype",),
)
