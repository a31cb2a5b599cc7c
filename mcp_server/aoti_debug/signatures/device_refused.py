from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="device_refused",
    family="C",
    phase="load",
    category="contract_device",
    weight=80,
    confidence="proved",
    anchors=(
        "Incorrect device passed to aoti_runner_",
        "Invalid device: ",
    ),
    patterns=(r"(?P<what>Incorrect device passed to aoti_runner_\w+|Invalid device: \S{0,40})",),
    summary="The runner refuses the device: {what}",
    means=(
        "A device index for a CPU package, or a device name that does not fit the "
        "package. A warning about an outdated file above it is misleading."
    ),
    fixes=(
        Fix(
            what=(
                "Leave device_index at -1 for a CPU package; write devices as cpu, cuda or cuda:0"
            )
        ),
    ),
    guide="guides/inputs-and-devices.md#package-loaded-for-another-device",
    next_tool="inspect_package",
    matches=(
        Sample(
            "RuntimeError: Incorrect device passed to aoti_runner_cpu",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample("Error: Invalid device: gpu:0", "quoted", "words of aoti_runtime/model_base.h"),
    ),
    neighbours=(Sample("Invalid device string: 'gpu'", "quoted", "torch.device in eager mode"),),
)
