from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="memcheck_invalid_access",
    family="I",
    phase="run",
    category="illegal_memory_access",
    weight=84,
    confidence="proved",
    anchors=("Invalid __",),
    patterns=(
        (
            "=+ Invalid __(?P<space>global|shared|local)__ (?P<access>read|write|"
            r"atomic) of size (?P<size>\d+) bytes?"
        ),
    ),
    summary="compute-sanitizer saw a {access} of {size} bytes outside {space} memory",
    means=(
        "The tool stopped the access itself: the next lines name kernel, file and line, "
        "thread, and how far the address lies from the nearest allocation."
    ),
    mistaken_for="A false alarm",
    check=("Expandable segments give false alarms for bulk copies: unset PYTORCH_CUDA_ALLOC_CONF"),
    fixes=(
        Fix(
            what=(
                "Compare the distance to the nearest allocation with the sizes the package "
                "was compiled for"
            )
        ),
    ),
    guide="guides/debugging-tools.md#compute-sanitizer",
    next_tool="explain_kernel",
    references=("pytorch/pytorch#196209",),
    matches=(
        Sample(
            "========= Invalid __global__ read of size 16 bytes",
            "recorded",
            "compute-sanitizer 2025, H200",
        ),
        Sample(
            "========= Invalid __global__ write of size 16 bytes",
            "recorded",
            "compute-sanitizer 2025, H200",
        ),
    ),
    neighbours=(Sample("========= ERROR SUMMARY: 0 errors", "recorded"),),
)
