from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="setting_unknown",
    family="G",
    phase="environment",
    category="user_code",
    weight=74,
    anchors=(
        "torch._inductor.config.",
        "Invalid log settings: ",
        "is not a valid IntermediateValueDebuggingLevel",
    ),
    patterns=(
        r"AttributeError: (?P<what>torch\._inductor\.config\.[\w.]{1,100} does not exist)",
        "(?P<what>Invalid log settings: .{1,120}), must be a comma separated list",
        "(?P<what>'?[^' ]{1,20}'? is not a valid IntermediateValueDebuggingLevel)",
    ),
    summary="A setting is unknown to this torch: {what}",
    means=(
        "A spelling mistake, an option of another release, or a variable left set. TORCH_LOGS "
        "knows no `aoti`; the printer takes 0 to 3, as text."
    ),
    fixes=(
        fix(
            "Correct or unset it; torch._inductor.config and `Valid settings` list the known names"
        ),
    ),
    guide="guides/debugging-tools.md#unknown-settings",
    matches=(
        recorded(
            "AttributeError: torch._inductor.config.aot_inductor.nope does not exist",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "Invalid log settings: aoti, must be a comma separated list of fully",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch._inductor.exc.InductorError: ValueError: '7' is not a valid "
            "IntermediateValueDebuggingLevel",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("no_cxx_compiler",),
)
