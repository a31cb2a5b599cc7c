from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
    ),
    patterns=(
        (
            "(?P<text>uncorrectable (?:NVLink |ECC )?(?:ECC )?error encountered|"
            "cudaErrorECCUncorrectable|Invalid access of peer GPU memory over nvlink|"
            "GPU has fallen off the bus|NVRM: Xid [^:]{0,40}|"
            "CUDA (?:driver )?error: unknown error|Unable to determine the device handle|"
            "CUDA_ERROR_UNKNOWN)"
        ),
    ),
    summary="The GPU or its driver failed: {text}",
    means=(
        "The device itself reported the error; the model is not the reason until another "
        "GPU shows the same."
    ),
    mistaken_for="A faulty kernel",
    check=("nvidia-smi -q -d ECC, the kernel log (Xid lines), and the same call on another GPU"),
    fixes=(Fix(what="Move to another device; have the machine checked or rebooted"),),
    guide="guides/cuda-illegal-memory-access.md#the-process-is-lost",
    next_tool="check_environment",
    matches=(
        Sample(
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "quoted",
            "CUDA runtime text",
        ),
        Sample(
            "RuntimeError: CUDA error: unknown error",
            "quoted",
            "common after suspend or driver update",
        ),
    ),
)
