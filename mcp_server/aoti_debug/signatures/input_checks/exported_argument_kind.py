from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="exported_argument_kind",
    family="A",
    phase="run",
    category="contract_argument",
    weight=84,
    anchors=(
        "to be a tensor, but got",
        "Unexpected number of inputs (expected ",
    ),
    patterns=(
        r"Expected input at (?P<what>\S{1,120}) to be a tensor, but got",
        r"(?P<what>Unexpected number of inputs \(expected \d{1,20}, got \d{1,20}\))",
    ),
    summary="The arguments are not of the exported number or kind: {what}",
    means=(
        "Where the export had a tensor the call has something else, or there are more or "
        "fewer arguments."
    ),
    fixes=(
        fix(
            "Call with the exported number and kinds of arguments; torch.tensor(value) for a number"
        ),
    ),
    guide="guides/inputs-and-devices.md#number-and-kind-of-arguments",
    matches=(
        quoted(
            "RuntimeError: Expected input at *args[1] to be a tensor, but got <class 'int'>",
            "words of torch/_export/utils.py",
        ),
        quoted(
            "RuntimeError: Unexpected number of inputs (expected 2, got 1)",
            "words of torch/_export/utils.py",
        ),
    ),
)
