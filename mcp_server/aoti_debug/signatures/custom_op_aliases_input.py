from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="custom_op_aliases_input",
    family="L",
    phase="run",
    category="user_code",
    weight=74,
    confidence="proved",
    anchors=("The output of this custom operator",),
    patterns=(r"The output of this custom operator \(1\) must not also be an input",),
    summary="A custom operator returns one of its inputs or a view of it",
    means=("Functional custom operators must return fresh tensors; the compiler relies on it."),
    fixes=(Fix(what="Return a clone, or declare the argument in mutates_args and return None"),),
    guide="guides/custom-ops.md#an-op-that-raises",
    matches=(
        Sample(
            (
                "RuntimeError: alias (with implementation in <module "
                "'torch._library.custom_ops' from "
                "'/tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py'>): "
                "The output of this custom operator (1) must not also be an input to this "
                "custom operator and (2) may not alias any inputs to this custom operator "
                "or other returns."
            ),
            "recorded",
            "torch 2.13",
        ),
    ),
)
