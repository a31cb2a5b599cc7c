from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="item_as_tensor_handle",
    family="B",
    phase="cpp_compile",
    category="cpp_error",
    weight=66,
    anchors=("RAIIAtenTensorHandle",),
    patterns=(
        (
            "(?:cannot convert|invalid user-defined conversion from|no viable conversion "
            r"from) .{0,120}RAIIAtenTensorHandle.{0,60}\bto\b.{0,30}(?:int64_t|long|double"
            "|bool)"
        ),
    ),
    summary="A scalar taken from a tensor is passed on as a tensor handle",
    means=(
        "item() of a tensor is used as a size or argument and the generator printed the "
        "tensor instead of the number."
    ),
    fixes=(fix("Upgrade torch, or compute that number outside the model"),),
    guide="guides/lowering-and-cpp.md#the-wrapper-does-not-compile",
    next_tool="minify",
    references=("pytorch/pytorch#122048",),
    matches=(
        recorded(
            "u.cpp:3:78: error: invalid user-defined conversion from ‘RAIIAtenTensorHandle’ "
            "to ‘int64_t’ {aka ‘long",
            "g++ 12 on a file of ours",
        ),
    ),
)
