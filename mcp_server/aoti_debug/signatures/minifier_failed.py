from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="minifier_failed",
    family="P",
    phase="lower",
    category="false_alarm",
    weight=78,
    confidence="proved",
    anchors=(
        "did not fail the tester",
        "could not reproduce the original failure",
        "MinifierSanityCheckFailed",
        "AOTIMinifierError",
        "check for accuracy is not supported yet",
        "not any(mod.named_parameters())",
    ),
    patterns=(
        (
            "Input graph did not fail the tester|"
            "Minifier could not reproduce the original failure|MinifierSanityCheckFailed"
        ),
        (
            "AOTIMinifierError|check for accuracy is not supported yet|"
            r"assert not any\(mod\.named_parameters\(\)\)"
        ),
    ),
    summary="PyTorch's own minifier gave up; this says nothing about the model",
    means=(
        "It replays only the example inputs, in a fresh process without your registrations, "
        "so failures of run-time data, of another size or of memory state do not come back; "
        "and candidates that cannot be exported stop it."
    ),
    mistaken_for="A repaired bug",
    fixes=(Fix(what="Reproduce with the captured inputs of the failing call instead"),),
    guide="guides/debugging-tools.md#minifier-errors",
    next_tool="minify",
    references=("pytorch/pytorch#111678",),
    matches=(
        Sample(
            "RuntimeError: Input graph did not fail the tester",
            "recorded",
            "torch 2.13 CPU: launcher without the fault",
        ),
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
