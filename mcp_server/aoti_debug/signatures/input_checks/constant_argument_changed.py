from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="constant_argument_changed",
    family="A",
    phase="run",
    category="contract_argument",
    weight=82,
    anchors=("Guard failed: ", "Expected input at "),
    patterns=(
        (
            r"AssertionError: Guard failed: (?P<guard>[A-Za-z_]\w{0,200}(?:\[[^\]]{1,40}"
            r"\]){0,4} "
            "(?:==|is|in) [^.]{1,80})$"
        ),
        (
            r"Expected input at (?P<guard>\*?\*?(?:args|kwargs)(?:\[[^\]]{1,40}\]){1,4} to be "
            "equal to [^,]{1,60}), but got"
        ),
    ),
    summary="An argument that is no tensor differs from the exported one: {guard}",
    means=(
        "Ints, floats, bools and strings are compiled in as constants. The package ignores "
        "the value you pass and computes with the exported one."
    ),
    fixes=(fix("Pass the value as a tensor, or compile one package per value"),),
    guide="guides/input-contracts.md#guards-and-constant-arguments",
    matches=(
        recorded("AssertionError: Guard failed: k == 3", "torch 2.13.0, CPU"),
        quoted(
            "RuntimeError: Expected input at *args[1] to be equal to 3, but got 4",
            "words of torch/_export/utils.py",
        ),
    ),
    neighbours=(recorded("AssertionError: Guard failed: x.size()[1] == 10", "torch 2.13.0, CPU"),),
    apart_from=("guard_failed",),
)
