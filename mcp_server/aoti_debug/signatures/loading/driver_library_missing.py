from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="driver_library_missing",
    family="G",
    phase="environment",
    category="device_unavailable",
    weight=78,
    anchors=(
        "libcuda.so.1: cannot open shared object",
        "libcuda.so: cannot open shared object",
        "libnvidia-ml.so.1: cannot open shared object",
        "libcuda.so.1: file not recognized",
    ),
    patterns=(r"(?P<library>libcuda\.so(?:\.1)?|libnvidia-ml\.so\.1): cannot open shared object",),
    summary="The NVIDIA driver's library {library} is not on this machine",
    means=(
        "The driver brings it, not torch and not the toolkit: no driver is installed, or the "
        "container runs without GPU access."
    ),
    check="nvidia-smi in the same environment; ldconfig -p | grep libcuda.",
    fixes=(fix("Install the driver, or start the container with GPU access (--gpus all)"),),
    guide="guides/inputs-and-devices.md#no-gpu-visible",
    next_tool="check_environment",
    matches=(
        quoted(
            "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
            "words of the dynamic loader",
        ),
    ),
)
