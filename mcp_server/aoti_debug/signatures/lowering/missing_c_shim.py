from aoti_debug.signatures.signature import Signature, recorded

SIGNATURE = Signature(
    id="missing_c_shim",
    family="J",
    phase="lower",
    category="no_fault",
    role="symptom",
    weight=5,
    confidence="possible",
    anchors=("is missing a c-shim implementation",),
    patterns=(
        (
            r"(?:^|\s)(?P<op>[\w.:]{1,120}) is missing a c-shim implementation, using proxy "
            "executor as fallback"
        ),
    ),
    summary="{op} will be called through the dispatcher at run time (a notice, not an error)",
    means=(
        "The operator has no direct C function, so the model calls it by name: somewhat "
        "slower, and its library must be loaded where the model runs."
    ),
    mistaken_for="The reason of a later crash",
    guide="guides/lowering-and-cpp.md#ops-without-a-shim",
    references=("mir-group/nequip#563",),
    matches=(
        recorded(
            "W1121 07:33:58.079000 9567 torch/_inductor/ir.py:9214] aten._linalg_det.default "
            "is missing a c-shim implementation, using proxy executor as fallback",
            "torch 2.13 CPU",
        ),
    ),
)
