from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="rocm_failure",
    family="Q",
    phase="run",
    category="illegal_memory_access",
    weight=56,
    anchors=(
        "HSA_STATUS_ERROR",
        "Memory access fault by GPU",
        "HIP error: an illegal memory access",
        "HIP error: unspecified launch failure",
        "hipErrorIllegalAddress",
    ),
    patterns=(
        (
            r"Memory access fault by GPU node-\d{1,20}|HSA_STATUS_ERROR_\w{1,200}"
            r"|HIP error: (?:an "
            "illegal memory access|unspecified launch failure)|hipErrorIllegalAddress"
        ),
    ),
    summary="A kernel faulted on an AMD GPU",
    means=(
        "The same family of faults as an illegal memory access on CUDA: contract first, then "
        "the kernel."
    ),
    fixes=(
        fix(
            "AMD_LOG_LEVEL=3 or rocgdb names the kernel; check the inputs with "
            "AOTI_RUNTIME_CHECK_INPUTS=1"
        ),
    ),
    guide="guides/other-platforms.md#amd-gpus",
    next_tool="triage",
    matches=(
        quoted(
            "Memory access fault by GPU node-1 (Agent handle: 0x5581c8b2a0d0",
            "text of the ROCm runtime",
        ),
    ),
)
