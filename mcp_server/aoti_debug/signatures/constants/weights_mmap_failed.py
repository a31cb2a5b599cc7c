from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="weights_mmap_failed",
    family="D",
    phase="load",
    category="package_incompatible",
    weight=74,
    anchors=("mmap() failed", "= -1 EINVAL"),
    patterns=(r"(?:^|[:\]]\s)mmap\(\) failed|mmap\(.{0,200}\) = -1 EINVAL",),
    summary="The weights of the package cannot be mapped into memory",
    means=(
        "The weights are aligned to 16 KB: systems with 64 KB pages (some aarch64) refuse "
        "that. A truncated file or too little address space gives the same."
    ),
    check="getconf PAGESIZE; compare the file with the original.",
    fixes=(
        fix(
            "Use a kernel with 4 KB pages, or compile without mmapped weights (below 2 GB, or "
            "package_constants_in_so=False)"
        ),
    ),
    guide="guides/constants.md#mmap-and-alignment",
    next_tool="check_environment",
    references=("pytorch/pytorch#145610",),
    matches=(
        quoted("Error: mmap() failed", "words of aoti_runtime/model_base.h"),
        quoted(
            "mmap(NULL, 8388608, PROT_READ|PROT_WRITE, MAP_PRIVATE, 5, 0x214000) = -1 EINVAL "
            "(Invalid argument)",
            "strace line as in pytorch/pytorch#145610",
        ),
    ),
)
