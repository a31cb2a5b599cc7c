from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="sanitizer_unusable",
    family="P",
    phase="environment",
    category="false_alarm",
    weight=60,
    anchors=(
        "Internal Sanitizer Error",
        "No attachable process found",
        "Unable to find injection library",
        "terminated before first instrumented API call",
        "Device not supported",
        "fatal:  CUDA",
    ),
    patterns=(
        (
            "Internal Sanitizer Error|No attachable process found|Unable to find injection "
            "library|terminated before first instrumented API call|={1,40} Error: Device not "
            r"supported|fatal:\s{1,20}CUDA"
        ),
    ),
    summary="The GPU debugging tool could not do its work here",
    means=(
        "compute-sanitizer or cuda-gdb did not see the kernels: no permission, another driver "
        "version, no GPU call at all, or the host side crashed first."
    ),
    mistaken_for="A clean result",
    check="Do they run on a ten-line CUDA script?",
    fixes=(
        fix(
            "For a host crash use gdb or a core file instead; install the tool version that "
            "fits the driver"
        ),
    ),
    guide="guides/debugging-tools.md#compute-sanitizer",
    next_tool="check_environment",
    matches=(
        quoted(
            "========= Error: Target application terminated before first instrumented API call",
            "compute-sanitizer manual",
        ),
    ),
)
