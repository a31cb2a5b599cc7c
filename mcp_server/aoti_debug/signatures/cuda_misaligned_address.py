from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_misaligned_address",
    family="I",
    phase="run",
    category="misaligned_address",
    weight=62,
    anchors=(
        "misaligned address",
        "cudaErrorMisalignedAddress",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "Misaligned Address",
        "MISALIGNED_ADDRESS",
        "is misaligned",
    ),
    patterns=(
        (
            r"(?:CUDA error|CUDA driver error|\[CUDA\]): misaligned address|"
            "cudaErrorMisalignedAddress|CUDA_ERROR_MISALIGNED_ADDRESS|"
            "CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS|"
            "CUDA Exception: Warp Misaligned Address|"
            r"^=+\s+Address 0x[0-9a-f]+ is misaligned|"
            r"^=+\s+Access to 0x[0-9a-f]+ is misaligned"
        ),
    ),
    summary=("A GPU kernel made a vector access to an address that is not a multiple of its width"),
    means=(
        "Kernels are compiled for 16-byte aligned inputs. A view with an odd storage "
        "offset, a custom op's output or a user kernel with a wrong tl.multiple_of hint "
        "breaks that."
    ),
    mistaken_for="An out-of-bounds access",
    check="data_ptr() % 16 of each CUDA input",
    fixes=(
        Fix(
            what="Pass a contiguous clone of sliced inputs",
            why="x[1:] starts 4 bytes into its storage",
        ),
        Fix(what="Remove tl.multiple_of or alignment hints that do not always hold"),
    ),
    guide="guides/cuda-illegal-memory-access.md#misaligned-address",
    next_tool="triage",
    references=("pytorch/pytorch#141891",),
    matches=(
        Sample("RuntimeError: CUDA error: misaligned address", "quoted", "pytorch/pytorch#141891"),
        Sample("CUDA Exception: Warp Misaligned Address", "quoted", "cuda-gdb manual"),
        Sample(
            "=========     Address 0x7f2a5a400003 is misaligned",
            "quoted",
            "compute-sanitizer manual",
        ),
    ),
    neighbours=(
        Sample("CUDA Exception: Warp Illegal Address", "recorded"),
        Sample(
            "arg0_1 is not aligned to 16 bytes",
            "quoted",
            "the check of torch 2.6, before any kernel runs",
        ),
    ),
)
