from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="custom_op_unresolved",
    family="L",
    phase="load",
    category="custom_op_missing",
    weight=82,
    confidence="proved",
    anchors=(
        "We failed to resolve torch.ops",
        "'_OpNamespace'",
        "No such operator",
        "does not exist or was not found",
    ),
    patterns=(
        r"We failed to resolve (?P<op>torch\.ops[\w.]+) to an operator",
        r"'_OpNamespace' '(?P<ns>\w+)' object has no attribute '(?P<name>\w+)'",
        r"No such operator (?P<full>[\w:]+)",
    ),
    summary="An operator of the graph is not registered in this process",
    means=(
        "The exported program or script refers to a custom or Triton op whose defining "
        "module was not imported. The stock minifier launcher and other fresh processes "
        "fail like this."
    ),
    mistaken_for="A damaged file",
    check="Import the module that registers the op, then load again",
    fixes=(Fix(what="Import the defining module at the top of the script or launcher"),),
    guide="guides/custom-ops.md#ops-in-fresh-processes",
    next_tool="triage",
    matches=(
        Sample(
            (
                "W1121 05:31:45.896000 3347 torch/export/__init__.py:348] "
                "torch._export.serde.serialize.SerializeError: We failed to resolve "
                "torch.ops.lab5.oops.default to an operator."
            ),
            "recorded",
            "torch 2.11, minifier launcher (cut)",
        ),
        Sample(
            "AttributeError: '_OpNamespace' 'my_ops' object has no attribute 'fused'",
            "quoted",
            "text of torch/_ops.py",
        ),
    ),
)
