from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="not_an_aoti_package",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=79,
    anchors=(
        "Failed to find a generated cpp file or so file for model 'model'",
        "No files found in zip archive",
        "No AOTInductor generate cpp file or so file found in zip archive",
    ),
    patterns=(
        (
            r"Failed to find a generated cpp file or so file for model 'model'|No files "
            r"found in zip archive|No AOTInductor generate cpp file or so file found in zip "
            r"archive\."
        ),
    ),
    summary="The archive holds no compiled model called `model`",
    means=(
        "torch.export.save wrote it (an exported program, not compiled), its model has "
        "another name, or it is empty."
    ),
    check=(
        "unzip -l FILE: models/model.json means an exported program, "
        "data/aotinductor/NAME/ gives the name."
    ),
    fixes=(
        Fix(
            what=(
                "Compile first: torch._inductor.aoti_compile_and_package(torch.export.load(path)"
                ", package_path='m.pt2')"
            )
        ),
        Fix(what="Or pass the model's name as model_name"),
    ),
    guide="guides/package-and-load.md#not-an-aoti-package",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "RuntimeError: Failed to find a generated cpp file or so file for model 'model' "
                "in the zip archive."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample("RuntimeError: No files found in zip archive.", "recorded", "torch 2.13.0, CPU"),
        Sample(
            (
                "RuntimeError: No AOTInductor generate cpp file or so file found in zip "
                "archive. Loaded the following:"
            ),
            "quoted",
            "words of the 2.6 and 2.7 loader",
        ),
    ),
    neighbours=(
        Sample(
            (
                "RuntimeError: Failed to find a generated cpp file or so file for model 'nope' "
                "in the zip archive."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
