from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"(?P<what>PytorchStreamReader failed locating file "
            r"(?:data\.pkl|constants\.pkl|archive_format|models/\S{1,80})|Unable to load "
            r"package\. (?:Path|f) must be a buffer or a file ending in \.pt2)"
        ),
    ),
    summary="The file is of another kind than this function reads: {what}",
    means=(
        "torch.load and torch.jit.load read checkpoints and TorchScript, "
        "aoti_load_package reads .pt2 packages, torch._export.aot_load a bare .so. The "
        "text about corruption is misleading then."
    ),
    mistaken_for="A corrupted file.",
    check="unzip -l FILE",
    fixes=(
        Fix(
            what=(
                "Load a compiled .pt2 with torch._inductor.aoti_load_package, an exported "
                "program with torch.export.load"
            )
        ),
    ),
    guide="guides/package-and-load.md#not-an-aoti-package",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "RuntimeError: PytorchStreamReader failed locating file data.pkl: file not "
                "found. This is an internal miniz error."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "RuntimeError: PytorchStreamReader failed locating file constants.pkl: file not "
                "found. This is an internal miniz error."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "W1121 07:38:41.006000 12508 torch/export/pt2_archive/_package.py:1121] Unable "
                "to load package. f must be a buffer or a file ending in .pt2. Instead got "
                "{/tmp/e1/x_m.pt2/m/data/aotinductor/model/cq2mp6u6rite6a5jcv6ewicvloron7d7hejgo"
                "waxhlbrbo2ycd35.wrapper.so}"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "AssertionError: Unable to load package. Path must be a buffer or a file ending "
                "in .pt2. Instead got model.bin"
            ),
            "quoted",
            "words of the 2.6 and 2.7 loader",
        ),
    ),
    neighbours=(
        Sample(
            (
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory"
            ),
            "quoted",
            "another failure",
        ),
    ),
)
