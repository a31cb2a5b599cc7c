from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="lowering_exception",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=44,
    anchors=(
        "LoweringException: ",
        "missing lowering",
        "missing decomposition",
        "MissingOperator",
    ),
    patterns=(
        r"LoweringException: (?P<text>\w+: ?.{0,160})",
        r"MissingOperatorWith\w+: (?P<text>missing (?:lowering|decomposition))",
        r"^(?P<text>missing (?:lowering|decomposition))\b",
    ),
    summary="Inductor could not translate an operator: {text}",
    means=(
        "The rule for one operator raised, or there is none; the `target:` line names the "
        "operator and its arguments. Nothing was compiled."
    ),
    mistaken_for="An error of your model code",
    check=(
        "torch.compile of the same function usually fails alike: then it is Inductor, not packaging"
    ),
    fixes=(
        Fix(what="Read `target:` and `Found from`, then rewrite or decompose that operator"),
        Fix(what="Try the newest torch: many lowerings were repaired"),
    ),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    references=(
        "pytorch/pytorch#138254",
        "pytorch/pytorch#139911",
    ),
    matches=(
        Sample(
            (
                "torch._inductor.exc.InductorError: LoweringException: AssertionError: "
                "unexpected layout"
            ),
            "recorded",
            "torch 2.13 CPU, a lowering made to raise",
        ),
        Sample(
            (
                "torch._inductor.exc.LoweringException: AssertionError: target: "
                "aten._scaled_mm.default"
            ),
            "quoted",
            "huggingface/flux-fast#12",
        ),
        Sample(
            "torch._inductor.exc.MissingOperatorWithoutDecomp: missing lowering",
            "quoted",
            "text of torch/_inductor/exc.py",
        ),
    ),
    neighbours=(
        Sample("torch._inductor.exc.InductorError: CppCompileError: C++ compile error", "recorded"),
    ),
)
