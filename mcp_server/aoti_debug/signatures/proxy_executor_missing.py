from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="proxy_executor_missing",
    family="L",
    phase="run",
    category="custom_op_missing",
    weight=80,
    confidence="proved",
    anchors=("Unable to find a proxy executor",),
    patterns=("Unable to find a proxy executor to run custom ops",),
    summary=(
        "The model calls operators by name, but its JSON description was not found beside "
        "the library"
    ),
    means="A bare .so was moved without the .json that lists its fallback operators.",
    fixes=(Fix(what="Deploy the .pt2 package, or copy the .json next to the .so"),),
    guide="guides/custom-ops.md#no-proxy-executor",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "Unable to find a proxy executor to run custom ops. Please check if there "
                "is a json file generated in the same directory as the so, or use "
                "torch._inductor.aoti_compile_and_package to package everything into a PT2 "
                "artifact."
            ),
            "quoted",
            "text of the generated model, torch 2.13",
        ),
    ),
)
