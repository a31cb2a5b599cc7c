from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_gdb_exception",
    family="I",
    phase="run",
    category="illegal_memory_access",
    weight=80,
    confidence="proved",
    anchors=("CUDA Exception: ",),
    patterns=(r"CUDA Exception: (?P<type>(?!Warp Assert|Warp Misaligned)[A-Z][\w /-]{3,60})",),
    summary="cuda-gdb reads from the core: {type}",
    means=(
        "The dump proves which kernel faulted; the next lines give kernel, block, thread, "
        "file and line."
    ),
    fixes=(
        Fix(
            what=(
                "Open the file and line that cuda-gdb names; the index expression there "
                "leaves its tensor"
            )
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#the-road-by-hand",
    next_tool="explain_kernel",
    matches=(
        Sample("CUDA Exception: Warp Invalid Address Space", "recorded", "H200"),
        Sample("CUDA Exception: Warp Illegal Address", "recorded", "H200"),
    ),
    neighbours=(
        Sample("CUDA Exception: Warp Misaligned Address", "quoted"),
        Sample("CUDA Exception: Warp Assert", "quoted"),
    ),
)
