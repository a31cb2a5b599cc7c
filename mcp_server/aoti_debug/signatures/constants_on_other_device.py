from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
        (
            r"The specified pointer resides on host memory and is not registered with any "
            r"CUDA device"
        ),
        (
            r"Mixed-device constants are only supported when the secondary device is "
            r"CPU(?:\. Constant '[^']{1,120}')?"
        ),
        r"update_constant_buffer does not support mixed device constants",
    ),
    summary="The package's constants lie on another device than the one it is loaded on",
    means=(
        "Most often a CPU artifact loaded as CUDA or the reverse, often followed by a "
        "SIGSEGV; otherwise a model with weights on two devices."
    ),
    mistaken_for="Damaged weights.",
    check=("Read AOTI_DEVICE_KEY of the package's metadata and compare with the device asked for."),
    fixes=(
        Fix(
            what=(
                "Load it on the device type it was compiled for; use aoti_load_package, which "
                "reads that from the package"
            )
        ),
    ),
    guide="guides/inputs-and-devices.md#package-loaded-for-another-device",
    next_tool="inspect_package",
    references=(
        "pytorch/pytorch#172739",
        "pytorch/torchchat#840",
        "pytorch/pytorch#173982",
    ),
    matches=(
        Sample(
            (
                "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: The "
                "specified pointer resides on host memory and is not registered with any CUDA "
                "device."
            ),
            "quoted",
            "pytorch/torchchat#840",
        ),
        Sample(
            "Mixed-device constants are only supported when the secondary device is CPU",
            "quoted",
            "pytorch/pytorch#173982",
        ),
        Sample(
            "Error: update_constant_buffer does not support mixed device constants.",
            "quoted",
            "words of aoti_runtime, 2.11 and 2.12",
        ),
    ),
)
