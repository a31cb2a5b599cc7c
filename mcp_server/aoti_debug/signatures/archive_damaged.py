from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="archive_damaged",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=80,
    anchors=(
        "Failed to initialize zip archive: ",
        "Failed to read zip filename",
    ),
    patterns=(
        (
            r"Failed to initialize zip archive: (?P<why>(?!file open failed|file not "
            r"found).{1,120})"
        ),
        r"(?P<why>Failed to read zip filename.{0,60})",
    ),
    summary="The file is no complete .pt2 archive: {why}",
    means=(
        "A copy or download was cut short, the file is empty, or it is something else: "
        "a Git LFS pointer, an HTML page, a bare .so. `too large` means beyond the "
        "loader's zip library: keep the weights outside."
    ),
    check=(
        "head -c 4 FILE must print PK; unzip -t FILE; compare size and checksum with the original."
    ),
    fixes=(Fix(what="Copy the package again; fetch LFS files with git lfs pull"),),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        Sample(
            ("RuntimeError: Failed to initialize zip archive: failed finding central directory"),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            "RuntimeError: Failed to initialize zip archive: not a ZIP archive",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            "RuntimeError: Failed to initialize zip archive: archive is too large",
            "quoted",
            "words of the loader's zip library",
        ),
        Sample(
            "RuntimeError: Failed to read zip filename length at index 3",
            "quoted",
            "words of the package loader",
        ),
    ),
    neighbours=(
        Sample(
            "RuntimeError: Failed to initialize zip archive: file open failed",
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory"
            ),
            "quoted",
            "torch.load of a checkpoint",
        ),
    ),
)
