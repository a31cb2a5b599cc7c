from aoti_debug.signatures.signature import Signature, quoted

SIGNATURE = Signature(
    id="interrupted_by_hand",
    family="N",
    phase="hang",
    category="hang",
    role="symptom",
    weight=12,
    confidence="possible",
    anchors=("KeyboardInterrupt",),
    patterns=(r"^KeyboardInterrupt\b",),
    summary="Somebody stopped the process by hand, perhaps because it seemed to hang",
    means=(
        "The innermost frame of the traceback shows where it was then: compiling (g++, "
        "triton, a pool of workers), loading or waiting for the GPU."
    ),
    mistaken_for="A failure of its own",
    check="py-spy dump on a second run, twice some seconds apart.",
    guide="guides/threads-streams-hangs.md#hangs",
    next_tool="triage",
    matches=(quoted("KeyboardInterrupt", "words of CPython"),),
)
