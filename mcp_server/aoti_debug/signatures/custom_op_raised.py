from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="custom_op_raised",
    family="L",
    phase="run",
    category="user_code",
    role="symptom",
    weight=54,
    anchors=(
        "custom_ops.py(",
        "aoti_torch_proxy_executor_call_function",
    ),
    patterns=(
        r"custom_ops\.py\(\d+\): (?:wrapped_fn|backend_impl)",
        r"^(?=.* API call failed).*\baoti_torch_proxy_executor_call_function\(",
    ),
    summary="A custom operator raised while the compiled model called it",
    means=(
        "The lines after `At:` are the Python stack of the operator; the exception text "
        "above them is its own."
    ),
    mistaken_for="An AOTInductor fault",
    check="Call the operator directly on the same tensors",
    fixes=(Fix(what="Correct the operator at the first line after `At:`"),),
    guide="guides/custom-ops.md#an-op-that-raises",
    next_tool="triage",
    matches=(
        Sample(
            (
                "  /opt/torch/.venv/lib/python3.12/site-packages/torch/_library/cust"
                "om_ops.py(382): wrapped_fn"
            ),
            "recorded",
            "torch 2.11",
        ),
        Sample(
            (
                "  "
                "/tmp/v/dev/lib/python3.11/site-packages/torch/_library/custom_ops.py(441): "
                "backend_impl"
            ),
            "recorded",
            "torch 2.13",
        ),
    ),
)
