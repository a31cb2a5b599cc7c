from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="input_count",
    family="A",
    phase="run",
    category="contract_argument",
    weight=88,
    confidence="proved",
    anchors=("expected inputs vector size to be ",),
    patterns=(
        r"expected inputs vector size to be (?P<expected>\d{1,20}), but got (?P<got>\d{1,20})",
    ),
    summary="The package takes {expected} tensors and got {got}",
    means=(
        "The number of tensors after flattening differs from the exported signature. "
        "Everything that is no torch.Tensor (None, numpy arrays, ints) is dropped before "
        "counting, so 0 mostly means inputs of the wrong type."
    ),
    check="Compare with the inputs that inspect_package lists.",
    fixes=(
        fix("Call with exactly the positional and keyword arguments of the export"),
        fix("Convert first: torch.from_numpy(x); leave no None where the export had a tensor"),
    ),
    guide="guides/inputs-and-devices.md#number-and-kind-of-arguments",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: expected inputs vector size to be 1, but got 2", "torch 2.13.0, CPU"
        ),
        recorded(
            "RuntimeError: expected inputs vector size to be 1, but got 0", "torch 2.13.0, CPU"
        ),
    ),
)
