from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="compile_worker_hangs",
    family="N",
    phase="triton_compile",
    category="hang",
    weight=72,
    anchors=("Inductor compile-worker future for",),
    patterns=(
        r"Inductor compile-worker future for '?(?P<kernel>\w{1,120})'? did not complete within",
    ),
    summary="Compiling the kernel {kernel} in a worker process did not come to an end",
    means=(
        "The worker hangs, was lost without a word, or compiles a huge kernel on a machine "
        "with too few cores."
    ),
    mistaken_for="A hang of the model",
    check="TORCHINDUCTOR_COMPILE_THREADS=1: does it end in this process?",
    fixes=(
        fix("Compile with TORCHINDUCTOR_COMPILE_THREADS=1, or raise the limit it names"),
        fix("Clear TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR"),
    ),
    guide="guides/threads-streams-hangs.md#hangs",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: Inductor compile-worker future for 'triton_per_fused_sort_0' did "
            "not complete within 300s.",
            "words of torch/_inductor/async_compile.py",
        ),
    ),
)
