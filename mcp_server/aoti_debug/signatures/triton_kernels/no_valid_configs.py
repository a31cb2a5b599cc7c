from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="no_valid_configs",
    family="K",
    phase="autotune",
    category="autotune_error",
    weight=62,
    anchors=(
        "No valid triton configs",
        "NoValidChoicesError",
        "No choices to select",
        "NoTritonConfigsError",
        "No triton configs are available",
        "No choices exist for backend",
        "All choices failed to compile for backend",
        "No valid choices generated for",
        "Non-empty TritonConfig list required",
        "has no attribute 'store_cubin'",
        "Only configs and keys are supported for triton.autotune",
    ),
    patterns=(
        (
            r"No valid triton configs(?:\. (?P<error>.{0,160}))?|NoValidChoicesError|No "
            "choices "
            r"to select|Only configs and keys are supported for triton\.autotune"
            "|NoTritonConfigsError|No triton configs are available|No choices exist for backend"
            "|All choices failed to compile for backend|No valid choices generated for"
            "|Non-empty TritonConfig list required|has no attribute 'store_cubin'"
        ),
    ),
    summary="No configuration of a kernel survived tuning",
    means=(
        "Every candidate failed to compile or to run; the reason of the last one follows. For "
        "user kernels only `configs` and `key` of triton.autotune are supported."
    ),
    fixes=(
        fix(
            "Offer smaller configurations; drop other triton.autotune arguments; add ATEN to "
            "max_autotune_gemm_backends"
        ),
    ),
    guide="guides/triton-and-autotuning.md#out-of-resource",
    next_tool="triage",
    references=("pytorch/pytorch#132562",),
    matches=(
        quoted(
            "RuntimeError: No valid triton configs. OutOfResources: out of resource: shared "
            "memory, Required: 184336, Hardware limit: 101376.",
            "text of triton_heuristics.py",
        ),
        quoted(
            "torch._inductor.select_algorithm.NoValidChoicesError: No choices to select.",
            "text of select_algorithm.py",
        ),
    ),
)
