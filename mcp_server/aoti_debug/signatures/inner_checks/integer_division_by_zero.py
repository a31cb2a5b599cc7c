from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

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
            r"Integer (?:floor )?(?:division|mod\w{0,200}|\w{1,200}) by zero"
            r"|Floating point exception"
            r"|\bSIGFPE\b|Caught signal 8\b|exit (?:code|status)\s{0,20}:?\s{0,20}136"
        ),
    ),
    summary="A size computation of the model divided by a dimension that is 0",
    means=(
        "The generated host code computes sizes with integer arithmetic; a dynamic dimension "
        "of 0 ends as this error (torch 2.13 and later) or as signal 8."
    ),
    mistaken_for="A numeric problem of the data",
    check="Is any dimension of the inputs 0?",
    fixes=(fix("Reject empty inputs, or export with min=1 for that dimension"),),
    guide="guides/host-crash.md#division-by-zero",
    next_tool="triage",
    matches=(
        recorded("Error: Integer floor division by zero", "torch 2.13 CPU"),
        recorded("RuntimeError: Integer floor division by zero", "torch 2.13 CPU"),
        quoted("Floating point exception (core dumped)", "shell text"),
    ),
    neighbours=(quoted("ZeroDivisionError: division by zero", "Python code"),),
)
