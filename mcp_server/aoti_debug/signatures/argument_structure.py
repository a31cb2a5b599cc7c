from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="argument_structure",
    family="A",
    phase="run",
    category="contract_argument",
    weight=80,
    confidence="proved",
    anchors=(
        "Ran into a kwarg keyword mismatch",
        "Trying to flatten user inputs with exported input tree spec",
        "Please check that the inputs have the same number and type of args",
    ),
    patterns=(
        r"(?P<what>Ran into a kwarg keyword mismatch: .{0,200})",
        (
            r"(?P<what>Trying to flatten user inputs with exported input tree spec|Please "
            r"check that the inputs have the same number and type of args)"
        ),
    ),
    summary="The call does not have the structure of the export: {what}",
    means=(
        "Keywords, nesting, lengths and dict keys of the call must be those of the "
        "example inputs; a positional argument does not stand in for a keyword."
    ),
    fixes=(Fix(what="Call with exactly the exported keywords and nesting"),),
    guide="guides/inputs-and-devices.md#keyword-arguments",
    references=("pytorch/pytorch#118470",),
    matches=(
        Sample(
            (
                "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords "
                "['j'] but expected ['k']"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords [] "
                "but expected ['k']"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "ValueError: Trying to flatten user inputs with exported input tree spec: "
                "\nTreeSpec(tuple, None, [TreeSpec(tuple, None, [*]),"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "Please check that the inputs have the same number and type of args and kwargs "
                "as the ones you used when tracing."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            "TypeError: forward() got an unexpected keyword argument 'k'", "quoted", "plain Python"
        ),
    ),
)
