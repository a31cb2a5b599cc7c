from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="exported_program_of_other_torch",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=72,
    anchors=(
        "does not match our current schema version",
        "Failed deserializing node ",
        "Unable to deserialize output node",
        "is not a valid tag for ",
        "Unable to load outdated profile",
    ),
    patterns=(
        (
            r"(?P<what>Serialized schema version .{1,80} does not match our current "
            r"schema version|Failed deserializing node .{1,120}|Unable to deserialize output "
            r"node|\w{1,200} is not a valid tag for \w{1,200}\. Available tags"
            r"|Unable to load outdated "
            "profile)"
        ),
    ),
    summary="The exported program was saved by a torch that this one does not read: {what}",
    means=(
        "The format of torch.export.save has a version, and fields and operators come and go "
        "between releases."
    ),
    mistaken_for="A damaged file",
    check="torch.__version__ where it was saved and here",
    fixes=(
        fix("Export again with this torch, or load it with the one that saved it"),
        fix("Send the compiled .pt2 package rather than the exported program"),
    ),
    guide="guides/package-and-load.md#torch-versions-of-both-sides",
    next_tool="check_environment",
    matches=(
        recorded(
            "torch._export.serde.serialize.SerializeError: Serialized schema version "
            "SchemaVersion(major=99, minor=20) does not match our current schema version "
            "(8, 20).",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "AssertionError: as_new is not a valid tag for Argument. Available tags: as_none",
            "words of torch/_export/serde/union.py",
        ),
    ),
)
