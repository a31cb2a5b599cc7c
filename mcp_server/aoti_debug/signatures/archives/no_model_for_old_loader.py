from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="no_model_for_old_loader",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=79,
    anchors=("No AOTInductor generate cpp file or so file found in zip archive",),
    patterns=(r"No AOTInductor generate cpp file or so file found in zip archive\.",),
    summary="This torch finds no compiled model where it looks for one",
    means=(
        "Loaders up to 2.7 look at the top of the archive; torch 2.8 and later write below a "
        "folder. Or torch.export.save wrote the file (not compiled)."
    ),
    check="unzip -l FILE: models/model.json means an exported program.",
    fixes=(fix("Load it with torch 2.8 or later, or compile it with the torch that loads it"),),
    guide="guides/package-and-load.md#torch-versions-of-both-sides",
    next_tool="inspect_package",
    until="2.7",
    matches=(
        quoted(
            "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive. "
            "Loaded the following:",
            "words of the 2.6 and 2.7 loader",
        ),
    ),
    apart_from=("not_an_aoti_package", "model_not_in_package"),
)
