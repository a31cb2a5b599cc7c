from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
        "loss: nan",
        "loss=nan",
        "nan nan nan",
        "returned NaN",
        "are all NaN",
        "produces NaN",
        "contains NaN",
    ),
    patterns=(
        (
            r"tensor\(\[*nan|\bloss[:=] ?nan|^\s*nan(?:\s+nan){2,}|(?:returned|are all|"
            "produces|contains) NaN"
        ),
    ),
    summary="The output shows NaN",
    means=(
        "A value was not a number by the time it was printed. It may stem from the inputs, "
        "from the model itself or from a kernel."
    ),
    check="Does eager give NaN on the same inputs? Then it is the model, not the compiler",
    fixes=(
        Fix(
            what=(
                "Compile once with TORCHINDUCTOR_NAN_ASSERTS=1 to find the first tensor with a NaN"
            )
        ),
    ),
    guide="guides/wrong-results.md#nan-and-inf",
    next_tool="triage",
    references=("deepmodeling/deepmd-kit#5969",),
    matches=(
        Sample("tensor(nan, device='cuda:0')", "recorded", "torch 2.11, H200"),
        Sample("loss: nan", "quoted", "common form"),
    ),
    neighbours=(
        Sample(
            "Min value: -nan",
            "recorded",
            ("value printer before a launch, where results are not written yet, torch 2.13 CPU"),
        ),
    ),
)
