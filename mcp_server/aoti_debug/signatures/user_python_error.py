from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="user_python_error",
    family="P",
    phase="none",
    category="user_code",
    role="symptom",
    weight=20,
    anchors=(
        "SyntaxError: ",
        "IndentationError: ",
        "NameError: name ",
        "FileNotFoundError: [Errno 2]",
        "UnboundLocalError: ",
        "ZeroDivisionError: ",
        "ModuleNotFoundError: ",
        "ImportError: cannot import name",
        "Error(s) in loading state_dict for ",
    ),
    patterns=(
        (
            "^(?:SyntaxError|IndentationError|TabError): (?!program_source)|"
            r"^NameError: name '\w+' is not defined|^FileNotFoundError: \[Errno 2\]|"
            "^UnboundLocalError: |^ZeroDivisionError: "
        ),
        (
            r"ModuleNotFoundError: No module named '(?!torch'|triton)(?P<module>[\w.]+)'|"
            r"ImportError: cannot import name '(?P<name>\w+)'"
        ),
        r"Error\(s\) in loading state_dict for (?P<model>\w+)",
    ),
    summary="The script itself raised an ordinary Python error",
    means=(
        "A missing module, a misspelt name or a missing file: Python stopped outside "
        "compiling and running the model."
    ),
    check="The last frame of the traceback lies in your file",
    fixes=(
        Fix(
            what=(
                "Correct the line of the last frame; for a missing module name the "
                "interpreter that has it (--python)"
            )
        ),
    ),
    guide="guides/debugging-tools.md#an-unknown-failure",
    next_tool="check_environment",
    matches=(
        Sample("NameError: name 'modle' is not defined", "quoted", "CPython text"),
        Sample(
            "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'",
            "quoted",
            "CPython text",
        ),
        Sample("ModuleNotFoundError: No module named 'einops'", "quoted", "CPython text"),
        Sample(
            "RuntimeError: Error(s) in loading state_dict for ResNet:",
            "quoted",
            "text of torch/nn/modules/module.py",
        ),
    ),
    neighbours=(
        Sample(
            "SyntaxError: program_source:1:1: error: C++ requires a type specifier",
            "quoted",
            "Metal",
        ),
        Sample(
            "ModuleNotFoundError: No module named 'triton'",
            "quoted",
            "the environment, not the script",
        ),
    ),
)
