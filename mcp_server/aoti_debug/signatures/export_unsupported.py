from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="export_unsupported",
    family="J",
    phase="export",
    category="lowering_error",
    weight=42,
    anchors=(
        "torch._dynamo.exc.",
        "Dynamic control flow is not supported",
        "occurred when calling torch.export.export",
    ),
    patterns=(
        (
            r"torch\._dynamo\.exc\.(?:Unsupported|UserError|TorchRuntimeError|"
            "InternalTorchDynamoError)|Dynamic control flow is not supported|"
            r"error above occurred when calling torch\.export\.export"
        ),
    ),
    summary="torch.export could not trace the model; AOTInductor was not reached",
    means=(
        "The Python code of the model does something that cannot be captured: "
        "data-dependent branches, unsupported libraries, side effects."
    ),
    mistaken_for="An AOTInductor bug",
    check="torch.export.draft_export lists all such places at once",
    fixes=(Fix(what="Rewrite the named line, or wrap it in torch.cond or a custom op"),),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        Sample(
            (
                "The error above occurred when calling torch.export.export. If you would "
                "like to view some more information about this error, and get a list of all "
                "other errors that may occur in your export call, you can replace your "
                "`export()` call with `draft_export()`."
            ),
            "recorded",
            "torch 2.13",
        ),
        Sample(
            (
                "torch._dynamo.exc.Unsupported: Dynamic control flow is not supported at "
                "the moment. Please use functorch.experimental.control_flow.cond"
            ),
            "quoted",
            "common form",
        ),
    ),
)
