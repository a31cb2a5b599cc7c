from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="device_key_unusable",
    family="C",
    phase="load",
    category="package_incompatible",
    weight=80,
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
        fix("Use a torch build with that backend, or import its extension before loading"),
        fix("Compile the package again if its metadata are damaged"),
    ),
    guide="guides/package-and-load.md#device-key-missing",
    next_tool="inspect_package",
    matches=(
        recorded("RuntimeError: Unsupported device key found: foo", "torch 2.13.0, CPU"),
        quoted("RuntimeError: Unsupported device found: foo", "words of the 2.6 and 2.7 loader"),
        recorded("KeyError: 'AOTI_DEVICE_KEY'", "torch 2.13.0, CPU"),
        quoted(
            "RuntimeError: No device information found.",
            "words of the loader, all but 2.10 to 2.13",
        ),
    ),
)
