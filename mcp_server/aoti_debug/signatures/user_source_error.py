from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="user_source_error",
    family="P",
    phase="environment",
    category="user_code",
    role="symptom",
    weight=18,
    anchors=(
        "SyntaxError: ",
        "IndentationError: ",
        "NameError: name ",
        "FileNotFoundError: [Errno 2]",
        "UnboundLocalError: ",
        "ZeroDivisionError: ",
    ),
    patterns=(
        (
            "^(?:SyntaxError|IndentationError|TabError): (?!program_source)|"
            r"^NameError: name '\w+' is not defined|^FileNotFoundError: \[Errno 2\]|"
            "^UnboundLocalError: |^ZeroDivisionError: "
        ),
    ),
    summary="The script itself raised an ordinary Python error",
    means=(
        "The error comes from the script's own code and not from compiling or running the model."
    ),
    check="The last frame of the traceback lies in your file",
    fixes=(Fix(what="Correct the line of the last frame"),),
    guide="guides/debugging-tools.md#an-unknown-failure",
    matches=(
        Sample("NameError: name 'modle' is not defined", "quoted", "CPython text"),
        Sample(
            "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'",
            "quoted",
            "CPython text",
        ),
    ),
    neighbours=(
        Sample(
            "SyntaxError: program_source:1:1: error: C++ requires a type specifier",
            "quoted",
            "Metal",
        ),
    ),
)
