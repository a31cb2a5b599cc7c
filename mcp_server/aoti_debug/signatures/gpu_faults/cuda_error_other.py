from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_error_other",
    family="I",
    phase="run",
    category="kernel_resources",
    role="symptom",
    weight=12,
    confidence="possible",
    anchors=(
        "CUDA error: ",
        "CUDA driver error: ",
        "Triton Error [",
        "HIP error: ",
        "cuda runtime error (",
        "CUDA_ERROR_",
        "cudaError",
        "hipError",
    ),
    patterns=(
        (
            r"^(?!.{0,80}\[CUDA\]\[[A-Z]\]).{0,4000}?"
            r"(?P<what>(?:CUDA (?:driver )?error|HIP error|Triton Error \[\w{2,6}\]): "
            r"(?!CU[A-Z]{2,6}_STATUS)(?!.{0,40}out of memory).{1,120}|cuda runtime error "
            r"\(\d{1,20}\) ?:.{1,120}|\bCUDA_ERROR_[A-Z_]{3,60}|\bcudaError[A-Z]\w{3,60}"
            r"|\bhipError[A-Z]\w{3,60})"
        ),
    ),
    summary="The GPU's runtime refused a call: {what}",
    means=(
        "A status of the CUDA or HIP runtime that says little by itself. It may belong to an "
        "earlier, asynchronous call."
    ),
    check="The first GPU message of the process; CUDA_LAUNCH_BLOCKING=1 to see whose it is",
    fixes=(fix("Look the status up in the runtime's manual; check sizes, device and driver"),),
    guide="guides/cuda-illegal-memory-access.md#launch-failures-and-resources",
    next_tool="triage",
    matches=(
        quoted("RuntimeError: CUDA error: invalid pitch argument", "CUDA runtime text"),
        quoted("RuntimeError: Triton Error [HIP]:  Code: 98", "form of Triton's HIP launcher"),
    ),
)
