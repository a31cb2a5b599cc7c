from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="device_refused",
    family="C",
    phase="load",
    category="contract_device",
    weight=80,
    anchors=("Incorrect device passed to aoti_runner_", "Invalid device: "),
    patterns=(
        r"(?P<what>Incorrect device passed to aoti_runner_\w{1,200}|Invalid device: \S{0,40})",
    ),
    summary="The runner refuses the device: {what}",
    means=(
        "A device index for a CPU package, or a device name that does not fit the package. A "
        "warning about an outdated file above it is misleading."
    ),
    fixes=(
        fix("Leave device_index at -1 for a CPU package; write devices as cpu, cuda or cuda:0"),
    ),
    guide="guides/inputs-and-devices.md#package-loaded-for-another-device",
    next_tool="inspect_package",
    matches=(
        recorded("RuntimeError: Incorrect device passed to aoti_runner_cpu", "torch 2.13.0, CPU"),
        quoted("Error: Invalid device: gpu:0", "words of aoti_runtime/model_base.h"),
    ),
    neighbours=(quoted("Invalid device string: 'gpu'", "torch.device in eager mode"),),
)
