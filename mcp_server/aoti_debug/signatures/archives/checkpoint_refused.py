from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="checkpoint_refused",
    family="E",
    phase="load",
    category="user_code",
    weight=66,
    anchors=(
        "Weights only load failed",
        "Unsupported global: GLOBAL",
        "Cannot use ``weights_only=True`` with",
        "did you mean to use torch.jit.load()",
    ),
    patterns=(
        (
            r"(?P<what>Weights only load failed|Unsupported global: GLOBAL \S{1,100}|Cannot "
            r"use ``weights_only=True`` with .{1,40}|did you mean to use torch\.jit\.load\(\))"
        ),
    ),
    summary="torch.load does not open this file the safe way: {what}",
    means=(
        "Since 2.6 torch.load reads tensors only. A whole pickled module, a TorchScript "
        "archive or a file that is no checkpoint at all (a Git LFS pointer, for one) ends "
        "here, before anything is compiled."
    ),
    mistaken_for="A damaged package.",
    check="file and head -c 100 of the file.",
    fixes=(
        fix(
            "Save and load a state_dict; weights_only=False for a file you trust; "
            "torch.jit.load for TorchScript"
        ),
    ),
    guide="guides/package-and-load.md#not-an-aoti-package",
    next_tool="inspect_package",
    matches=(
        recorded(
            "_pickle.UnpicklingError: Weights only load failed. This file can still be "
            "loaded, to do so you have two options",
            "torch 2.13.0, CPU",
        ),
        recorded(
            "RuntimeError: Cannot use ``weights_only=True`` with TorchScript archives passed "
            "to ``torch.load``.",
            "torch 2.13.0, CPU",
        ),
    ),
    apart_from=("checkpoint_damaged",),
)
