from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="autotune_misaligned",
    family="K",
    phase="autotune",
    category="misaligned_address",
    weight=73,
    anchors=(
        "autotuning code block",
        "torch/_inductor/select_algorithm.py:",
        "torch/_inductor/runtime/triton_heuristics.py:",
    ),
    patterns=(
        (
            "(?:Failed to run autotuning code block: |torch/_inductor/(?:select_algorithm"
            r"|runtime/triton_heuristics)\.py:\d{1,20}\]).{0,80}misaligned address"
        ),
    ),
    summary="A kernel that was being tuned made a misaligned access",
    means=(
        "A candidate or a user kernel assumes an alignment that the tensors made for tuning, "
        "or views of them, do not have. The CUDA context is lost afterwards."
    ),
    mistaken_for="A fault of the finished package",
    check="Does it compile without max_autotune?",
    fixes=(
        fix("Drop the backend of the candidate from max_autotune_gemm_backends"),
        fix("Remove alignment hints of a user kernel that do not always hold"),
    ),
    guide="guides/cuda-illegal-memory-access.md#misaligned-address",
    next_tool="triage",
    matches=(
        quoted(
            "E1203 09:11:44.120000 40211 torch/_inductor/select_algorithm.py:2691] [3/0] CUDA "
            "error: misaligned address",
            "form of an error in Inductor's log",
        ),
    ),
)
