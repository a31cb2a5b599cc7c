from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
            "Input graph did not fail the tester|Minifier could not reproduce the original "
            "failure|MinifierSanityCheckFailed"
        ),
        (
            "AOTIMinifierError|check for accuracy is not supported yet|assert not "
            r"any\(mod\.named_parameters\(\)\)"
        ),
    ),
    summary="PyTorch's own minifier gave up; this says nothing about the model",
    means=(
        "It replays only the example inputs, in a fresh process without your registrations, "
        "so failures of run-time data, of another size or of memory state do not come back; "
        "and candidates that cannot be exported stop it."
    ),
    mistaken_for="A repaired bug",
    fixes=(fix("Reproduce with the captured inputs of the failing call instead"),),
    guide="guides/debugging-tools.md#minifier-errors",
    next_tool="minify",
    references=("pytorch/pytorch#111678",),
    matches=(
        recorded(
            "RuntimeError: Input graph did not fail the tester",
            "torch 2.13 CPU: launcher without the fault",
        ),
        quoted(
            "torch._dynamo.repro.aoti.AOTIMinifierError: This error is caused",
            "text of torch/_dynamo/repro/aoti.py",
        ),
        quoted("    assert not any(mod.named_parameters())", "pytorch/pytorch#111678"),
    ),
)
