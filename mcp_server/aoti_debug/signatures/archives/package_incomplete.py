from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="package_incomplete",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=74,
    anchors=(
        "Multiple wrapper shared libraries found in AOTI package",
        "Shared model directory is empty: ",
        "Failed to find parent path in ",
        "Expected json_file.is_open() to be true",
        "not found in PT2 archive",
        "Unable to find file with suffix ",
        "Unable to reconstruct complete tensor from group",
        "Cannot reconstruct tensor safely",
        "Failed to open custom obj file",
        "Invalid serialized ScalarType",
        "Serialized ScalarType value out of range",
    ),
    patterns=(
        (
            "(?P<what>Multiple wrapper shared libraries found in AOTI package.{0,80}|Shared "
            r"model directory is empty: \S{0,200}|Failed to find parent path in "
            r"\S{0,200}|Expected json_file\.is_open\(\) to be true|\S{1,200} not found in PT2 "
            r"archive(?! contents)|Unable to find file with suffix \S{1,40}|Unable to "
            "reconstruct complete tensor from group|Cannot reconstruct tensor safely|Failed "
            r"to open custom obj file|(?:Inv|S)\w{1,6} ?serialized ScalarType "
            "value|Serialized ScalarType value out of range)"
        ),
    ),
    summary="The package does not hold together: {what}",
    means=(
        "Files that belong together are missing, doubled or differ from what the index says: "
        "repacked by hand, merged from two packages, or written only in part."
    ),
    check="unzip -l FILE: one wrapper.so per model, with its metadata beside it.",
    fixes=(fix("Use the package exactly as aoti_compile_and_package wrote it, or compile again"),),
    guide="guides/package-and-load.md#damaged-archives",
    next_tool="inspect_package",
    matches=(
        quoted(
            "RuntimeError: Multiple wrapper shared libraries found in AOTI package for model "
            "'model'. Each model should have exactly one wrapper library.",
            "text of libtorch_cpu.so 2.13",
        ),
        quoted(
            "AssertionError: data/weights/model_weights_config.json not found in PT2 archive",
            "words of torch/export/pt2_archive/_package.py",
        ),
    ),
)
