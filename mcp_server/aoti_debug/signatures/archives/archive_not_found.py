from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="archive_not_found",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=78,
    anchors=("Failed to initialize zip archive: ", "open file failed "),
    patterns=(
        "Failed to initialize zip archive: (?P<why>file open failed|file not found)",
        r"open file failed (?P<why>because of errno \d{1,3} on fopen|with strerror)",
    ),
    summary="The package file cannot be opened ({why})",
    means=(
        "The path does not exist, is a directory or may not be read. Relative paths count "
        "from the working directory of the process that loads."
    ),
    fixes=(fix("Give the absolute path of an existing .pt2 file"),),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Failed to initialize zip archive: file open failed",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "  what():  open file failed because of errno 2 on fopen: No such file or "
            "directory, file path: model.pt",
            "words of caffe2/serialize/file_adapter.cc",
        ),
    ),
    apart_from=("archive_damaged",),
)
