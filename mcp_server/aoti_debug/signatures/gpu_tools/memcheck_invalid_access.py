from aoti_debug.signatures.signature import Signature, fix, recorded

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
            "={1,40} Invalid __(?P<space>global|shared|local)__ (?P<access>read|write"
            "|atomic) of "
            r"size (?P<size>\d{1,20}) bytes?"
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
        fix(
            "Compare the distance to the nearest allocation with the sizes the package was "
            "compiled for"
        ),
    ),
    guide="guides/debugging-tools.md#compute-sanitizer",
    next_tool="explain_kernel",
    references=("pytorch/pytorch#196209",),
    matches=(
        recorded(
            "========= Invalid __global__ read of size 16 bytes", "compute-sanitizer 2025, H200"
        ),
        recorded(
            "========= Invalid __global__ write of size 16 bytes",
            "compute-sanitizer 2025, H200",
        ),
    ),
    neighbours=(recorded("========= ERROR SUMMARY: 0 errors"),),
)
