from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="torchbind_unsupported",
    family="L",
    phase="package",
    category="lowering_error",
    weight=72,
    anchors=("SerializeError", "ScriptObject", "call_torchbind", "torchbind"),
    patterns=(
        "SerializeError: .{0,200}(?:ScriptObject|torchbind|custom ?obj)",
        "call_torchbind",
    ),
    summary=(
        "The graph holds a TorchBind (ScriptObject) object in a place AOTInductor cannot handle"
    ),
    means=(
        "Script objects work only as attributes of the model and only in newer releases; as "
        "graph inputs or in older ones packaging or lowering fails."
    ),
    fixes=(fix("Make the object an attribute of the module, or pass its tensors instead"),),
    guide="guides/custom-ops.md#torchbind-objects",
    next_tool="minify",
    references=("pytorch/pytorch#147283", "pytorch/pytorch#139911", "pytorch/pytorch#149965"),
    matches=(
        quoted(
            "torch._export.serde.serialize.SerializeError: Unsupported argument type: <class "
            "'torch.ScriptObject'>",
            "pytorch/pytorch#147283",
        ),
        quoted("  target: call_torchbind", "pytorch/pytorch#139911"),
    ),
    neighbours=(
        recorded(
            "torch._export.serde.serialize.SerializeError: We failed to resolve "
            "torch.ops.lab5.oops.default to an operator."
        ),
    ),
)
