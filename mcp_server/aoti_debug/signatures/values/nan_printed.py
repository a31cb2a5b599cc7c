from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="nan_printed",
    family="M",
    phase="output",
    category="nan_or_inf",
    role="symptom",
    weight=25,
    confidence="possible",
    anchors=(
        "tensor(nan",
        "tensor([nan",
        "tensor([[nan",
        "tensor([[[nan",
        "loss: nan",
        "loss=nan",
        "HasNaN: True",
        "has_nan: True",
        "has_nan=True",
        "oss is nan",
        "output is nan",
        "outputs are nan",
        "is all nan",
        "all NaN",
        "has NaN",
        "NaN outputs",
        "returns NaN",
        "returns nan",
        "isnan().any()",
        "isfinite().all()",
        "nan nan nan",
        "returned NaN",
        "are all NaN",
        "produces NaN",
        "contains NaN",
    ),
    patterns=(
        (
            r"tensor\(\[{0,9}nan|\bloss[:=] ?nan|^\s{0,20}nan(?:\s{1,20}nan){2,40}"
            r"|(?:returned|are all"
            "|produces|contains|returns|has) NaN(?!s?[?:= ]{1,4}False)|outputs? (?:is|are) nan"
            "|is all nan|all NaN"
            "|(?i:has_?nan[:=] ?True)|[Ll]oss is nan|NaN outputs|returns nan"
            r"|isnan\(\)\.any\(\).{0,20}True|isfinite\(\)\.all\(\)"
            ".{0,20}False"
        ),
    ),
    summary="The output shows NaN",
    means=(
        "A value was not a number by the time it was printed. It may stem from the inputs, "
        "from the model itself or from a kernel."
    ),
    check="Does eager give NaN on the same inputs? Then it is the model, not the compiler",
    fixes=(
        fix("Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first tensor with a NaN"),
    ),
    guide="guides/wrong-results.md#nan-and-inf",
    next_tool="triage",
    references=("deepmodeling/deepmd-kit#5969",),
    matches=(
        recorded("tensor(nan, device='cuda:0')", "torch 2.11, H200"),
        quoted("loss: nan", "common form"),
    ),
    neighbours=(
        quoted("output contains NaN: False", "form of a script's print"),
        recorded(
            "Min value: -nan",
            "value printer before a launch, where results are not written yet, torch 2.13 CPU",
        ),
    ),
)
