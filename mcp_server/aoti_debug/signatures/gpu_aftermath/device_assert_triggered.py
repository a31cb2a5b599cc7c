from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="device_assert_triggered",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    role="symptom",
    weight=60,
    anchors=("device-side assert triggered", "cudaErrorAssert", "CUDA_ERROR_ASSERT"),
    patterns=(
        (
            "^(?!Failed to (?:destroy|free|unload|run autotuning)).{0,4000}(?:device-side "
            r"assert triggered|cudaErrorAssert\b|CUDA_ERROR_ASSERT)"
        ),
    ),
    summary=(
        "An assertion inside a GPU kernel failed; the assertion line itself is printed on "
        "stderr before this"
    ),
    means=(
        "This is the sticky error that every CUDA call returns after a kernel assert. In "
        "compiled models the assert is nearly always an index check."
    ),
    mistaken_for="A fault of the call at which it is reported",
    check=(
        "Look for `Assertion ... failed` earlier on stderr; if it is missing, run again with "
        "stderr kept"
    ),
    fixes=(fix("Find the first `Assertion` line: it names kernel, line and bound"),),
    guide="guides/triton-index-out-of-bounds.md#errors-that-follow-an-assert",
    next_tool="triage",
    matches=(
        recorded("Error: CUDA driver error: device-side assert triggered", "torch 2.11, H200"),
        recorded("  what():  CUDA error: device-side assert triggered", "torch 2.11, H200"),
        recorded(
            "torch.AcceleratorError: CUDA error: device-side assert triggered",
            "torch 2.11, H200",
        ),
    ),
    neighbours=(
        recorded(
            "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            "a hint that every CUDA error carries",
        ),
    ),
    apart_from=("aftermath_cleanup",),
)
