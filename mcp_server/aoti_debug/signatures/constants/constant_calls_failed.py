from aoti_debug.signatures.signature import Signature, quoted

SIGNATURE = Signature(
    id="constant_calls_failed",
    family="D",
    phase="constants",
    category="constants_mismatch",
    role="envelope",
    weight=48,
    anchors=(
        "get_constant_",
        "extract_constants_map_func_(",
        "get_num_constants_func_(",
        "run_const_fold_func_(",
        "free_inactive_constant_buffer_func_(",
        "get_constants_blob_size_func_(",
        "update_constants_from_blob_func_(",
        "update_constant_buffer_from_cpu_func_(",
    ),
    patterns=(
        (
            r"(?P<call>get_constant\w{1,40}_func_|extract_constants_map_func_"
            "|get_num_constants_func_|run_const_fold_func_"
            "|free_inactive_constant_buffer_func_"
            r"|update_constants?_\w{1,30}_func_)\(.{0,400}API call failed at "
        ),
    ),
    summary="{call} failed; the reason is the `Error:` line on stderr",
    means=(
        "Asking the model for its constants, folding or freeing them failed. The exception "
        "holds no reason, only stderr does."
    ),
    check="Read stderr just above this line.",
    guide="guides/debugging-tools.md#api-call-failed",
    next_tool="triage",
    matches=(
        quoted(
            "RuntimeError: run_const_fold_func_( container_handle_, use_inactive, "
            "cuda_stream_handle, proxy_executor_handle_) API call failed at "
            "model_container_runner.cpp, line 250",
            "text of libtorch_cpu.so 2.13",
        ),
        quoted(
            "RuntimeError: get_constants_blob_size_func_(container_handle_, &weights_size) "
            "API call failed at model_container_runner.cpp, line 330",
            "text of libtorch_cpu.so 2.13",
        ),
    ),
)
