from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="exported_program_not_loaded",
    family="P",
    phase="load",
    category="package_corrupt",
    role="envelope",
    weight=40,
    confidence="possible",
    anchors=(
        "ran into an error when deserializing the saved file",
        "following error when deserializing",
    ),
    patterns=(
        (
            "We ran into an error when deserializing the saved file|"
            "Ran into the following error when deserializing"
        ),
    ),
    summary=(
        "torch.export.load could not read the saved program; the reason is in the warnings above"
    ),
    means=(
        "The envelope of any failure while loading an exported program: an unregistered "
        "operator, another torch version, a damaged file."
    ),
    check="The last `Error:` of the warnings above",
    fixes=(Fix(what="Import the modules that register custom ops, then load again"),),
    guide="guides/custom-ops.md#ops-in-fresh-processes",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "RuntimeError: We ran into an error when deserializing the saved file. "
                "Please check the warnings above for possible errors. "
            ),
            "recorded",
            "torch 2.11",
        ),
        Sample(
            (
                "W1121 05:31:45.896000 3347 torch/export/__init__.py:348] Ran into the "
                "following error when deserializing"
            ),
            "recorded",
            "torch 2.11",
        ),
    ),
)
