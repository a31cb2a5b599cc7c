from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="gpu_not_usable",
    family="C",
    phase="environment",
    category="device_unavailable",
    weight=72,
    anchors=(
        "Unexpected error from cudaGetDeviceCount",
        "system not yet initialized",
        "busy or unavailable",
        "CUDA unknown error",
        "could not select device driver",
        "nvidia-container-cli",
        "Failed to initialize NVML",
        "CUDA_ERROR_NO_DEVICE",
        "cudaErrorNoDevice",
        "cudaErrorDevicesUnavailable",
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "Attempting to deserialize object on",
        "don't know how to restore data location",
        "device module is not registered",
        "PyTorch was compiled without CUDA support",
        "libcudart functions unavailable",
        "DeferredCudaCallError",
        "device < num_gpus",
        "is not visible (CUDA_VISIBLE_DEVICES",
        "Cannot access accelerator device when none is available",
        "cuda driver can't be loaded",
    ),
    patterns=(
        (
            r"(?P<what>Unexpected error from cudaGetDeviceCount\(\)|system not yet "
            r"initialized|CUDA-capable device\(s\) is/are busy or unavailable|CUDA unknown "
            r"error|could not select device driver|nvidia-container-cli: \S{1,60}|Failed to "
            "initialize NVML: "
            r"(?!Driver)\w.{0,40}|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice"
            "|cudaErrorDevicesUnavailable|CUDA_ERROR_DEVICE_UNAVAILABLE|Attempting to "
            r"deserialize object on .{1,60}|don't know how to restore data location|\w{1,20} "
            "device module is not registered|PyTorch was compiled without CUDA "
            r"support|libcudart functions unavailable|device \d{1,3} is not visible "
            r"\(CUDA_VISIBLE_DEVICES|Cannot access accelerator device when none is "
            "available|cuda driver can't be loaded|DeferredCudaCallError|device < num_gpus)"
        ),
    ),
    summary="The device asked for cannot be used here: {what}",
    means=(
        "The process sees no working GPU, the one it sees is taken (exclusive mode, MIG, "
        "fabric manager not running), or a file asks for a device that this machine or build "
        "lacks."
    ),
    mistaken_for="A fault of the model or the file.",
    check="torch.cuda.is_available() and nvidia-smi in the same process environment.",
    fixes=(
        fix(
            "Make the GPU visible and free (container flags, CUDA_VISIBLE_DEVICES, fabric manager)"
        ),
        fix("To read a checkpoint on another machine: torch.load(path, map_location='cpu')"),
    ),
    guide="guides/inputs-and-devices.md#no-gpu-visible",
    next_tool="check_environment",
    matches=(
        recorded(
            "RuntimeError: Attempting to deserialize object on a CUDA device but "
            "torch.cuda.is_available() is False.",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: The HPU device module is not registered. If you are running on a "
            "CPU-only machine",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda "
            "functions before calling NumCudaDevices() that might have already set an error? "
            "Error 802: system not yet initialized",
            "words of torch.cuda",
        ),
        quoted(
            "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
            "words of the CUDA runtime",
        ),
    ),
    apart_from=(
        "no_gpu_in_process",
        "driver_refuses",
    ),
)
