from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="device_key_unusable",
    family="C",
    phase="load",
    category="package_incompatible",
    weight=80,
    confidence="proved",
    anchors=(
        "Unsupported device key found: ",
        "Unsupported device found: ",
        "'AOTI_DEVICE_KEY'",
        "No device information found.",
    ),
    patterns=(
        (
            r"(?P<what>Unsupported device (?:key )?found: \S{1,40}|KeyError: "
            r"'AOTI_DEVICE_KEY'|No device information found\.)"
        ),
    ),
    summary="The loader cannot tell which runner the package needs: {what}",
    means=(
        "The metadata name a device that this torch has no runner for, or none at all: "
        "another build of torch, a backend not imported, or a damaged package."
    ),
    fixes=(
        Fix(what="Use a torch build with that backend, or import its extension before loading"),
        Fix(what="Compile the package again if its metadata are damaged"),
    ),
    guide="guides/package-and-load.md#device-key-missing",
    next_tool="inspect_package",
    matches=(
        Sample("RuntimeError: Unsupported device key found: foo", "recorded", "torch 2.13.0, CPU"),
        Sample(
            "RuntimeError: Unsupported device found: foo",
            "quoted",
            "words of the 2.6 and 2.7 loader",
        ),
        Sample("KeyError: 'AOTI_DEVICE_KEY'", "recorded", "torch 2.13.0, CPU"),
        Sample(
            "RuntimeError: No device information found.",
            "quoted",
            "words of the loader, all but 2.10 to 2.13",
        ),
    ),
)
