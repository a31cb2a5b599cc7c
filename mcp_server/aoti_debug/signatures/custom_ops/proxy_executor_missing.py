from aoti_debug.signatures.signature import Signature, fix, quoted

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
        "The model calls operators by name, but its JSON description was not found beside the "
        "library"
    ),
    means="A bare .so was moved without the .json that lists its fallback operators.",
    fixes=(fix("Deploy the .pt2 package, or copy the .json next to the .so"),),
    guide="guides/custom-ops.md#no-proxy-executor",
    next_tool="inspect_package",
    matches=(
        quoted(
            "Unable to find a proxy executor to run custom ops. Please check",
            "text of the generated model, torch 2.13",
        ),
    ),
)
