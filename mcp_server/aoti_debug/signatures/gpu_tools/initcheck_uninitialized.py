from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="initcheck_uninitialized",
    family="I",
    phase="run",
    category="wrong_result",
    weight=72,
    anchors=("Uninitialized __global__ memory read",),
    patterns=(r"Uninitialized __global__ memory read of size (?P<size>\d{1,20})",),
    summary="A GPU kernel read {size} bytes that nothing had written",
    means=(
        "initcheck found a read of fresh memory, so results depend on what lay there before. "
        "Padding reads that are masked later are a known false alarm."
    ),
    mistaken_for="Random numerics",
    check="Do outputs differ between two replays of the same inputs?",
    fixes=(
        fix(
            "Look at the producer of that buffer: a custom op that writes less than it "
            "promises, or torch.empty in the model"
        ),
    ),
    guide="guides/wrong-results.md#uninitialised-reads",
    next_tool="explain_kernel",
    matches=(
        quoted(
            "========= Uninitialized __global__ memory read of size 4 bytes",
            "compute-sanitizer manual",
        ),
    ),
)
