from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="exported_program_misused",
    family="J",
    phase="export",
    category="user_code",
    weight=72,
    anchors=(
        "Unable to call ExportedProgram directly",
        "Unable to set ExportedProgram's ",
        "parameter must be an instance of 'ExportedProgram'",
        "Calling train() is not supported yet",
        "Calling eval() is not supported yet",
    ),
    patterns=(
        (
            r"(?P<what>Unable to call ExportedProgram directly|Unable to set ExportedProgram's "
            r"\w{1,200} attribute|parameter must be an instance of 'ExportedProgram'|Calling "
            r"(?:train|eval)\(\) is not supported yet)"
        ),
    ),
    summary="An exported program is not used as one: {what}",
    means=(
        "It is a record, not a module: call ep.module(), leave its fields alone, and choose "
        "train or eval mode before the export."
    ),
    fixes=(fix("y = ep.module()(x); model.eval() goes before torch.export.export"),),
    guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
    matches=(
        recorded(
            "RuntimeError: Unable to call ExportedProgram directly. You should use "
            "`exported_program.module()` instead.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Unable to set ExportedProgram's graph attribute.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "TypeError: The 'ep' parameter must be an instance of 'ExportedProgram', got "
            "'Linear' instead.",
            "torch 2.13.0, CPU",
        ),
        recorded("NotImplementedError: Calling train() is not supported yet.", "torch 2.13.0, CPU"),
    ),
)
