from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
        "(?P<what>Ran into a kwarg keyword mismatch: .{0,200})",
        (
            "(?P<what>Trying to flatten user inputs with exported input tree spec|Please "
            "check that the inputs have the same number and type of args)"
        ),
    ),
    summary="The call does not have the structure of the export: {what}",
    means=(
        "Keywords, nesting, lengths and dict keys of the call must be those of the example "
        "inputs; a positional argument does not stand in for a keyword."
    ),
    fixes=(fix("Call with exactly the exported keywords and nesting"),),
    guide="guides/inputs-and-devices.md#keyword-arguments",
    references=("pytorch/pytorch#118470",),
    matches=(
        recorded(
            "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords ['j'] "
            "but expected ['k']",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords [] but "
            "expected ['k']",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "ValueError: Trying to flatten user inputs with exported input tree spec:",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "Please check that the inputs have the same number and type of args",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        quoted("TypeError: forward() got an unexpected keyword argument 'k'", "plain Python"),
    ),
)
