from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="constant_update_failed",
    family="D",
    phase="constants",
    category="constants_mismatch",
    role="envelope",
    weight=50,
    anchors=(
        "update_constant_buffer_func_(",
        "update_inactive_constant_buffer_func_(",
        "update_user_managed_constant_buffer_func_(",
        "swap_constant_buffer_func_(",
        "run_const_func_(",
    ),
    patterns=(
        (
            r"(?P<call>(?:update|swap)_\w{0,60}constant_buffer_func_|run_const_func_)\(.{0,40"
            r"0}API call failed at "
        ),
    ),
    summary="{call} failed; the reason is the `Error:` line on stderr",
    means=(
        "Updating, folding or swapping constants failed. In every release the exception "
        "holds no reason, only stderr does."
    ),
    check="Read stderr just above this line.",
    guide="guides/debugging-tools.md#api-call-failed",
    next_tool="triage",
    matches=(
        Sample(
            (
                "RuntimeError: update_constant_buffer_func_( container_handle_, "
                "(AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API "
                "call failed at /__w/pytorch/pytorch/torch/csrc/inductor/aoti_runner/model_conta"
                "iner_runner.cpp, line 289"
            ),
            "recorded",
            "torch 2.13.0, CPU",
        ),
        Sample(
            (
                "RuntimeError: update_inactive_constant_buffer_func_( container_handle_, "
                "(AOTInductorConstantMapHandle)&const_map) API call failed at "
                "../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 120"
            ),
            "quoted",
            "words of the runner",
        ),
        Sample(
            (
                "RuntimeError: update_user_managed_constant_buffer_func_( container_handle_, "
                "(AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API "
                "call failed at model_container_runner.cpp, line 300"
            ),
            "quoted",
            "words of the runner",
        ),
        Sample(
            (
                "RuntimeError: swap_constant_buffer_func_(container_handle_) API call failed at "
                "model_container_runner.cpp, line 310"
            ),
            "quoted",
            "words of the runner",
        ),
        Sample(
            (
                "RuntimeError: run_const_func_( container_handle_, use_inactive, stream_handle) "
                "API call failed at model_container_runner.cpp, line 320"
            ),
            "quoted",
            "words of the runner",
        ),
    ),
    neighbours=(
        Sample(
            (
                "RuntimeError: run_func_( container_handle_, input_handles.data()) API call "
                "failed at model_container_runner.cpp, line 144"
            ),
            "quoted",
            "another failure",
        ),
    ),
)
