from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="weights_damaged",
    family="D",
    phase="load",
    category="package_corrupt",
    weight=80,
    anchors=(
        "data seems corrupt",
        "Shared library file is smaller than embedded weights size",
        "Failed to seek to end of shared library file",
        "weights_offset must be aligned to 16K boundary",
        "Shared library file cannot be opened",
        "Can't find shared library name",
        "Failed to open serialized weights file",
    ),
    patterns=(
        (
            "(?P<what>Wei(?:gh|g)t(?:h)?s data seems corrupt|Shared library file is smaller "
            "than embedded weights size|Failed to seek to end of shared library file"
            "|weights_offset must be aligned to 16K boundary|Shared library file cannot be "
            "opened|Can't find shared library name|Failed to open serialized weights file)"
        ),
    ),
    summary="The weights behind the library are not as they were packaged: {what}",
    means=(
        "The library was truncated, changed after linking (strip, patchelf, repacking) or "
        "removed while loading. On Windows a library above 2 GB gives the alignment text."
    ),
    fixes=(
        fix("Copy the package again and compare checksums; do not strip or patch the library"),
        fix("Point TMPDIR to a directory that is kept while the model lives"),
        fix("On Windows upgrade torch, or keep the weights in a file of their own"),
    ),
    guide="guides/constants.md#missing-weight-files",
    next_tool="inspect_package",
    references=("pytorch/pytorch#186357",),
    matches=(
        quoted("RuntimeError: Weights data seems corrupt", "words of aoti_runtime, 2.8 and later"),
        quoted("RuntimeError: Weigths data seems corrupt", "words of aoti_runtime, 2.6 and 2.7"),
        quoted(
            "RuntimeError: Shared library file is smaller than embedded weights size",
            "words of aoti_runtime, 2.13 and later",
        ),
        quoted(
            "RuntimeError: Failed to seek to end of shared library file",
            "words of aoti_runtime, 2.13 and later",
        ),
        quoted(
            "RuntimeError: weights_offset must be aligned to 16K boundary",
            "pytorch/pytorch#186357",
        ),
        quoted("Error: Shared library file cannot be opened", "words of aoti_runtime/model_base.h"),
        quoted("Error: Can't find shared library name", "words of aoti_runtime/model_base.h"),
        quoted(
            "RuntimeError: Failed to open serialized weights file",
            "words of the package loader",
        ),
    ),
)
