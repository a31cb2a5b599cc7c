from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"Memory access fault by GPU node-\d+|HSA_STATUS_ERROR_\w+|"
            "HIP error: (?:an illegal memory access|unspecified launch failure)|"
            "hipErrorIllegalAddress"
        ),
    ),
    summary="A kernel faulted on an AMD GPU",
    means=(
        "The same family of faults as an illegal memory access on CUDA: contract first, "
        "then the kernel."
    ),
    fixes=(
        Fix(
            what=(
                "AMD_LOG_LEVEL=3 or rocgdb names the kernel; check the inputs with "
                "AOTI_RUNTIME_CHECK_INPUTS=1"
            )
        ),
    ),
    guide="guides/other-platforms.md#amd-gpus",
    next_tool="triage",
    matches=(
        Sample(
            (
                "Memory access fault by GPU node-1 (Agent handle: 0x5581c8b2a0d0) on "
                "address 0x7f1c00000000. Reason: Page not present or supervisor privilege."
            ),
            "quoted",
            "text of the ROCm runtime",
        ),
    ),
)
