from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="gpu_exception_dump",
    family="I",
    phase="run",
    category="illegal_memory_access",
    weight=80,
    confidence="proved",
    anchors=("Detected an exception of type CUDBG_EXCEPTION", "CUDA Exception: "),
    patterns=(
        (
            "coredump: Detected an exception of type CUDBG_EXCEPTION_(?!WARP_ASSERT"
            r"|WARP_MISALIGNED)(?P<type>\w{1,200})"
        ),
        r"CUDA Exception: (?P<type>(?!Warp Assert|Warp Misaligned)[A-Z][\w /-]{3,60})",
    ),
    summary="The GPU stopped on {type}; the stack beside it names the kernel",
    means=(
        "A core dump caught the kernel in the act: this is the kernel that faulted, not a "
        "later one. Its name stands on the `#0` line, and cuda-gdb adds block, thread, file "
        "and line."
    ),
    check="cuda-gdb -batch -ex 'target cudacore FILE' -ex bt",
    fixes=(
        fix(
            "Open the file and line that the dump names; the index expression there leaves "
            "its tensor"
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-road-by-hand",
    next_tool="explain_kernel",
    matches=(
        recorded(
            "[04:51:11.454696] coredump: Detected an exception of type "
            "CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE (7)",
            "H200, driver 580",
        ),
        recorded("CUDA Exception: Warp Invalid Address Space", "H200"),
        recorded("CUDA Exception: Warp Illegal Address", "H200"),
    ),
    neighbours=(
        quoted(
            "[04:51:11.454696] coredump: Detected an exception of type "
            "CUDBG_EXCEPTION_WARP_ASSERT (12)"
        ),
        recorded("[04:51:11.449254] coredump: Starting GPU coredump generation"),
        quoted("CUDA Exception: Warp Assert"),
    ),
    apart_from=("cuda_misaligned_address",),
)
