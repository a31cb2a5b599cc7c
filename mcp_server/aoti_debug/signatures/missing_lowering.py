from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="missing_lowering",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=60,
    anchors=(
        "missing lowering",
        "missing decomposition",
        "MissingOperator",
    ),
    patterns=(
        (
            r"MissingOperatorWith\w+: missing (?P<what>lowering|decomposition)|"
            r"^missing (?P<what2>lowering|decomposition)\b"
        ),
    ),
    summary="Inductor has no rule for an operator of the graph",
    means=(
        "The operator has neither a lowering nor a fallback; its name is on the `target:` line."
    ),
    fixes=(
        Fix(what="Apply run_decompositions() to the exported program before compiling"),
        Fix(
            what=("Register the op as a custom op with a fake kernel so that it becomes a fallback")
        ),
    ),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    matches=(
        Sample(
            "torch._inductor.exc.MissingOperatorWithoutDecomp: missing lowering",
            "quoted",
            "text of torch/_inductor/exc.py",
        ),
    ),
)
