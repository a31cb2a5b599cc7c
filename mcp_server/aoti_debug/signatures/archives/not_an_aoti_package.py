from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="not_an_aoti_package",
    family="E",
    phase="load",
    category="package_corrupt",
    weight=79,
    anchors=(
        "Failed to find a generated cpp file or so file for model 'model'",
        "No files found in zip archive",
    ),
    patterns=(
        (
            "Failed to find a generated cpp file or so file for model 'model'|No files found "
            "in zip archive"
        ),
    ),
    summary="The archive holds no compiled model called `model`",
    means=(
        "torch.export.save wrote it (an exported program, not compiled), its model has "
        "another name, or it is empty."
    ),
    check=(
        "unzip -l FILE: models/model.json means an exported program, data/aotinductor/NAME/ "
        "gives the name."
    ),
    fixes=(
        fix(
            "Compile first: torch._inductor.aoti_compile_and_package(torch.export.load(path), "
            "package_path='m.pt2')"
        ),
        fix("Or pass the model's name as model_name"),
    ),
    guide="guides/package-and-load.md#not-an-aoti-package",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Failed to find a generated cpp file or so file for model 'model' "
            "in the zip archive.",
            "torch 2.13.0, CPU",
        ),
        recorded("RuntimeError: No files found in zip archive.", "torch 2.13.0, CPU"),
    ),
    apart_from=("model_not_in_package",),
)
