from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="int32_overflow",
    family="I",
    phase="triton_compile",
    category="triton_error",
    weight=70,
    confidence="proved",
    anchors=("is out of range for type int32",),
    patterns=(r"Scalar (?P<value>-?\d{1,20}) is out of range for type int32",),
    summary="A fused kernel's offset {value} does not fit in 32 bits",
    means=(
        "Inductor chose int32 indexing although a constant offset of the fused kernel exceeds "
        "2**31. With smaller offsets the same slip compiles and faults at run time."
    ),
    fixes=(
        fix(
            "Upgrade torch; or split the tensor so that no fused view spans more than 2**31 "
            "elements"
        ),
    ),
    guide="guides/cuda-illegal-memory-access.md#int32-index-overflow",
    next_tool="minify",
    references=("pytorch/pytorch#186057", "pytorch/pytorch#182193"),
    matches=(
        quoted(
            "ValueError: Scalar -2779057358 is out of range for type int32",
            "pytorch/pytorch#186057",
        ),
    ),
)
