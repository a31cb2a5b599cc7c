from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="constants_on_other_device",
    family="C",
    phase="load",
    category="contract_device",
    weight=84,
    anchors=(
        "pointer resides on host memory and is not registered",
        "Mixed-device constants are only supported",
        "does not support mixed device constants",
    ),
    patterns=(
        ("The specified pointer resides on host memory and is not registered with any CUDA device"),
        (
            r"Mixed-device constants are only supported when the secondary device is CPU(?:\. "
            "Constant '[^']{1,120}')?"
        ),
        "update_constant_buffer does not support mixed device constants",
    ),
    summary="The package's constants lie on another device than the one it is loaded on",
    means=(
        "Most often a CPU artifact loaded as CUDA or the reverse, often followed by a "
        "SIGSEGV; otherwise a model with weights on two devices."
    ),
    mistaken_for="Damaged weights.",
    check=("Read AOTI_DEVICE_KEY of the package's metadata and compare with the device asked for."),
    fixes=(
        fix(
            "Load it on the device type it was compiled for; use aoti_load_package, which "
            "reads that from the package"
        ),
    ),
    guide="guides/inputs-and-devices.md#package-loaded-for-another-device",
    next_tool="inspect_package",
    references=("pytorch/pytorch#172739", "pytorch/torchchat#840", "pytorch/pytorch#173982"),
    matches=(
        quoted(
            "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: The "
            "specified pointer resides on host memory and is not registered with any CUDA "
            "device.",
            "pytorch/torchchat#840",
        ),
        quoted(
            "Mixed-device constants are only supported when the secondary device is CPU",
            "pytorch/pytorch#173982",
        ),
        quoted(
            "Error: update_constant_buffer does not support mixed device constants.",
            "words of aoti_runtime, 2.11 and 2.12",
        ),
    ),
)
