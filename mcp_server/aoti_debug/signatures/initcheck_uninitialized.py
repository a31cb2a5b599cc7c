from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="initcheck_uninitialized",
    family="I",
    phase="run",
    category="wrong_result",
    weight=72,
    anchors=("Uninitialized __global__ memory read",),
    patterns=(r"Uninitialized __global__ memory read of size (?P<size>\d+)",),
    summary="A GPU kernel read {size} bytes that nothing had written",
    means=(
        "initcheck found a read of fresh memory, so results depend on what lay there "
        "before. Padding reads that are masked later are a known false alarm."
    ),
    mistaken_for="Random numerics",
    check="Do outputs differ between two replays of the same inputs?",
    fixes=(
        Fix(
            what=(
                "Look at the producer of that buffer: a custom op that writes less than it "
                "promises, or torch.empty in the model"
            )
        ),
    ),
    guide="guides/wrong-results.md#uninitialised-reads",
    next_tool="explain_kernel",
    matches=(
        Sample(
            "========= Uninitialized __global__ memory read of size 4 bytes",
            "quoted",
            "compute-sanitizer manual",
        ),
    ),
)
