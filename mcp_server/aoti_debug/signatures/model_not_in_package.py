from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="model_not_in_package",
    family="E",
    phase="load",
    category="user_code",
    weight=78,
    anchors=(
        "Failed to find a generated cpp file or so file for model '",
        "found in zip archive with the prefix ",
    ),
    patterns=(
        (
            r"Failed to find a generated cpp file or so file for model "
            r"'(?P<model>(?!model')[^']{1,80})'"
        ),
        (
            r"found in zip archive with the prefix \S{0,120}data/aotinductor/(?P<model>\S{1,8"
            r"0}?)Loaded the following"
        ),
    ),
    summary="The package holds no model called {model}",
    means=(
        "The name given as model_name is not one of the package's; the lines below list "
        "those that it has."
    ),
    fixes=(
        Fix(what="Use a name of `Available models`, or leave model_name out for a single model"),
    ),
    guide="guides/package-and-load.md#wrong-model-name",
    next_tool="inspect_package",
    matches=(
        Sample(
            (
                "RuntimeError: Failed to find a generated cpp file or so file for model 'nope' "
                "in the zip archive."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive "
                "with the prefix base/data/aotinductor/nopeLoaded the following:"
            ),
            "quoted",
            "words of the 2.8 loader",
        ),
    ),
    neighbours=(
        Sample(
            (
                "RuntimeError: Failed to find a generated cpp file or so file for model 'model' "
                "in the zip archive."
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
    ),
)
