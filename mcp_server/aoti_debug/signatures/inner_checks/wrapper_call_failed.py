from aoti_debug.signatures.signature import Signature, quoted, recorded

SIGNATURE = Signature(
    id="wrapper_call_failed",
    family="E",
    phase="run",
    category="contract_shape",
    role="envelope",
    weight=45,
    confidence="possible",
    anchors=(" API call failed at ",),
    patterns=(
        (
            r"(?:Error: |what\(\):\s{1,4}|^)(?P<call>aoti_torch_\w{1,100})\(.{0,2000} API "
            r"call failed at \S{1,400}\.cpp, line \d{1,20}"
        ),
    ),
    summary="{call} failed inside the model; the reason stands above it",
    means=(
        "An operator that the model calls raised. Up to 2.12 the line `Exception in "
        "aoti_torch: ...` before it holds the reason; on a GPU it may be the aftermath of an "
        "earlier kernel's fault."
    ),
    check="Read the lines above; on a GPU look for the first CUDA message.",
    guide="guides/debugging-tools.md#api-call-failed",
    next_tool="triage",
    matches=(
        recorded(
            "Error: aoti_torch_cuda_mm_out(buf1, wrap_with_raii_handle_if_needed("
            "reinterpret_tensor_wrapper(buf0, 2, int_array_4, int_array_5, 0L)), "
            "wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(fc_weight, 2, "
            "int_array_6, int_array_7, 0L))) API call failed at "
            "/tmp/w/embed_oob-base/ic/cfumwv5gqr2x46npkr4r3hbg4xfqn7khhowf7easy4f6e5hf24xj/"
            "cyheuzgo5nvzniuwjjfuqf6kmy4vv7nstzmyzfhcuwvbyikm7cov.wrapper.cpp, line 1016",
            "torch 2.11.0, H200",
        ),
    ),
    neighbours=(
        quoted(
            "RuntimeError: run_func_( container_handle_) API call failed at "
            "/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144",
            "another failure",
        ),
    ),
)
