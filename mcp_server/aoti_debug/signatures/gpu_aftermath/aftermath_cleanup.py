from aoti_debug.signatures.signature import Signature, recorded

SIGNATURE = Signature(
    id="aftermath_cleanup",
    family="I",
    phase="run",
    category="illegal_memory_access",
    role="aftermath",
    weight=20,
    confidence="possible",
    anchors=("AOTInductor model",),
    patterns=(
        (
            "Failed to (?:destroy CUDA event|free GPU memory|unload CUDA module) in "
            "AOTInductor model[^:]{0,40}:? ?(?P<text>.{0,80})"
        ),
    ),
    summary="Clean-up of the model failed because the CUDA context was already lost ({text})",
    means=(
        "Printed while the model is destroyed after a GPU fault. The text repeats the first error."
    ),
    mistaken_for="A leak or a double free",
    check="The first GPU message of the process",
    guide="guides/cuda-illegal-memory-access.md#the-process-is-lost",
    next_tool="triage",
    matches=(
        recorded(
            "Failed to destroy CUDA event in AOTInductor model: device-side assert triggered",
            "torch 2.11, H200",
        ),
        recorded(
            "Failed to destroy CUDA event in AOTInductor model: an illegal memory access was "
            "encountered",
            "torch 2.11, H200",
        ),
    ),
)
