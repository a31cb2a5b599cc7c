from aoti_debug.signatures.signature import Signature, quoted

SIGNATURE = Signature(
    id="gemm_tuning_skipped",
    family="O",
    phase="autotune",
    category="performance",
    role="symptom",
    weight=6,
    confidence="possible",
    anchors=(
        "Not enough SMs to use max_autotune_gemm",
        "GPU arch does not support max_autotune_gemm mode usage",
        "skipping cudagraphs due to",
        "does not support code generation for complex operators",
        "Online softmax is disabled on the fly",
        "Please pip install Composable Kernel package",
        "hit config.recompile_limit",
        "hit config.cache_size_limit",
    ),
    patterns=(
        (
            "(?P<what>Not enough SMs to use max_autotune_gemm|GPU arch does not support "
            "max_autotune_gemm mode usage|skipping cudagraphs due to .{0,120}|does not support "
            "code generation for complex operators|Online softmax is disabled on the fly"
            "|Please pip install Composable Kernel package|hit config.(?:recompile"
            "|cache_size)_limit"
            ")"
        ),
    ),
    summary="A notice on speed, not an error: {what}",
    means=(
        "An optimisation does not apply to this graph or GPU; the result is right all the same."
    ),
    mistaken_for="The reason of a failure further down",
    guide="guides/memory-and-time.md#slow-model",
    matches=(
        quoted(
            "W0101 00:00:00.000000 1 torch/_inductor/utils.py:1953] [0/0] Not enough SMs to "
            "use max_autotune_gemm mode",
            "words of torch/_inductor/utils.py",
        ),
    ),
)
