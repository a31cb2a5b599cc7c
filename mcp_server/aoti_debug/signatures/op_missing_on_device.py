from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="op_missing_on_device",
    family="L",
    phase="run",
    category="custom_op_missing",
    weight=64,
    anchors=(
        "with arguments from the '",
        "is not currently implemented for the",
        "not implemented for the 'Meta'",
    ),
    patterns=(
        (
            r"Could not run '(?P<op>[\w:.]+)' with arguments from the '(?P<backend>\w+)' bac"
            "kend"
        ),
        (
            r"The operator '(?P<op2>[\w:.]+)' is not currently implemented for the (?P<backe"
            r"nd2>\w+) device"
        ),
    ),
    summary="An operator has no implementation for the device it was called on",
    means=(
        "The op is registered, but not for this backend: the wrong device for an input, a "
        "CPU-only build of the op library, or a backend with gaps."
    ),
    mistaken_for="A missing operator library",
    check="Device of the inputs, and the list of backends in the message",
    fixes=(Fix(what="Move the inputs, or install the build of the op library for this device"),),
    guide="guides/custom-ops.md#schema-not-found",
    next_tool="check_environment",
    matches=(
        Sample(
            (
                "NotImplementedError: Could not run 'torchvision::nms' with arguments from "
                "the 'CUDA' backend."
            ),
            "quoted",
            "common form in public threads",
        ),
        Sample(
            (
                "NotImplementedError: The operator 'aten::_linalg_eigh' is not currently "
                "implemented for the MPS device."
            ),
            "quoted",
            "common form in public threads",
        ),
    ),
)
