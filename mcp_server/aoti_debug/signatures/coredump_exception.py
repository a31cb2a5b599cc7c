from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="coredump_exception",
    family="I",
    phase="run",
    category="illegal_memory_access",
    weight=80,
    confidence="proved",
    anchors=("Detected an exception of type CUDBG_EXCEPTION",),
    patterns=(
        (
            "coredump: Detected an exception of type CUDBG_EXCEPTION_(?!WARP_ASSERT|"
            r"WARP_MISALIGNED)(?P<type>\w+)"
        ),
    ),
    summary="The GPU stopped on {type}; the stack trace below it names the kernel",
    means=(
        "The driver's core dump caught the kernel in the act. The `#0` line a few lines "
        "below is the kernel's name, and the dump file gives its line and source text."
    ),
    check="cuda-gdb -batch -ex 'target cudacore FILE' -ex bt",
    fixes=(
        Fix(
            what="Read the kernel's line, then its index arithmetic",
            why="this is the kernel that faulted, not a later one",
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-road-by-hand",
    next_tool="explain_kernel",
    matches=(
        Sample(
            (
                "[04:51:11.454696] coredump: Detected an exception of type "
                "CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE (7)"
            ),
            "recorded",
            "H200, driver 580",
        ),
    ),
    neighbours=(
        Sample(
            (
                "[04:51:11.454696] coredump: Detected an exception of type "
                "CUDBG_EXCEPTION_WARP_ASSERT (12)"
            ),
            "quoted",
        ),
        Sample("[04:51:11.449254] coredump: Starting GPU coredump generation", "recorded"),
    ),
)
