from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="constant_wrong_device",
    family="D",
    phase="constants",
    category="constants_mismatch",
    weight=84,
    confidence="proved",
    anchors=("update_constant_buffer: constant '",),
    patterns=(
        (
            "update_constant_buffer: constant '(?P<name>[^']{1,200})' is on device type "
            r"(?P<got>-?\d{1,20}) but expected device type (?P<expected>-?\d{1,20})"
        ),
    ),
    summary="The new constant {name} is on device type {got}, the package wants {expected}",
    means=(
        "Constants are taken as they are: the tensor must already be on the package's device. "
        "Shapes and dtypes are not checked at all."
    ),
    check="0 is cpu, 1 cuda, 14 meta.",
    fixes=(fix("Move it first: tensor.to('cuda'), or pass allow_h2d_copy=True (2.13 and later)"),),
    guide="guides/constants.md#constants-on-another-device",
    since="2.13",
    matches=(
        recorded(
            "Error: update_constant_buffer: constant 'fc_weight' is on device type 14 but "
            "expected device type 0",
            "torch 2.13.0, CPU",
        ),
    ),
)
