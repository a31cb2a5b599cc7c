from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="custom_op_raised",
    family="L",
    phase="run",
    category="user_code",
    role="symptom",
    weight=54,
    anchors=("custom_ops.py(", "aoti_torch_proxy_executor_call_function"),
    patterns=(
        r"custom_ops\.py\(\d{1,20}\): (?:wrapped_fn|backend_impl)",
        r"^(?=.{0,300} API call failed).{0,300}\baoti_torch_proxy_executor_call_function\(",
    ),
    summary="A custom operator raised while the compiled model called it",
    means=(
        "The lines after `At:` are the Python stack of the operator; the exception text above "
        "them is its own."
    ),
    mistaken_for="An AOTInductor fault",
    check="Call the operator directly on the same tensors",
    fixes=(fix("Correct the operator at the first line after `At:`"),),
    guide="guides/custom-ops.md#an-op-that-raises",
    next_tool="triage",
    matches=(
        recorded(
            "  /opt/torch/.venv/lib/python3.12/site-packages/torch/_library/custom_ops.py("
            "382): wrapped_fn",
            "torch 2.11",
        ),
        recorded(
            "  /tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py(441): "
            "backend_impl",
            "torch 2.13",
        ),
        quoted(
            "Error: aoti_torch_proxy_executor_call_function(proxy_executor, 0, 1, "
            "std::vector<int64_t>{3}.data(), 2, handles.data()) API call failed at "
            "/tmp/model/c7x.wrapper.cpp, line 412",
            "text of the check around the call in generated code",
        ),
    ),
)
