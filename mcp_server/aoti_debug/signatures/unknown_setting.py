from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="unknown_setting",
    family="P",
    phase="lower",
    category="user_code",
    weight=70,
    confidence="proved",
    anchors=("torch._inductor.config.",),
    patterns=(
        r"AttributeError: torch\._inductor\.config\.(?P<name>[\w.]+) does not exist",
        r"Unexpected optimization option (?P<option>[\w.]+)",
    ),
    summary="This torch release has no such Inductor setting",
    means="The configuration key is misspelt, or belongs to a newer or older release.",
    fixes=(Fix(what="Look the key up in torch/_inductor/config.py of the installed torch"),),
    guide="guides/debugging-tools.md#unknown-settings",
    next_tool="check_environment",
    references=("triton-inference-server/server#8877",),
    matches=(
        Sample(
            ("AttributeError: torch._inductor.config.aot_inductor.no_such does not exist"),
            "recorded",
            "torch 2.13",
        ),
    ),
    neighbours=(
        Sample("KeyError: 'aot_inductor.no_such'", "recorded", "the first half of the chain"),
    ),
)
