from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="inner_shape_mismatch",
    family="A",
    phase="run",
    category="contract_shape",
    weight=58,
    confidence="possible",
    anchors=("expected size ", "expected ndim ", "shapes cannot be multiplied"),
    patterns=(
        (
            r"expected size (?P<got>\d{1,20})==(?P<expected>(?!(?P=got),)\d{1,20}), stride "
            r"\d{1,20}==\d{1,20} at dim=\d{1,20}"
        ),
        r"expected ndim (?P<expected>\d{1,20}) but got (?P<got>\d{1,20})",
        (
            r"mat1 and mat2 shapes cannot be multiplied \((?P<got>[\dsux*]{1,40}) and "
            r"(?P<expected>[\dsux*]{1,40})\)"
        ),
    ),
    summary="A tensor inside the model has size {got} where {expected} was compiled in",
    means=(
        "Either an input breaks the contract (two sizes that must be equal, another rank) or "
        "an operator's fake kernel promised another shape. In `expected size A==B` the first "
        "number is what arrived, and the text below it blames the fake kernel in both cases."
    ),
    mistaken_for="Always a custom op's fake kernel.",
    check=(
        "Run ep.module() on the same inputs: a failing guard means the input, a clean run the "
        "operator."
    ),
    fixes=(fix("Correct the input, or the operator's fake kernel (torch.library.opcheck)"),),
    guide="guides/input-contracts.md#asserts-inside-the-model",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: expected size 3==4, stride 1==1 at dim=0; expected size 5==4, "
            "stride 3==4 at dim=1",
            "words of aoti_runtime/utils.h",
        ),
        quoted("RuntimeError: expected ndim 2 but got 1", "words of aoti_runtime/utils.h"),
        recorded(
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x11 and 10x16)",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(quoted("AssertionError: expected size 3, got 4", "another failure"),),
    apart_from=("input_check_stride",),
)
