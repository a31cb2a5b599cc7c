from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="archive_version_mismatch",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=82,
    anchors=("Saved archive version ", "Invalid archive format"),
    patterns=(
        (
            r"(?P<what>Saved archive version \S{1,20} does not match our current archive "
            r"version \S{1,20}|AssertionError: Invalid archive format)"
        ),
    ),
    summary="The archive is of another format: {what}",
    means="It was written by a torch with another package format, or by another tool.",
    fixes=(fix("Compile with the torch release that loads the package"),),
    guide="guides/package-and-load.md#torch-versions-of-both-sides",
    next_tool="inspect_package",
    since="2.8",
    matches=(
        recorded(
            "ValueError: Saved archive version 99 does not match our current archive version 0.",
            "torch 2.13.0, CPU",
        ),
        recorded("AssertionError: Invalid archive format", "torch 2.13.0, CPU"),
    ),
)
