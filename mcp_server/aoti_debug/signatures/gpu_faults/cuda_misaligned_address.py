from aoti_debug.signatures.signature import Signature, fix, quoted

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
            r"(?:CUDA error|CUDA driver error|\[CUDA\]): misaligned address"
            "|cudaErrorMisalignedAddress|CUDA_ERROR_MISALIGNED_ADDRESS"
            "|CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS|CUDA Exception: Warp Misaligned Address"
            r"|^={1,40}\s{1,20}Address 0x[0-9a-f]{1,200} is misaligned"
            r"|^={1,40}\s{1,20}Access to 0x[0-9a-f]{1,200} is "
            "misaligned"
        ),
    ),
    summary=("A GPU kernel made a vector access to an address that is not a multiple of its width"),
    means=(
        "Kernels are compiled for 16-byte aligned inputs. A view with an odd storage offset, "
        "a custom op's output or a user kernel with a wrong tl.multiple_of hint breaks that."
    ),
    mistaken_for="An out-of-bounds access",
    check="data_ptr() % 16 of each CUDA input",
    fixes=(
        fix(
            "Pass a contiguous clone of sliced inputs",
            why="x[1:] starts 4 bytes into its storage",
        ),
        fix("Remove tl.multiple_of or alignment hints that do not always hold"),
    ),
    guide="guides/cuda-illegal-memory-access.md#misaligned-address",
    next_tool="triage",
    references=("pytorch/pytorch#141891",),
    matches=(
        quoted("RuntimeError: CUDA error: misaligned address", "pytorch/pytorch#141891"),
        quoted("CUDA Exception: Warp Misaligned Address", "cuda-gdb manual"),
        quoted("=========     Address 0x7f2a5a400003 is misaligned", "compute-sanitizer manual"),
    ),
    neighbours=(
        quoted(
            "arg0_1 is not aligned to 16 bytes",
            "the check of torch 2.6, before any kernel runs",
        ),
    ),
    apart_from=("gpu_exception_dump",),
)
