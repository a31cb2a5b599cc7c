from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="mps_unavailable",
    family="Q",
    phase="environment",
    category="device_unavailable",
    weight=72,
    anchors=(
        "MPS backend is supported on MacOS",
        "The MPS backend",
        "is not linked with support for ",
        "Torch not linked with support",
        "No HIP GPUs are available",
        "hipErrorNoDevice",
        "No XPU devices are available",
        "Intel GPU driver is not properly installed",
        "Can't initialize amdsmi",
        "ROCk module is NOT loaded",
        "Unable to open /dev/kfd",
        "NotImplementedError: PyTorch was compiled without",
    ),
    patterns=(
        (
            r"(?P<what>MPS backend is supported on MacOS \S{1,10}|PyTorch is not linked with "
            r"support for \w{1,10} devices|No HIP GPUs are available|hipErrorNoDevice|No XPU "
            "devices are available|Intel GPU driver is not properly installed|ROCk module is "
            r"NOT loaded|Unable to open /dev/kfd.{0,60}|PyTorch was compiled without \w{1,8} "
            "support)"
        ),
    ),
    summary="The GPU of this platform cannot be used: {what}",
    means=(
        "macOS, the driver (ROCm, Level Zero) or this torch build has no working support for "
        "the device that was asked for."
    ),
    check="torch.backends.mps.is_available(), rocminfo or sycl-ls in the same environment.",
    fixes=(fix("Install the torch build and the driver for that GPU, or compile for the CPU"),),
    guide="guides/other-platforms.md#macos-and-mps",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: The MPS backend is supported on MacOS 13.0+. Current OS version "
            "can be queried using `sw_vers`",
            "words of ATen",
        ),
        quoted(
            "RuntimeError: PyTorch is not linked with support for mps devices",
            "words of c10",
        ),
        quoted("RuntimeError: No HIP GPUs are available", "words of torch.cuda"),
        quoted(
            "OSError: Intel GPU driver is not properly installed, please follow the instruction",
            "words of torch/_inductor/cpp_builder.py",
        ),
    ),
)
