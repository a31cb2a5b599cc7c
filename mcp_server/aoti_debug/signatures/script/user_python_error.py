from aoti_debug.signatures.signature import Signature, fix, quoted

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
            "^(?:SyntaxError|IndentationError|TabError): (?!program_source)|^NameError: name "
            r"'\w{1,200}' is not defined|^FileNotFoundError: \[Errno 2\]|^UnboundLocalError: "
            "|^ZeroDivisionError: "
        ),
        (
            r"ModuleNotFoundError: No module named '(?!torch'|triton)(?P<module>[\w.]{1,200})'"
            r"|ImportError: cannot import name '(?P<name>\w{1,200})'"
        ),
        r"Error\(s\) in loading state_dict for (?P<model>\w{1,200})",
    ),
    summary="The script itself raised an ordinary Python error",
    means=(
        "A missing module, a misspelt name or a missing file: Python stopped outside "
        "compiling and running the model."
    ),
    check="The last frame of the traceback lies in your file",
    fixes=(
        fix(
            "Correct the line of the last frame; for a missing module name the interpreter "
            "that has it (--python)"
        ),
    ),
    guide="guides/debugging-tools.md#an-unknown-failure",
    next_tool="check_environment",
    matches=(
        quoted("NameError: name 'modle' is not defined", "CPython text"),
        quoted(
            "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'",
            "CPython text",
        ),
        quoted("ModuleNotFoundError: No module named 'einops'", "CPython text"),
        quoted(
            "RuntimeError: Error(s) in loading state_dict for ResNet:",
            "text of torch/nn/modules/module.py",
        ),
    ),
    neighbours=(
        quoted("SyntaxError: program_source:1:1: error: C++ requires a type specifier", "Metal"),
    ),
    apart_from=("triton_missing",),
)
