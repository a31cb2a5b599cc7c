from aoti_debug.signatures.signature import Signature, fix, recorded

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
    means="Functional custom operators must return fresh tensors; the compiler relies on it.",
    fixes=(fix("Return a clone, or declare the argument in mutates_args and return None"),),
    guide="guides/custom-ops.md#an-op-that-raises",
    matches=(
        recorded(
            "'/tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py'>): The "
            "output of this custom operator (1) must not also be an input",
            "torch 2.13",
        ),
    ),
)
