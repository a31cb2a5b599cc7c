from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="program_of_another_version",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=80,
    anchors=(
        "does not match our current schema version",
        "Attempted to read a PyTorch file with version ",
        "supported version for reading is",
        "unsupported archive format from the preview release",
        "Unknown builtin op: ",
        "Unknown type name '",
        "Version in the saved file has incorrect length",
    ),
    patterns=(
        (
            "(?P<what>Serialized version .{1,40}? does not match our current schema "
            "version|Attempted to read a PyTorch file with version "
            r"\d{1,6}|(?:minimum|maximum) supported version for reading is|unsupported "
            "archive format from the preview release|Version in the saved file has incorrect "
            r"length|Unknown builtin op: \S{1,100})"
        ),
    ),
    summary="The saved program is of another torch release: {what}",
    means=(
        "A newer or a much older torch wrote the file than the one that reads it, or the "
        "operators it names are not in this build."
    ),
    mistaken_for="A damaged file.",
    fixes=(
        fix("Read it with the release that wrote it, or export again with this one"),
        fix("For an unknown operator import the library that registers it first"),
    ),
    guide="guides/package-and-load.md#torch-versions-of-both-sides",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: Serialized version 8.1 does not match our current schema version 5.1.",
            "words of torch/export/__init__.py",
        ),
        quoted(
            "RuntimeError: Attempted to read a PyTorch file with version 10, but the maximum "
            "supported version for reading is 9.",
            "words of caffe2/serialize/inline_container.cc",
        ),
        quoted("Unknown builtin op: torchvision::nms.", "words of torch.jit.load"),
    ),
)
