from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="integer_division_by_zero",
    family="I",
    phase="run",
    category="contract_shape",
    weight=78,
    anchors=(
        "division by zero",
        "Integer modulus by zero",
        " by zero",
        "Floating point exception",
        "SIGFPE",
        "Caught signal 8",
        "exit code 136",
    ),
    patterns=(
        (
            r"Integer (?:floor )?(?:division|mod\w*|\w+) by zero|Floating point exception|"
            r"\bSIGFPE\b|Caught signal 8\b|exit (?:code|status)\s*:?\s*136"
        ),
    ),
    summary="A size computation of the model divided by a dimension that is 0",
    means=(
        "The generated host code computes sizes with integer arithmetic; a dynamic "
        "dimension of 0 ends as this error (torch 2.13 and later) or as signal 8."
    ),
    mistaken_for="A numeric problem of the data",
    check="Is any dimension of the inputs 0?",
    fixes=(Fix(what="Reject empty inputs, or export with min=1 for that dimension"),),
    guide="guides/host-crash.md#division-by-zero",
    next_tool="triage",
    matches=(
        Sample("Error: Integer floor division by zero", "recorded", "torch 2.13 CPU"),
        Sample("RuntimeError: Integer floor division by zero", "recorded", "torch 2.13 CPU"),
        Sample("Floating point exception (core dumped)", "quoted", "shell text"),
    ),
    neighbours=(Sample("ZeroDivisionError: division by zero", "quoted", "Python code"),),
)
