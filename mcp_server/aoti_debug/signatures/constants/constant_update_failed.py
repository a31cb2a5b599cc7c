from aoti_debug.signatures.signature import Signature, quoted, recorded

SIGNATURE = Signature(
    id="constant_update_failed",
    family="D",
    phase="constants",
    category="constants_mismatch",
    role="envelope",
    anchors=(
        "update_constant_buffer_func_(",
        "update_inactive_constant_buffer_func_(",
        "update_user_managed_constant_buffer_func_(",
        "swap_constant_buffer_func_(",
        "run_const_func_(",
    ),
    patterns=(
        (
            r"(?P<call>(?:update|swap)_\w{0,60}constant_buffer_func_"
            r"|run_const_func_)\(.{0,400}API call failed at "
        ),
    ),
    summary="{call} failed; the reason is the `Error:` line on stderr",
    means=(
        "Updating, folding or swapping constants failed. In every release the exception holds "
        "no reason, only stderr does."
    ),
    check="Read stderr just above this line.",
    guide="guides/debugging-tools.md#api-call-failed",
    next_tool="triage",
    matches=(
        recorded(
            "RuntimeError: update_constant_buffer_func_( container_handle_, "
            "(AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API "
            "call failed at /__w/pytorch/pytorch/torch/csrc/inductor/aoti_runner/"
            "model_container_runner.cpp, line 289",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "RuntimeError: update_inactive_constant_buffer_func_( container_handle_, "
            "(AOTInductorConstantMapHandle)&const_map) API call failed at "
            "../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 120",
            "words of the runner",
        ),
        quoted(
            "RuntimeError: update_user_managed_constant_buffer_func_( container_handle_, "
            "(AOTInductorConstantMapHandle)&const_map, use_inactive, check_full_update) API "
            "call failed at model_container_runner.cpp, line 300",
            "words of the runner",
        ),
        quoted(
            "RuntimeError: swap_constant_buffer_func_(container_handle_) API call failed at "
            "model_container_runner.cpp, line 310",
            "words of the runner",
        ),
        quoted(
            "RuntimeError: run_const_func_( container_handle_, use_inactive, stream_handle) "
            "API call failed at model_container_runner.cpp, line 320",
            "words of the runner",
        ),
    ),
    neighbours=(
        quoted(
            "RuntimeError: run_func_( container_handle_, input_handles.data()) API call "
            "failed at model_container_runner.cpp, line 144",
            "another failure",
        ),
    ),
)
