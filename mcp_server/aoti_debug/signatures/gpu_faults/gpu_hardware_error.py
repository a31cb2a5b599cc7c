from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="gpu_hardware_error",
    family="I",
    phase="run",
    category="device_unavailable",
    weight=70,
    anchors=(
        "ECC error",
        "cudaErrorECCUncorrectable",
        "Invalid access of peer GPU memory over nvlink",
        "fallen off the bus",
        "NVRM: Xid",
        "CUDA error: unknown error",
        "Unable to determine the device handle",
        "CUDA_ERROR_UNKNOWN",
        "cudaErrorUnknown",
        "an exception occurred on the device that was contained",
        "cudaErrorContained",
        "CUDA_ERROR_CONTAINED",
        "NVLink error was detected",
        "cudaErrorNvlinkUncorrectable",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "UR_RESULT_ERROR_DEVICE_LOST",
    ),
    patterns=(
        (
            "(?P<text>uncorrectable (?:NVLink |ECC )?(?:ECC )?error encountered"
            "|cudaErrorECCUncorrectable|Invalid access of peer GPU memory over nvlink|GPU has "
            "fallen off the bus|NVRM: Xid [^:]{0,40}|CUDA (?:driver )?error: unknown error"
            "|Unable to determine the device handle|CUDA_ERROR_UNKNOWN|an exception occurred "
            "on "
            "the device that was contained|cudaErrorContained|CUDA_ERROR_CONTAINED|NVLink "
            "error "
            "was detected|cudaError(?:Nvlink|Unknown)|CUDA_ERROR_NVLINK_UNCORRECTABLE"
            "|CUDA_ERROR_ECC_UNCORRECTABLE|UR_RESULT_ERROR_DEVICE_LOST)"
        ),
    ),
    summary="The GPU or its driver failed: {text}",
    means=(
        "The device itself reported the error; the model is not the reason until another GPU "
        "shows the same."
    ),
    mistaken_for="A faulty kernel",
    check="nvidia-smi -q -d ECC, the kernel log (Xid lines), and the same call on another GPU",
    fixes=(fix("Move to another device; have the machine checked or rebooted"),),
    guide="guides/cuda-illegal-memory-access.md#the-process-is-lost",
    next_tool="check_environment",
    matches=(
        quoted(
            "RuntimeError: CUDA error: uncorrectable ECC error encountered", "CUDA runtime text"
        ),
        quoted("RuntimeError: CUDA error: unknown error", "common after suspend or driver update"),
    ),
)
