from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="guard_failed",
    family="A",
    phase="run",
    category="contract_guard",
    weight=82,
    anchors=("Guard failed: ",),
    patterns=(r"AssertionError: Guard failed: (?P<guard>.{0,120}\.size\(\).{0,120})",),
    summary="The exported program forbids these inputs: {guard}",
    means=(
        "The exported program's own check fails. The package does not make it and would run "
        "on, with wrong results or a fault."
    ),
    check="Is the size one you want to serve? Then the export is to blame, else the caller.",
    fixes=(
        fix(
            "Make the caller keep the guard, or export with the dimension dynamic (Dim with "
            "min and max)"
        ),
    ),
    guide="guides/input-contracts.md#guards-and-constant-arguments",
    matches=(
        recorded("AssertionError: Guard failed: x.size()[0] <= 64", "torch 2.13.0, CPU"),
        recorded(
            "AssertionError: Guard failed: a_1.size()[0] == a_0.size()[0]", "torch 2.13.0, CPU"
        ),
        recorded("AssertionError: Guard failed: 10 * a_0.size()[0] % 4 == 0", "torch 2.13.0, CPU"),
    ),
    neighbours=(
        quoted(
            "Expected input batch_size (4) to match target batch_size (8).",
            "a loss in eager mode",
        ),
    ),
    apart_from=("constant_argument_changed",),
)
