from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="input_check_lower_bound_two",
    family="A",
    phase="run",
    category="false_alarm",
    weight=87,
    confidence="possible",
    anchors=("expected it to be >= 2, but got: 1",),
    patterns=(
        (
            r"input_handles\[(?P<input>\d{1,20})\]: dim value is too small at (?P<dim>\d{"
            r"1,20}), "
            r"expected it to be >= 2, but got: 1\b"
        ),
    ),
    summary=(
        "Input {input} has size 1 in dimension {dim}; the bound of 2 belongs to the check, "
        "not always to the kernel"
    ),
    means=(
        "torch.export assumes that dynamic sizes are at least 2 and the check repeats that "
        "bound. Kernels often work for size 1, so the alarm may be false."
    ),
    mistaken_for=(
        "A real violation; where the graph really specialised on sizes of 2 and more, results "
        "for 1 are wrong."
    ),
    check="Compare package and ep.module() for size 1 with the check off.",
    fixes=(
        fix("Export with Dim('batch', min=1) and an example of at least 2"),
        fix(
            "If results agree with eager, switch the check off for this call, or compile with "
            "aot_inductor.check_lowerbound=False (2.10 and later)"
        ),
    ),
    guide="guides/input-contracts.md#false-alarms",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: input_handles[0]: dim value is too small at 0, expected it to be "
            ">= 2, but got: 1",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        quoted(
            "input_handles[0]: dim value is too small at 0, expected it to be >= 16, but got: 1",
            "another failure",
        ),
    ),
    apart_from=("runtime_assert",),
)
