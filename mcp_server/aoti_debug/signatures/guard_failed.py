from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="guard_failed",
    family="A",
    phase="run",
    category="contract_guard",
    weight=82,
    confidence="proved",
    anchors=(
        "Guard failed: ",
        "Expected input at ",
        "Expected input *",
    ),
    patterns=(
        r"AssertionError: Guard failed: (?P<guard>.{0,120}\.size\(\).{0,120})",
        (
            r"Expected input at (?P<guard>\S{1,120}\.shape\[\d+\] to be (?:equal to \S+|>= "
            r"\d+|<= \d+), but got \d+)"
        ),
        (
            r"Expected input (?P<guard>\S{1,120}\.shape\[\d+\] = \d+ to be of the form "
            r"[^,]{1,60}),"
        ),
    ),
    summary="The exported program forbids these inputs: {guard}",
    means=(
        "The exported program's own check fails. The package does not make it and would "
        "run on, with wrong results or a fault."
    ),
    check=("Is the size one you want to serve? Then the export is to blame, else the caller."),
    fixes=(
        Fix(
            what=(
                "Make the caller keep the guard, or export with the dimension dynamic (Dim with "
                "min and max)"
            )
        ),
    ),
    guide="guides/input-contracts.md#guards-and-constant-arguments",
    matches=(
        Sample("AssertionError: Guard failed: x.size()[0] <= 64", "recorded", "torch 2.13.0, CPU"),
        Sample(
            "AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            "AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "RuntimeError: Expected input at *args[0].shape[1] to be equal to 10, but got "
                "11. If you meant for this dimension to be dynamic, please re-export and "
                "specify dynamic_shapes (e.g. with Dim.DYNAMIC)"
            ),
            "quoted",
            "words of torch/_export/utils.py",
        ),
        Sample(
            (
                "RuntimeError: Expected input *args[0].shape[0] = 9 to be of the form 2*s0, "
                "where s0 is an integer"
            ),
            "quoted",
            "words of torch/_export/utils.py",
        ),
    ),
    neighbours=(
        Sample("AssertionError: Guard failed: k == 3", "recorded", "a constant argument"),
        Sample(
            "RuntimeError: Expected input at *args[1] to be equal to 3, but got 4",
            "quoted",
            "another failure",
        ),
        Sample(
            "Expected input batch_size (4) to match target batch_size (8).",
            "quoted",
            "a loss in eager mode",
        ),
    ),
)
