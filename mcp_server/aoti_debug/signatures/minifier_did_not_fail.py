from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="minifier_did_not_fail",
    family="P",
    phase="lower",
    category="false_alarm",
    weight=78,
    confidence="proved",
    anchors=(
        "did not fail the tester",
        "could not reproduce the original failure",
        "MinifierSanityCheckFailed",
    ),
    patterns=(
        (
            "Input graph did not fail the tester|"
            "Minifier could not reproduce the original failure|MinifierSanityCheckFailed"
        ),
    ),
    summary="PyTorch's minifier could not make the dumped program fail again",
    means=(
        "It replays only the example inputs in a fresh process without your registrations; "
        "failures of run-time data, of another size or of memory state do not come back."
    ),
    mistaken_for="A repaired bug",
    fixes=(Fix(what="Reproduce with the captured inputs of the failing call instead"),),
    guide="guides/debugging-tools.md#minifier-errors",
    next_tool="minify",
    matches=(
        Sample(
            "RuntimeError: Input graph did not fail the tester",
            "recorded",
            "torch 2.13 CPU: launcher without the fault",
        ),
    ),
)
