from aoti_debug.signatures.signature import Signature, recorded

SIGNATURE = Signature(
    id="run_call_failed",
    family="E",
    phase="run",
    category="contract_shape",
    role="envelope",
    weight=40,
    confidence="possible",
    anchors=("run_func_(",),
    patterns=(r"run_func_\(.{0,400}API call failed at \S{0,300}model_container_runner",),
    summary="The model failed while running; the reason is the `Error:` line on stderr",
    means=(
        "Only an envelope. Up to 2.12 every failed run says exactly this and the reason "
        "stands on stderr above it."
    ),
    check="Read stderr: the `Error:` line and the `Exception in aoti_torch` line before it.",
    guide="guides/debugging-tools.md#api-call-failed",
    next_tool="triage",
    matches=(
        recorded(
            "RuntimeError: run_func_( container_handle_, input_handles.data(), "
            "input_handles.size(), output_handles.data(), output_handles.size(), "
            "reinterpret_cast<AOTInductorStreamHandle>(stream_handle), "
            "proxy_executor_handle_) API call failed at /pytorch/torch/csrc/inductor/"
            "aoti_runner/model_container_runner.cpp, line 144",
            "torch 2.11.0, H200",
        ),
    ),
    apart_from=("constant_update_failed",),
)
