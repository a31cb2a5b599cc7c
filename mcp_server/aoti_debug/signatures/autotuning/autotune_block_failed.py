from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="autotune_block_failed",
    family="K",
    phase="autotune",
    category="autotune_error",
    role="symptom",
    weight=60,
    anchors=("Failed to run autotuning code block", "Failed during launch "),
    patterns=(
        "Failed to run autotuning code block: (?P<error>.{1,200})",
        r"Failed during launch (?P<error>\w{1,200}) with config",
    ),
    summary="Tuning the kernels at compile time failed: {error}",
    means=(
        "AOTInductor runs the graph's kernels on made-up inputs to choose configurations. "
        "Data-dependent kernels, memory limits or a bad grid can fail there although the "
        "model is right."
    ),
    mistaken_for="A fault of the model on real data",
    check=(
        "Compile once with TORCHINDUCTOR_TRITON_AUTOTUNE_AT_COMPILE_TIME=0: if that runs "
        "well, only tuning is at fault"
    ),
    fixes=(
        fix(
            "Switch tuning at compile time off, or give user kernels valid data through a "
            "single config"
        ),
    ),
    guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
    next_tool="triage",
    references=(
        "pytorch/pytorch#145984",
        "pytorch/pytorch#163889",
        "triton-lang/triton#7822",
        "pytorch/pytorch#176193",
    ),
    matches=(
        quoted(
            "Failed to run autotuning code block: CUDA driver error: invalid argument",
            "triton-lang/triton#7822",
        ),
        quoted(
            "Failed during launch triton_poi_fused_24 with config XBLOCK: 1024, YBLOCK: 1",
            "pytorch/pytorch#176193",
        ),
    ),
)
