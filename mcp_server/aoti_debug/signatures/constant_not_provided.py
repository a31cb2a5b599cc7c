from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"(?P<what>Found constant (?:or module state buffer )?(?:or empty module state "
            r"parameter )?\S{1,200} in model, but not provided by user!)"
        ),
        (
            r"(?P<what>Constants are not mmap'd|constant blob size is only available for "
            r"mmap'd weights|constants_map_ was not ready)"
        ),
    ),
    summary="Constants were not given before the first use: {what}",
    means=(
        "A package without embedded weights computes with whatever is there, or dies by "
        "SIGSEGV. As a warning of an intended partial update it is harmless."
    ),
    mistaken_for="A harmless note.",
    check="Were the weights packaged? inspect_package says so.",
    fixes=(Fix(what="Load every constant of get_constant_fqns() before the first call"),),
    guide="guides/constants.md#never-loaded",
    next_tool="inspect_package",
    matches=(
        Sample(
            "[WARNING] Found constant fc_bias in model, but not provided by user!",
            "quoted",
            "words of aoti_runtime, 2.6",
        ),
        Sample(
            (
                "[WARNING] Found constant or module state buffer or empty module state "
                "parameter fc_bias in model, but not provided by user!"
            ),
            "quoted",
            "words of aoti_runtime, 2.10 and later",
        ),
        Sample(
            (
                "Error: Constants are not mmap'd. Use AOTInductorModelUpdateConstantsBlob to "
                "initialize the constants first."
            ),
            "quoted",
            "words of aoti_runtime/model_base.h",
        ),
        Sample(
            "constant blob size is only available for mmap'd weights",
            "quoted",
            "words of aoti_runtime/model_base.h",
        ),
        Sample(
            ("constants_map_ was not ready when constants_ is trying to be constructed from it!"),
            "quoted",
            "words of aoti_runtime/model_base.h",
        ),
    ),
)
