from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="export_constraints_violated",
    family="B",
    phase="export",
    category="lowering_error",
    role="envelope",
    weight=60,
    anchors=("Constraints violated (",),
    patterns=(r"Constraints violated \((?P<dims>[^)]{1,200})\)!",),
    summary="torch.export cannot keep the dynamic dimensions {dims}",
    means=(
        "The heading of one or more reasons: the lines below say what each dimension breaks, "
        "`Suggested fixes` what would do."
    ),
    fixes=(fix("Read the lines below and take the suggested Dims"),),
    guide="guides/dynamic-shapes.md#constraint-violations",
    matches=(
        recorded(
            "torch._dynamo.exc.UserError: Constraints violated (b)! For more information, run "
            'with TORCH_LOGS="+dynamic".',
            "torch 2.13.0, CPU",
        ),
    ),
)
