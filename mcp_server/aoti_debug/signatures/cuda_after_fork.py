from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="cuda_after_fork",
    family="N",
    phase="run",
    category="concurrency",
    weight=74,
    confidence="proved",
    anchors=(
        "in forked subprocess",
        "CUDA error: initialization error",
    ),
    patterns=(
        (
            "Cannot re-initialize CUDA in forked subprocess|"
            "CUDA (?:driver )?error: initialization error"
        ),
    ),
    summary="CUDA is used in a forked child of a process that had already used it",
    means=(
        "A CUDA context does not survive fork; servers and data loaders that fork after "
        "loading the model fail like this."
    ),
    fixes=(
        Fix(what=("multiprocessing.set_start_method('spawn'), and load the package in the child")),
    ),
    guide="guides/threads-streams-hangs.md#forked-processes",
    matches=(
        Sample(
            (
                "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA "
                "with multiprocessing, you must use the 'spawn' start method"
            ),
            "quoted",
            "text of torch/cuda/__init__.py",
        ),
    ),
)
