from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="torch_without_device",
    family="C",
    phase="load",
    category="device_unavailable",
    weight=70,
    anchors=("Torch not compiled with ", "AOTIModelContainerRunner"),
    patterns=(
        "Torch not compiled with (?P<device>CUDA|XPU|MPS|ROCm) enabled",
        "has no attribute 'AOTIModelContainerRunner(?P<device>Cuda|Xpu|Mps)'",
    ),
    summary="This torch build does not support {device}",
    means=(
        "The script or the package needs a device that the installed build of torch does not "
        "support."
    ),
    fixes=(
        fix("Install the torch build for {device}"),
        fix("Or compile and load a CPU package"),
    ),
    guide="guides/inputs-and-devices.md#no-gpu-visible",
    next_tool="check_environment",
    matches=(
        recorded("AssertionError: Torch not compiled with CUDA enabled", "torch 2.13.0, CPU"),
        recorded(
            "AttributeError: module 'torch._C._aoti' has no attribute "
            "'AOTIModelContainerRunnerCuda'.",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        quoted(
            "torch::inductor::AOTIModelContainerRunnerCpu::AOTIModelContainerRunnerCpu(std::"
            "string const&)",
            "a stack frame",
        ),
    ),
)
