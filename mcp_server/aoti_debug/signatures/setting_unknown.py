from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="setting_unknown",
    family="G",
    phase="environment",
    category="user_code",
    weight=74,
    confidence="proved",
    anchors=(
        "torch._inductor.config.",
        "Invalid log settings: ",
        "is not a valid IntermediateValueDebuggingLevel",
    ),
    patterns=(
        r"AttributeError: (?P<what>torch\._inductor\.config\.[\w.]{1,100} does not exist)",
        r"(?P<what>Invalid log settings: .{1,120}), must be a comma separated list",
        r"(?P<what>'?[^' ]{1,20}'? is not a valid IntermediateValueDebuggingLevel)",
    ),
    summary="A setting is unknown to this torch: {what}",
    means=(
        "A spelling mistake, an option of another release, or a variable left set. "
        "TORCH_LOGS knows no `aoti`; the printer takes 0 to 3, as text."
    ),
    fixes=(
        Fix(
            what=(
                "Correct or unset it; torch._inductor.config and `Valid settings` list the "
                "known names"
            )
        ),
    ),
    guide="guides/debugging-tools.md#unknown-settings",
    matches=(
        Sample(
            "AttributeError: torch._inductor.config.aot_inductor.nope does not exist",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            "Invalid log settings: aoti, must be a comma separated list of fully",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "torch._inductor.exc.InductorError: ValueError: '7' is not a valid "
                "IntermediateValueDebuggingLevel"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            (
                "InvalidCxxCompiler: No working C++ compiler found in "
                "torch._inductor.config.cpp.cxx: (None, 'g++')"
            ),
            "quoted",
            "another failure",
        ),
    ),
)
