from aoti_debug.signatures.signature import Signature, quoted

SIGNATURE = Signature(
    id="create_call_failed",
    family="E",
    phase="load",
    category="package_incompatible",
    weight=38,
    confidence="possible",
    anchors=("create_func_(",),
    patterns=(r"create_func_\(.{0,400}API call failed at \S{0,300}model_container_runner",),
    summary="The model could not be created; the reason is the `Error:` line on stderr",
    means=(
        "Only an envelope: wrong device type (`CUDA error: invalid argument` means a CPU "
        "library in the CUDA runner), out of memory, damaged weights."
    ),
    check="Read stderr above this line, and the package's device.",
    guide="guides/debugging-tools.md#api-call-failed",
    next_tool="inspect_package",
    references=("pytorch/torchchat#709",),
    matches=(
        quoted(
            "  what():  create_func_( &container_handle_, num_models, device_str.c_str(), "
            "cubin_dir.empty() ? nullptr : cubin_dir.c_str()) API call failed at "
            "../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 49",
            "pytorch/torchchat#709",
        ),
    ),
)
