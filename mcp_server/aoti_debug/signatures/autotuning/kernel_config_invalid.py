from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="kernel_config_invalid",
    family="K",
    phase="autotune",
    category="autotune_error",
    weight=60,
    anchors=(
        "TritonKernel.indexing assumes",
        "' too large. Maximum: ",
        "rnumels exceed size_hints",
        "exceeds Triton maximum",
        "Reduction config exceeds cudaDeviceProp maxGridSize",
        "Precomputed grid not found for",
        "Cooperative reductions don't support tiling",
        "Autotuned launcher config does not match",
        "Coordinate descent tuner relies on the assumption",
        "triton configs with pre_hooks not supported",
        "reset_to_zero_arg_names should only contain valid",
        "Error while pruning configs",
        "for each config in triton.autotune",
        "pre_hook is not supported in triton.Autotune",
        "Passing prune_configs_by",
        "Conflicting meta-parameters: ",
    ),
    patterns=(
        (
            r"TritonKernel\.indexing assumes|' too large\. Maximum: \d{1,20}|rnumels exceed "
            "size_hints|exceeds Triton maximum|Reduction config exceeds cudaDeviceProp"
            "|Precomputed grid not found for|Cooperative reductions don't support tiling"
            "|Autotuned launcher config does not match|Coordinate descent tuner relies on"
            "|triton configs with pre_hooks not supported|reset_to_zero_arg_names should only "
            "contain valid|Error while pruning configs|pre_hook is not supported in triton"
            "|Passing prune_configs_by|Conflicting meta-parameters: "
        ),
    ),
    summary="A kernel's configuration for tuning is not valid",
    means=(
        "Block sizes of a configuration contradict the sizes of the problem or the limits of "
        "Triton; for a user kernel, triton.autotune has an argument that is not supported."
    ),
    check="Which kernel? A generated one is Inductor's fault, a user kernel yours",
    fixes=(
        fix("For a user kernel keep `configs` and `key` only, with block sizes below the limit"),
        fix("For a generated kernel switch max_autotune and coordinate descent tuning off"),
    ),
    guide="guides/triton-and-autotuning.md#out-of-resource",
    next_tool="triage",
    matches=(
        quoted(
            "AssertionError: 'XBLOCK' too large. Maximum: 4096. Actual: 8192.",
            "words of torch/_inductor/runtime/triton_heuristics.py",
        ),
    ),
)
