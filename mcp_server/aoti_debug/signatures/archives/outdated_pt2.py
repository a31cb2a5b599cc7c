from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="outdated_pt2",
    family="E",
    phase="load",
    category="package_incompatible",
    role="envelope",
    confidence="possible",
    anchors=("Loading outdated pt2 file",),
    patterns=(r"Loading outdated pt2 file\. Please regenerate your package",),
    summary="The first loader failed; the file is rarely outdated",
    means=(
        "Any RuntimeError of the new loader prints this (missing compiler, wrong device, "
        "damaged archive), then the old loader runs. If that one works, there was no fault."
    ),
    mistaken_for="A package of an old torch.",
    check=(
        "Call torch.export.pt2_archive._package.load_pt2(path) to see the first error; read "
        "the error below."
    ),
    fixes=(
        fix("Fix the error that follows; if none follows, install a C++ compiler or ignore it"),
    ),
    guide="guides/package-and-load.md#loading-outdated-pt2-file",
    next_tool="inspect_package",
    since="2.8",
    references=("pytorch/pytorch#152495", "pytorch/pytorch#153795"),
    matches=(
        recorded(
            "torch/_inductor/package/package.py:120] Loading outdated pt2 file. Please "
            "regenerate your package.",
            "torch 2.13.0, CPU",
        ),
    ),
)
