from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="memory_leak_report",
    family="O",
    phase="run",
    category="performance",
    weight=60,
    anchors=("LeakSanitizer", "detected memory leaks"),
    patterns=("LeakSanitizer: (?P<what>.{1,120})|detected memory leaks",),
    summary="A leak checker reports memory that was never freed",
    means=(
        "Some releases leak small strings when a package is opened; a leak per call is "
        "another matter."
    ),
    check="Does memory grow with the number of calls or only with the number of loads?",
    fixes=(fix("Load once and keep the runner; upgrade from 2.7"),),
    guide="guides/memory-and-time.md#leaks",
    references=("pytorch/pytorch#158614",),
    matches=(
        quoted(
            "SUMMARY: LeakSanitizer: 526 byte(s) leaked in 7 allocation(s).",
            "pytorch/pytorch#158614",
        ),
    ),
)
