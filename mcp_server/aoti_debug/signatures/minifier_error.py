from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="minifier_error",
    family="P",
    phase="lower",
    category="false_alarm",
    weight=70,
    anchors=(
        "AOTIMinifierError",
        "check for accuracy is not supported yet",
        "not any(mod.named_parameters())",
        "Unknown tester",
        "assert not any(mod.named",
    ),
    patterns=(
        (
            "AOTIMinifierError|check for accuracy is not supported yet|"
            r"assert not any\(mod\.named_parameters\(\)\)"
        ),
    ),
    summary="The minifier itself failed; this says nothing about the model",
    means=(
        "A candidate could not be exported, or this release does not support what was asked of it."
    ),
    fixes=(Fix(what="Keep the first error of the script and reduce by another road"),),
    guide="guides/debugging-tools.md#minifier-errors",
    next_tool="minify",
    references=("pytorch/pytorch#111678",),
    matches=(
        Sample(
            (
                "torch._dynamo.repro.aoti.AOTIMinifierError: This error is caused by a bug "
                "in the AOTI minifier, please report a bug to PyTorch: export failed"
            ),
            "quoted",
            "text of torch/_dynamo/repro/aoti.py",
        ),
        Sample("    assert not any(mod.named_parameters())", "quoted", "pytorch/pytorch#111678"),
    ),
)
