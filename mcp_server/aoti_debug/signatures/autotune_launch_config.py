from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="autotune_launch_config",
    family="K",
    phase="autotune",
    category="autotune_error",
    role="symptom",
    anchors=("Failed during launch ",),
    patterns=(r"Failed during launch (?P<kernel>\w+) with config",),
    summary="Launching {kernel} failed while it was being tuned",
    means="Names the kernel and the configuration; the error that follows says why.",
    guide="guides/triton-and-autotuning.md#the-autotuning-block-failed",
    next_tool="explain_kernel",
    since="2.10",
    references=("pytorch/pytorch#176193",),
    matches=(
        Sample(
            ("Failed during launch triton_poi_fused_24 with config XBLOCK: 1024, YBLOCK: 1"),
            "quoted",
            "pytorch/pytorch#176193",
        ),
    ),
)
