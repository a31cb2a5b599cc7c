from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="lowering_exception",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=44,
    anchors=("LoweringException: ",),
    patterns=(r"LoweringException: (?P<error>\w+): ?(?P<text>.{0,160})",),
    summary="Inductor could not translate an operator: {error}: {text}",
    means=(
        "The lowering of one operator raised while the graph was translated; the `target:` "
        "line below names the operator and its arguments. Nothing was compiled."
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
    ),
    neighbours=(
        Sample("torch._inductor.exc.InductorError: CppCompileError: C++ compile error", "recorded"),
    ),
)
