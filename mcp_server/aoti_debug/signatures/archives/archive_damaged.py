from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="archive_damaged",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=80,
    anchors=("Failed to initialize zip archive: ", "Failed to read zip filename"),
    patterns=(
        ("Failed to initialize zip archive: (?P<why>(?!file open failed|file not found).{1,120})"),
        "(?P<why>Failed to read zip filename.{0,60})",
    ),
    summary="The file is no complete .pt2 archive: {why}",
    means=(
        "A copy or download was cut short, the file is empty, or it is something else: a Git "
        "LFS pointer, an HTML page, a bare .so. `too large` means beyond the loader's zip "
        "library: keep the weights outside."
    ),
    check=(
        "head -c 4 FILE must print PK; unzip -t FILE; compare size and checksum with the original."
    ),
    fixes=(fix("Copy the package again; fetch LFS files with git lfs pull"),),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Failed to initialize zip archive: failed finding central directory",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Failed to initialize zip archive: not a ZIP archive",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: Failed to initialize zip archive: archive is too large",
            "words of the loader's zip library",
        ),
        quoted(
            "RuntimeError: Failed to read zip filename length at index 3",
            "words of the package loader",
        ),
    ),
    neighbours=(
        quoted(
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
            "central directory",
            "torch.load of a checkpoint",
        ),
    ),
    apart_from=("archive_not_found",),
)
