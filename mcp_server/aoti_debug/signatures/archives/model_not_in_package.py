from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="model_not_in_package",
    family="E",
    phase="load",
    category="user_code",
    weight=78,
    anchors=(
        "Failed to find a generated cpp file or so file for model '",
        "found in zip archive with the prefix ",
        " not found in PT2 archive contents.",
        " not found in package",
    ),
    patterns=(
        (
            "Failed to find a generated cpp file or so file for model "
            "'(?P<model>(?!model')[^']{1,80})'"
        ),
        (
            "found in zip archive with the prefix "
            r"\S{0,120}data/aotinductor/(?P<model>\S{1,80}?)Loaded the following"
        ),
        r"Model (?P<model>\S{1,80}) not found in (?:package|PT2 archive contents)",
    ),
    summary="The package holds no model called {model}",
    means=(
        "The name given as model_name is not one of the package's; the lines below list those "
        "that it has."
    ),
    fixes=(fix("Use a name of `Available models`, or leave model_name out for a single model"),),
    guide="guides/package-and-load.md#wrong-model-name",
    next_tool="inspect_package",
    matches=(
        recorded(
            "RuntimeError: Failed to find a generated cpp file or so file for model 'nope' in "
            "the zip archive.",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: No AOTInductor generate cpp file or so file found in zip archive "
            "with the prefix base/data/aotinductor/nopeLoaded the following:",
            "words of the 2.8 loader",
        ),
        quoted(
            "RuntimeError: Model decoder not found in PT2 archive contents.",
            "words of torch/export/pt2_archive/_package.py",
        ),
    ),
    apart_from=("not_an_aoti_package",),
)
