from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="opened_by_wrong_function",
    family="E",
    phase="load",
    category="user_code",
    weight=58,
    confidence="possible",
    anchors=(
        "PytorchStreamReader failed locating file ",
        "must be a buffer or a file ending in .pt2",
    ),
    patterns=(
        (
            r"(?P<what>PytorchStreamReader failed locating file (?:data\.pkl|constants\.pkl"
            r"|archive_format|models/\S{1,80})|Unable to load package\. (?:Path|f) must be a "
            r"buffer or a file ending in \.pt2)"
        ),
    ),
    summary="The file is of another kind than this function reads: {what}",
    means=(
        "torch.load and torch.jit.load read checkpoints and TorchScript, aoti_load_package "
        "reads .pt2 packages, torch._export.aot_load a bare .so. The text about corruption is "
        "misleading then."
    ),
    mistaken_for="A corrupted file.",
    check="unzip -l FILE",
    fixes=(
        fix(
            "Load a compiled .pt2 with torch._inductor.aoti_load_package, an exported program "
            "with torch.export.load"
        ),
    ),
    guide="guides/package-and-load.md#not-an-aoti-package",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: PytorchStreamReader failed locating file data.pkl:",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: PytorchStreamReader failed locating file constants.pkl:",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "torch/export/pt2_archive/_package.py:1121] Unable to load package. f must be a "
            "buffer or a file ending in .pt2.",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "AssertionError: Unable to load package. Path must be a buffer or a file ending "
            "in .pt2. Instead got model.bin",
            "words of the 2.6 and 2.7 loader",
        ),
    ),
    neighbours=(
        quoted(
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
            "central directory",
            "another failure",
        ),
    ),
)
