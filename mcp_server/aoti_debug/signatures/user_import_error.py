from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="user_import_error",
    family="P",
    phase="environment",
    category="user_code",
    role="symptom",
    weight=20,
    confidence="proved",
    anchors=(
        "ModuleNotFoundError: ",
        "ImportError: cannot import name",
    ),
    patterns=(
        (
            r"ModuleNotFoundError: No module named '(?!torch'|triton)(?P<module>[\w.]+)'|"
            r"ImportError: cannot import name '(?P<name>\w+)'"
        ),
    ),
    summary="The script imports something that is not installed in this interpreter",
    means="Python stopped before the model was compiled or run.",
    check="Is this the interpreter the script belongs to?",
    fixes=(Fix(what="Run with the project's own interpreter (--python), or install the module"),),
    guide="guides/debugging-tools.md#an-unknown-failure",
    next_tool="check_environment",
    matches=(Sample("ModuleNotFoundError: No module named 'einops'", "quoted", "CPython text"),),
    neighbours=(
        Sample(
            "ModuleNotFoundError: No module named 'triton'",
            "quoted",
            "the environment, not the script",
        ),
    ),
)
