from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="driver_refuses",
    family="G",
    phase="environment",
    category="device_unavailable",
    weight=79,
    anchors=(
        "driver on your system is too old",
        "CUDA driver version is insufficient",
        "unsupported display driver / cuda driver combination",
        "forward compatibility was attempted",
        "cudaErrorInsufficientDriver",
        "cudaErrorCompatNotSupportedOnDevice",
        "cudaErrorSystemDriverMismatch",
        "Driver/library version mismatch",
        "couldn't communicate with the NVIDIA driver",
        "cuda runtime error (35)",
    ),
    patterns=(
        (
            "(?P<what>NVIDIA driver on your system is too old|CUDA driver version is "
            "insufficient for CUDA runtime version|unsupported display driver / cuda driver "
            "combination|forward compatibility was attempted on non supported "
            "HW|cudaError(?:InsufficientDriver|CompatNotSupportedOnDevice"
            "|SystemDriverMismatch)|Driver/library version mismatch|couldn't communicate with "
            "the NVIDIA driver)"
        ),
    ),
    summary="The NVIDIA driver does not serve this torch: {what}",
    means=(
        "The driver is older than the CUDA release of torch needs, its kernel module and "
        "libraries differ (an update without a reboot), or the compatibility libraries do not "
        "fit the GPU."
    ),
    mistaken_for="A missing GPU, or a fault of the package.",
    check="nvidia-smi (top right: highest CUDA version) against torch.version.cuda.",
    fixes=(
        fix("Update the driver and reboot, or use a torch build for an older CUDA"),
        fix(
            "Remove the cuda-compat directory from LD_LIBRARY_PATH on GPUs that it does not support"
        ),
    ),
    guide="guides/toolchain.md#driver-too-old",
    next_tool="check_environment",
    matches=(
        quoted(
            "CUDA initialization: The NVIDIA driver on your system is too old (found version "
            "11040).",
            "words of torch.cuda",
        ),
        quoted(
            "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
            "words of the CUDA runtime",
        ),
        quoted(
            "Failed to initialize NVML: Driver/library version mismatch",
            "words of nvidia-smi",
        ),
        quoted(
            "Error 804: forward compatibility was attempted on non supported HW",
            "words of the CUDA runtime",
        ),
    ),
    apart_from=("driver_too_old",),
)
