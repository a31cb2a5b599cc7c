from aoti_debug.signatures.signature import Signature, recorded

SIGNATURE = Signature(
    id="exported_program_unreadable",
    family="E",
    phase="load",
    category="package_incompatible",
    role="envelope",
    weight=46,
    anchors=("We ran into an error when deserializing the saved file",),
    patterns=("We ran into an error when deserializing the saved file",),
    summary="torch.export.load could not read the file; the reason stands above",
    means=(
        "A compiled package given to torch.export.load, a custom op that is not registered, "
        "or a file of another torch release."
    ),
    check="Read the warnings above; unzip -l FILE shows models/ for an exported program.",
    guide="guides/package-and-load.md#not-an-aoti-package",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: We ran into an error when deserializing the saved file.",
            "torch 2.13.0, CPU",
        ),
    ),
)
