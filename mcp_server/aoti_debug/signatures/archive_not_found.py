from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="archive_not_found",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=78,
    anchors=("Failed to initialize zip archive: ",),
    patterns=(r"Failed to initialize zip archive: (?P<why>file open failed|file not found)",),
    summary="The package file cannot be opened ({why})",
    means=(
        "The path does not exist, is a directory or may not be read. Relative paths "
        "count from the working directory of the process that loads."
    ),
    fixes=(Fix(what="Give the absolute path of an existing .pt2 file"),),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        Sample(
            "RuntimeError: Failed to initialize zip archive: file open failed",
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
    neighbours=(
        Sample(
            ("RuntimeError: Failed to initialize zip archive: failed finding central directory"),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
