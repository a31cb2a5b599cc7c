from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="inner_stride_mismatch",
    family="A",
    phase="run",
    category="contract_stride",
    weight=57,
    confidence="possible",
    anchors=("expected size ",),
    patterns=(
        (
            r"expected size (?P<size>\d{1,20})==(?P=size), stride (?P<got>\d{1,20})=="
            r"(?P<expected>(?!(?P=got)\b)\d{1,20}) at dim=\d{1,20}"
        ),
    ),
    summary="A tensor inside the model has stride {got} where {expected} was compiled in",
    means=(
        "The sizes are right and the layout is not: an input in another memory format, or an "
        "operator whose fake kernel promised another layout than it returns."
    ),
    mistaken_for="Always a custom op's fake kernel, as the text below it says.",
    check=(
        "Run ep.module() on the same inputs: a failing guard means the input, a clean run the "
        "operator."
    ),
    fixes=(
        fix("Pass inputs in the layout of the export (.contiguous() or channels_last)"),
        fix("Or correct the layout that the operator's fake kernel returns"),
    ),
    guide="guides/input-contracts.md#asserts-inside-the-model",
    next_tool="triage",
    matches=(
        quoted(
            "AssertionError: expected size 16==16, stride 784==1 at dim=1",
            "words of torch/_dynamo/guards.py",
        ),
    ),
    neighbours=(
        quoted("RuntimeError: expected size 3==4, stride 1==1 at dim=0", "a size that differs"),
    ),
)
