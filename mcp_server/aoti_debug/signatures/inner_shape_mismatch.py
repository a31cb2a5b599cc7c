from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="inner_shape_mismatch",
    family="A",
    phase="run",
    category="contract_shape",
    weight=58,
    confidence="possible",
    anchors=(
        "expected size ",
        "expected ndim ",
        "shapes cannot be multiplied",
    ),
    patterns=(
        r"expected size (?P<got>\d+)==(?P<expected>\d+), stride \d+==\d+ at dim=\d+",
        r"expected ndim (?P<expected>\d+) but got (?P<got>\d+)",
        (
            r"mat1 and mat2 shapes cannot be multiplied \((?P<got>[\dsux*]{1,40}) and "
            r"(?P<expected>[\dsux*]{1,40})\)"
        ),
    ),
    summary="A tensor inside the model has size {got} where {expected} was compiled in",
    means=(
        "Either an input breaks the contract (two sizes that must be equal, another "
        "rank) or an operator's fake kernel promised another shape. In `expected size "
        "A==B` the first number is what arrived, and the text below it blames the fake "
        "kernel in both cases."
    ),
    mistaken_for="Always a custom op's fake kernel.",
    check=(
        "Run ep.module() on the same inputs: a failing guard means the input, a clean "
        "run the operator."
    ),
    fixes=(Fix(what="Correct the input, or the operator's fake kernel (torch.library.opcheck)"),),
    guide="guides/input-contracts.md#asserts-inside-the-model",
    next_tool="triage",
    matches=(
        Sample(
            (
                "RuntimeError: expected size 3==4, stride 1==1 at dim=0; expected size 5==4, "
                "stride 3==4 at dim=1"
            ),
            "quoted",
            "words of aoti_runtime/utils.h",
        ),
        Sample(
            "RuntimeError: expected ndim 2 but got 1", "quoted", "words of aoti_runtime/utils.h"
        ),
        Sample(
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x11 and 10x16)",
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample("AssertionError: expected size 3, got 4", "quoted", "another failure"),
        Sample(
            "input_handles[0]: unmatched stride value at 0, expected: 10, but got: 1",
            "quoted",
            "another failure",
        ),
    ),
)
