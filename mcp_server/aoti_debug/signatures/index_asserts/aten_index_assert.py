from aoti_debug.signatures.signature import Signature, fix, quoted

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
        "dstIndex < dst",
        "srcIndex < src",
        "cur_target >= 0",
        "cur_target < n_classes",
        "target_k >= 0",
        "idx >= 0 && idx <",
        "ind < num_weights",
        "input_idx < numRows",
        "index >= 0 && index <",
        "0 <= index && index <",
        "maxind >= 0",
        "vectorized gather kernel index out of bounds",
        "offset >= 0 && offset <",
        "idx < num_embeddings",
        "index < num_embeddings",
    ),
    patterns=(
        (
            r"Assertion `?(?P<condition>dstIndex < dst\w{1,40}|srcIndex < src\w{1,40}"
            "|cur_target "
            "(?:>= 0|< n_classes)[^`]{0,60}?|target_k >= 0[^`]{0,80}?|idx >= 0 && idx < "
            "[^`]{1,60}?"
            "|ind < num_weights|input_idx < numRows[^`]{0,60}?|index >= 0 && index < "
            "[^`]{1,60}?|0 "
            "<= index && index < [^`]{1,60}?|maxind >= 0[^`]{0,60}?|[^`]{0,80}vectorized "
            "gather "
            "kernel index out of bounds[^`]{0,4}|offset >= 0 && offset < [^`]{1,60}?|(?:idx"
            "|index) "
            "< num_embeddings)`? failed"
        ),
        (
            r"Assertion `?(?P<condition>srcIndex < srcSelectDimSize|-sizes\[i\] <= "
            r"index[^`]{0,80}?|index >= -sizes\[i\][^`]{0,80}?|ind ?>= ?0 && ind < "
            "ind_dim_size[^`]{0,60}|t >= 0 && t < n_classes|idx_dim >= 0[^`]{0,80}?)`? failed"
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
    fixes=(fix("Validate the index tensor against the dimension before the call"),),
    guide="guides/triton-index-out-of-bounds.md#read-the-message",
    next_tool="triage",
    matches=(
        quoted(
            "../aten/src/ATen/native/cuda/Indexing.cu:1236: indexSelectSmallIndex: block: "
            "[0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.",
            "common form in public threads",
        ),
        quoted(
            "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: "
            "[0,0,0], thread: [1,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "
            '"index out of bounds"` failed.',
            "common form in public threads",
        ),
        quoted(
            "/pytorch/aten/src/ATen/native/cuda/NLLLoss2d.cu:104: nll_loss2d_forward_kernel: "
            "block: [1,0,0], thread: [9,0,0] Assertion `cur_target >= 0 && cur_target < "
            "n_classes` failed.",
            "condition of NLLLoss2d.cu",
        ),
    ),
    apart_from=("gpu_index_assert",),
)
