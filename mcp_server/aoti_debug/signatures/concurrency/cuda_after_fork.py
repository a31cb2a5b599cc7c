from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="cuda_after_fork",
    family="N",
    phase="run",
    category="concurrency",
    weight=74,
    anchors=("in forked subprocess", "CUDA error: initialization error"),
    patterns=(
        (
            "Cannot re-initialize (?:CUDA|XPU) in forked subprocess|CUDA (?:driver )?error: "
            "initialization error"
        ),
    ),
    summary="CUDA is used in a forked child of a process that had already used it",
    means=(
        "A CUDA context does not survive fork; servers and data loaders that fork after "
        "loading the model fail like this."
    ),
    fixes=(fix("multiprocessing.set_start_method('spawn'), and load the package in the child"),),
    guide="guides/threads-streams-hangs.md#forked-processes",
    matches=(
        quoted(
            "RuntimeError: Cannot re-initialize CUDA in forked subprocess.",
            "text of torch/cuda/__init__.py",
        ),
    ),
)
