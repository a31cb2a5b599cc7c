from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="operands_on_two_devices",
    family="C",
    phase="run",
    category="contract_device",
    weight=56,
    anchors=("Expected all tensors to be on the same device", "cannot be accessed from Triton"),
    patterns=(
        (
            r"(?P<what>Expected all tensors to be on the same device|Pointer argument \(at "
            r"\d{1,20}\) cannot be accessed from Triton)"
        ),
    ),
    summary="Tensors of two devices meet in one operator: {what}",
    means=(
        "An extern operator or a Triton launcher compared devices; generated kernels do not. "
        "One input, one constant or a 0-dimensional tensor stayed on the CPU."
    ),
    check="AOTI_RUNTIME_CHECK_INPUTS=1 names the input, if the type differs.",
    fixes=(
        fix(
            "Move inputs and model to one device before export and before the call, "
            "0-dimensional tensors too"
        ),
    ),
    guide="guides/inputs-and-devices.md#models-on-two-devices",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: Expected all tensors to be on the same device, but found at least "
            "two devices, cpu and cuda:0!",
            "words of ATen",
        ),
        quoted(
            "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
            "words of Triton's launcher",
        ),
    ),
)
