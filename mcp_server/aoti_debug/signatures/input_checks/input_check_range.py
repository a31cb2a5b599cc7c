from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="input_check_range",
    family="A",
    phase="run",
    category="contract_shape",
    weight=88,
    anchors=("dim value is too large at ", "dim value is too small at "),
    patterns=(
        (
            r"input_handles\[(?P<input>\d{1,20})\]: dim value is too (?:large|small) at "
            r"(?P<dim>\d{1,20}), expected (?:it )?to be (?P<bound>[<>]= -?\d{1,20}), but got: "
            r"(?P<got>-?\d{1,20})"
        ),
    ),
    summary="Dimension {dim} of input {input} is {got}, outside the exported range ({bound})",
    means=(
        "The size is outside the range given to torch.export; int32 indexing and buffer sizes "
        "may have been chosen for that range."
    ),
    mistaken_for=(
        "A false alarm: lower bounds of 2 and upper bounds taken from the sample belong to "
        "the check, not always to the kernel."
    ),
    check="Run ep.module() on the same input and compare with the package without the check.",
    fixes=(
        fix(
            "Export with the sizes you serve: Dim('batch', min=1, max=8192), with an example "
            "of at least 2"
        ),
        fix("Or split or pad the input"),
    ),
    guide="guides/input-contracts.md#sizes-and-rank",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: input_handles[0]: dim value is too large at 0, expected to be <= "
            "64, but got: 128",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: input_handles[0]: dim value is too small at 0, expected it to be "
            ">= 2, but got: 1",
            "torch 2.13.0, CPU",
        ),
    ),
)
