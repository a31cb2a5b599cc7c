from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="constant_not_provided",
    family="D",
    phase="constants",
    category="constants_missing",
    weight=64,
    anchors=(
        "but not provided by user!",
        "Constants are not mmap'd",
        "only available for mmap'd weights",
        "constants_map_ was not ready",
    ),
    patterns=(
        (
            "(?P<what>Found constant (?:or module state buffer )?(?:or empty module state "
            r"parameter )?\S{1,200} in model, but not provided by user!)"
        ),
        (
            "(?P<what>Constants are not mmap'd|constant blob size is only available for "
            "mmap'd weights|constants_map_ was not ready)"
        ),
    ),
    summary="Constants were not given before the first use: {what}",
    means=(
        "A package without embedded weights computes with whatever is there, or dies by "
        "SIGSEGV. As a warning of an intended partial update it is harmless."
    ),
    mistaken_for="A harmless note.",
    check="Were the weights packaged? inspect_package says so.",
    fixes=(fix("Load every constant of get_constant_fqns() before the first call"),),
    guide="guides/constants.md#never-loaded",
    next_tool="inspect_package",
    matches=(
        quoted(
            "[WARNING] Found constant fc_bias in model, but not provided by user!",
            "words of aoti_runtime, 2.6",
        ),
        quoted(
            "[WARNING] Found constant or module state buffer or empty module state parameter "
            "fc_bias in model, but not provided by user!",
            "words of aoti_runtime, 2.10 and later",
        ),
        quoted(
            "Error: Constants are not mmap'd. Use AOTInductorModelUpdateConstantsBlob to "
            "initialize the constants first.",
            "words of aoti_runtime/model_base.h",
        ),
        quoted(
            "constant blob size is only available for mmap'd weights",
            "words of aoti_runtime/model_base.h",
        ),
        quoted(
            "constants_map_ was not ready when constants_ is trying to be constructed from it!",
            "words of aoti_runtime/model_base.h",
        ),
    ),
)
