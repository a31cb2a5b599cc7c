from aoti_debug.signatures.signature import Signature, quoted, recorded

SIGNATURE = Signature(
    id="gpu_tool_assert",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    weight=70,
    anchors=(
        "CUDBG_EXCEPTION_WARP_ASSERT",
        "= Warp assert",
        "CUDA Exception: Warp Assert",
        "Assertion failed.",
    ),
    patterns=(
        (
            "CUDBG_EXCEPTION_WARP_ASSERT|^={1,40} Warp assert|CUDA Exception: Warp Assert"
            r"|^Assertion failed\.$"
        ),
    ),
    summary="The debugging tool stopped at an assertion inside a GPU kernel",
    means=(
        "Core dump, cuda-gdb or compute-sanitizer caught a kernel assert. The line it names "
        "is where the kernel begins; the assert text with bound and thread is on stderr."
    ),
    mistaken_for="A memory fault",
    check="Find `Assertion ... failed` on stderr",
    guide="guides/triton-index-out-of-bounds.md#read-the-message",
    next_tool="explain_kernel",
    matches=(
        recorded("========= Warp assert", "compute-sanitizer, H200"),
        recorded("Assertion failed.", "cuda-gdb on a core, H200"),
    ),
    neighbours=(
        quoted(
            "Assertion failed: (ptr != nullptr), function run, file main.cpp, line 12.",
            "a host assert on macOS",
        ),
    ),
)
