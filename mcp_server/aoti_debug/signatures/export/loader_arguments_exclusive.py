from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="loader_arguments_exclusive",
    family="D",
    phase="load",
    category="user_code",
    weight=80,
    confidence="proved",
    anchors=("allow_h2d_copy is not supported with user_managed", "num_runners must be "),
    patterns=(
        (
            "(?P<what>allow_h2d_copy is not supported with user_managed|num_runners must be "
            "(?:1 when run_single_threaded is true|>=1 when run_single_threaded is false))"
        ),
    ),
    summary="Arguments of the loader exclude each other: {what}",
    means=(
        "user_managed keeps your pointers while allow_h2d_copy copies; single-threaded mode "
        "has one runner."
    ),
    fixes=(fix("Drop one of the two arguments"),),
    guide="guides/lowering-and-cpp.md#calling-the-api-wrongly",
    matches=(
        recorded(
            "RuntimeError: load_constants: allow_h2d_copy is not supported with user_managed",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: num_runners must be 1 when run_single_threaded is true",
            "words of the package loader",
        ),
    ),
)
