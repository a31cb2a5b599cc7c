from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"(?P<what>Wei(?:gh|g)t(?:h)?s data seems corrupt|Shared library file is smaller "
            r"than embedded weights size|Failed to seek to end of shared library "
            r"file|weights_offset must be aligned to 16K boundary|Shared library file cannot "
            r"be opened|Can't find shared library name|Failed to open serialized weights "
            r"file)"
        ),
    ),
    summary="The weights behind the library are not as they were packaged: {what}",
    means=(
        "The library was truncated, changed after linking (strip, patchelf, repacking) "
        "or removed while loading. On Windows a library above 2 GB gives the alignment "
        "text."
    ),
    fixes=(
        Fix(what="Copy the package again and compare checksums; do not strip or patch the library"),
        Fix(what="Point TMPDIR to a directory that is kept while the model lives"),
        Fix(what="On Windows upgrade torch, or keep the weights in a file of their own"),
    ),
    guide="guides/constants.md#missing-weight-files",
    next_tool="inspect_package",
    references=("pytorch/pytorch#186357",),
    matches=(
        Sample(
            "RuntimeError: Weights data seems corrupt",
            "quoted",
            "words of aoti_runtime, 2.8 and later",
        ),
        Sample(
            "RuntimeError: Weigths data seems corrupt",
            "quoted",
            "words of aoti_runtime, 2.6 and 2.7",
        ),
        Sample(
            "RuntimeError: Shared library file is smaller than embedded weights size",
            "quoted",
            "words of aoti_runtime, 2.13 and later",
        ),
        Sample(
            "RuntimeError: Failed to seek to end of shared library file",
            "quoted",
            "words of aoti_runtime, 2.13 and later",
        ),
        Sample(
            "RuntimeError: weights_offset must be aligned to 16K boundary",
            "quoted",
            "pytorch/pytorch#186357",
        ),
        Sample(
            "Error: Shared library file cannot be opened",
            "quoted",
            "words of aoti_runtime/model_base.h",
        ),
        Sample(
            "Error: Can't find shared library name", "quoted", "words of aoti_runtime/model_base.h"
        ),
        Sample(
            "RuntimeError: Failed to open serialized weights file",
            "quoted",
            "words of the package loader",
        ),
    ),
)
