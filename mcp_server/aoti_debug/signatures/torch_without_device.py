from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="torch_without_device",
    family="C",
    phase="load",
    category="device_unavailable",
    weight=70,
    confidence="proved",
    anchors=(
        "Torch not compiled with ",
        "AOTIModelContainerRunner",
    ),
    patterns=(
        r"Torch not compiled with (?P<device>CUDA|XPU|MPS|ROCm) enabled",
        r"has no attribute 'AOTIModelContainerRunner(?P<device>Cuda|Xpu|Mps)'",
    ),
    summary="This torch build does not support {device}",
    means=(
        "The script or the package needs a device that the installed build of torch "
        "does not support."
    ),
    fixes=(
        Fix(what="Install the torch build for {device}"),
        Fix(what="Or compile and load a CPU package"),
    ),
    guide="guides/inputs-and-devices.md#no-gpu-visible",
    next_tool="check_environment",
    matches=(
        Sample(
            "AssertionError: Torch not compiled with CUDA enabled", "recorded", "torch 2.13.0, CPU"
        ),
        Sample(
            (
                "AttributeError: module 'torch._C._aoti' has no attribute "
                "'AOTIModelContainerRunnerCuda'. Did you mean: 'AOTIModelContainerRunnerCpu'?"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            (
                "torch::inductor::AOTIModelContainerRunnerCpu::AOTIModelContainerRunnerCpu(std::"
                "string const&)"
            ),
            "quoted",
            "a stack frame",
        ),
    ),
)
