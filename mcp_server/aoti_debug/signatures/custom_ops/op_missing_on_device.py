from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="op_missing_on_device",
    family="L",
    phase="run",
    category="custom_op_missing",
    weight=64,
    anchors=(
        "with arguments from the '",
        "is not currently implemented for the",
        "There were no tensor arguments to this function",
    ),
    patterns=(
        (
            r"Could not run '(?P<op>[\w:.]{1,200})' with arguments from the '(?!Meta')"
            r"(?P<backend>\w{1,200})' backend"
        ),
        r"no fallback function is registered for schema (?P<op3>[\w:.]{1,200}\w)",
        (
            r"The operator '(?P<op2>[\w:.]{1,200})' is not currently implemented for the "
            r"(?P<backend2>\w{1,200}) device"
        ),
    ),
    summary="An operator has no implementation for the device it was called on",
    means=(
        "The op is registered, but not for this backend: the wrong device for an input, a "
        "CPU-only build of the op library, or a backend with gaps."
    ),
    mistaken_for="A missing operator library",
    check="Device of the inputs, and the list of backends in the message",
    fixes=(fix("Move the inputs, or install the build of the op library for this device"),),
    guide="guides/custom-ops.md#schema-not-found",
    next_tool="check_environment",
    matches=(
        quoted(
            "NotImplementedError: Could not run 'torchvision::nms' with arguments from the "
            "'CUDA' backend.",
            "common form in public threads",
        ),
        recorded(
            "NotImplementedError: There were no tensor arguments to this function (e.g., you "
            "passed an empty list of Tensors), but no fallback function is registered for "
            "schema q::z.",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "NotImplementedError: The operator 'aten::_linalg_eigh' is not currently "
            "implemented for the MPS device.",
            "common form in public threads",
        ),
    ),
)
