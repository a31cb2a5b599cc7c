from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="foreign_engine",
    family="Q",
    phase="run",
    category="custom_op_missing",
    weight=58,
    anchors=(
        "torch.ops.tensorrt",
        "tensorrt::execute_engine",
        "torch_tensorrt",
        "executorch_call_delegate",
    ),
    patterns=(
        (
            "(?:schema for|resolve|operator|attribute|"
            r"Error).{0,80}(?:tensorrt::execute_engine|torch\.ops\.tensorrt|"
            "executorch_call_delegate)|'tensorrt' object has no attribute"
        ),
    ),
    summary=(
        "The package calls an engine of another runtime (TensorRT, ExecuTorch) that is not "
        "loaded here"
    ),
    means=(
        "The operator that runs the engine comes from that runtime's library, which must be "
        "imported before the package is loaded."
    ),
    fixes=(
        Fix(what=("import torch_tensorrt (or the runtime's library) before aoti_load_package")),
    ),
    guide="guides/other-platforms.md#other-runtimes",
    next_tool="inspect_package",
    references=("pytorch/TensorRT#3879",),
    matches=(
        Sample(
            "RuntimeError: Could not find schema for tensorrt::execute_engine.",
            "quoted",
            "pytorch/TensorRT#3879",
        ),
    ),
)
