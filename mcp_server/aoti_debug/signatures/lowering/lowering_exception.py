from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
        r"LoweringException: (?P<text>\w{1,200}: ?.{0,160})",
        r"MissingOperatorWith\w{1,200}: (?P<text>missing (?:lowering|decomposition))",
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
        fix("Read `target:` and `Found from`, then rewrite or decompose that operator"),
        fix("Try the newest torch: many lowerings were repaired"),
    ),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    references=("pytorch/pytorch#138254", "pytorch/pytorch#139911"),
    matches=(
        recorded(
            "torch._inductor.exc.InductorError: LoweringException: AssertionError: unexpected "
            "layout",
            "torch 2.13 CPU, a lowering made to raise",
        ),
        quoted(
            "torch._inductor.exc.LoweringException: AssertionError: target: "
            "aten._scaled_mm.default",
            "huggingface/flux-fast#12",
        ),
        quoted(
            "torch._inductor.exc.MissingOperatorWithoutDecomp: missing lowering",
            "text of torch/_inductor/exc.py",
        ),
    ),
    apart_from=("cpp_compile_failed",),
)
