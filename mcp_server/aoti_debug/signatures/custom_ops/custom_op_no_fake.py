from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="custom_op_no_fake",
    family="L",
    phase="export",
    category="custom_op_fake_kernel",
    weight=80,
    confidence="proved",
    anchors=("There was no fake impl registered for",),
    patterns=(
        r"There was no fake impl registered for <CustomOpDef\((?P<op>[\w:]{1,200})\)>",
        "There was no fake impl registered for",
    ),
    summary="The custom operator has no fake kernel, so it cannot be exported",
    means=(
        "Export runs the model on tensors without data and needs a function that says what "
        "the operator returns."
    ),
    fixes=(fix("@op.register_fake: return torch.empty with the right shape, dtype and device"),),
    guide="guides/custom-ops.md#a-wrong-fake-kernel",
    matches=(
        recorded(
            "RuntimeError: There was no fake impl registered for <CustomOpDef(lab7::nofake)>.",
            "torch 2.13",
        ),
    ),
)
