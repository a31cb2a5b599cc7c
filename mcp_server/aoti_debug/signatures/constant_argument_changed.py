from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="constant_argument_changed",
    family="A",
    phase="run",
    category="contract_argument",
    weight=82,
    confidence="proved",
    anchors=(
        "Guard failed: ",
        "Expected input at ",
    ),
    patterns=(
        (
            r"AssertionError: Guard failed: (?P<guard>[A-Za-z_]\w*(?:\[[^\]]{1,40}\]){0,4} "
            r"(?:==|is|in) [^.]{1,80})$"
        ),
        (
            r"Expected input at (?P<guard>\*?\*?(?:args|kwargs)(?:\[[^\]]{1,40}\]){1,4} to "
            r"be equal to [^,]{1,60}), but got"
        ),
    ),
    summary="An argument that is no tensor differs from the exported one: {guard}",
    means=(
        "Ints, floats, bools and strings are compiled in as constants. The package "
        "ignores the value you pass and computes with the exported one."
    ),
    fixes=(Fix(what="Pass the value as a tensor, or compile one package per value"),),
    guide="guides/input-contracts.md#guards-and-constant-arguments",
    matches=(
        Sample("AssertionError: Guard failed: k == 3", "recorded", "torch 2.13.0, CPU"),
        Sample(
            "RuntimeError: Expected input at *args[1] to be equal to 3, but got 4",
            "quoted",
            "words of torch/_export/utils.py",
        ),
    ),
    neighbours=(
        Sample("AssertionError: Guard failed: x.size()[1] == 10", "recorded", "torch 2.13.0, CPU"),
        Sample(
            (
                "Expected input at *args[0].shape[1] to be equal to 10, but got 11. If you "
                "meant for this dimension to be dynamic"
            ),
            "quoted",
            "another failure",
        ),
    ),
)
