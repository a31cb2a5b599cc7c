from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="inductor_frame",
    family="J",
    phase="lower",
    category="lowering_error",
    role="symptom",
    weight=14,
    confidence="possible",
    anchors=(
        "torch/_inductor/graph.py:",
        "torch/_inductor/ir.py:",
        "torch/_inductor/lowering.py:",
        "torch/_inductor/scheduler.py:",
        "torch/_inductor/compile_fx.py:",
        "torch/_inductor/pattern_matcher.py:",
        "torch/_inductor/decomposition.py:",
        "torch/_inductor/sizevars.py:",
        "torch/_inductor/codegen/",
        "torch/_inductor/fx_passes/",
        "torch\\_inductor\\graph.py:",
        "torch\\_inductor\\compile_fx.py:",
    ),
    patterns=(
        (
            r"^\s{0,20}File \S{0,300}torch[\\/]_inductor[\\/](?:codegen[\\/]"
            r"|fx_passes[\\/])?\w{1,200}\.py:"
            r"\d{1,20},? in |\bE\d{4} .{0,160}torch/_inductor/(?:codegen/|fx_passes/)?"
            r"(?:graph|ir|lowering|scheduler|compile_fx|pattern_matcher|decomposition|sizevars"
            r"|cpp\w{0,200}|triton\w{0,200}|simd|wrapper|common|\w{1,200}_grad)\.py:\d{1,20}\] "
        ),
    ),
    summary="The failure is inside Inductor",
    means="Frames or error lines of Inductor, and no message that is known.",
    check="The innermost exception, not the wrapper at the end",
    fixes=(fix("Reduce the graph to the operator that fails; try the newest torch"),),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    matches=(
        quoted(
            "File ~/env/lib/python3.10/site-packages/torch/_inductor/graph.py:333, in "
            "GraphLowering.call_function(self, target, args, kwargs)",
            "form of an IPython frame",
        ),
    ),
    neighbours=(
        quoted(
            "W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default",
            "a warning",
        ),
    ),
)
