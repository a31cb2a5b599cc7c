from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="export_unsupported",
    family="J",
    phase="export",
    category="lowering_error",
    weight=42,
    anchors=(
        "torch._dynamo.exc.",
        "TorchRuntimeError: ",
        "InternalTorchDynamoError: ",
        "Dynamic control flow is not supported",
        "occurred when calling torch.export.export",
        "issue(s) found during export",
        "Tried to emit a second graph during export",
    ),
    patterns=(
        (
            r"torch\._dynamo\.exc\.(?:Unsupported|UserError|TorchRuntimeError"
            "|InternalTorchDynamoError|CondOpArgsMismatchError|UnsafeScriptObjectError"
            r"|Observed\w{1,200}|\w{1,60}Error: )|Dynamic control flow is not supported"
            r"|error above "
            r"occurred when calling torch\.export\.export"
        ),
        (
            "^(?:TorchRuntimeError|InternalTorchDynamoError): "
            "|WARNING: [0-9]{1,200} issue\\(s\\) "
            "found during export|Tried to emit a second graph during export"
        ),
    ),
    summary="torch.export could not trace the model; AOTInductor was not reached",
    means=(
        "The Python code of the model does something that cannot be captured: data-dependent "
        "branches, unsupported libraries, side effects."
    ),
    mistaken_for="An AOTInductor bug",
    check="torch.export.draft_export lists all such places at once",
    fixes=(fix("Rewrite the named line, or wrap it in torch.cond or a custom op"),),
    guide="guides/lowering-and-cpp.md#export-errors",
    matches=(
        recorded("The error above occurred when calling torch.export.export. If", "torch 2.13"),
        quoted(
            "torch._dynamo.exc.Unsupported: Dynamic control flow is not supported",
            "common form",
        ),
        recorded(
            "torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call",
            "torch 2.13.0, CPU, strict=True",
        ),
        quoted(
            "TorchRuntimeError: Failed running call_function <built-in function linear>"
            "(*(FakeTensor(..., size=(s6, 3)),), **{}):",
            "the last line in a notebook",
        ),
    ),
)
