from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="aten_index_assert",
    family="I",
    phase="run",
    category="index_out_of_bounds",
    weight=86,
    confidence="proved",
    anchors=(
        "srcSelectDimSize",
        "index >= -sizes[i]",
        "ind < ind_dim_size",
        "t >= 0 && t < n_classes",
        "idx_dim >= 0",
        "-sizes[i] <= index",
    ),
    patterns=(
        (
            "Assertion `?(?P<condition>srcIndex < srcSelectDimSize|"
            r"-sizes\[i\] <= index[^`]{0,80}?|index >= -sizes\[i\][^`]{0,80}?|"
            "ind ?>= ?0 && ind < ind_dim_size[^`]{0,60}|t >= 0 && t < n_classes|"
            "idx_dim >= 0[^`]{0,80}?)`? failed"
        ),
    ),
    summary="An ATen indexing kernel was given an index out of range ({condition})",
    means=(
        "A fallback or eager CUDA kernel (index_select, embedding, scatter, gather, loss) "
        "found an index beyond its dimension. It is ATen's check, not one that Inductor "
        "generated."
    ),
    mistaken_for="A broken compiled kernel",
    check=("Call the op eagerly on the CPU with the same index tensor: it raises with the value"),
    fixes=(Fix(what="Validate the index tensor against the dimension before the call"),),
    guide="guides/triton-index-out-of-bounds.md#read-the-message",
    next_tool="triage",
    matches=(
        Sample(
            (
                "../aten/src/ATen/native/cuda/Indexing.cu:1236: indexSelectSmallIndex: "
                "block: [0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` "
                "failed."
            ),
            "quoted",
            "common form in public threads",
        ),
        Sample(
            (
                "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: "
                "[0,0,0], thread: [1,0,0] Assertion `-sizes[i] <= index && index < sizes[i] "
                '&& "index out of bounds"` failed.'
            ),
            "quoted",
            "common form in public threads",
        ),
    ),
    neighbours=(
        Sample(
            (
                "/tmp/w/embed_oob-base/ic/kf/ckfrkydudem26ptascmpnnrmjbgdltfqds6xq"
                "ukry7hbdo6mz5y2.py:34: unknown: block: [0,3,0], thread: [5,0,0] Assertion "
                "`index out of bounds: 0 <= tmp4 < 1000` failed."
            ),
            "recorded",
        ),
    ),
)
