import re

from aoti_debug.signatures.signature import Signature, fix, quoted

FLEX = (
    "flex_attention on MPS",
    "FlexGEMM ",
    "Bq and Bkv must broadcast",
    "NYI: embedding dimension of the query",
    "but flash attention cannot be used",
    "but flex_decoding cannot be used",
    "Q and KV block size must be divisible by BLOCK_M",
    "Number of shared query heads sharing the same KV head",
    "supported in FlexAttention for CPU device",
    "Mixed query, key, and value dtype is not supported on this platform",
    "output node for flex attention's subgraph",
    "output node for the flex attention subgraph",
    "CuteDSL template failed",
    "only supports inference and `return_lse` is not supported",
    "seqlen must be smaller than the block_mask size",
    "in score_mod/mask_mod",
    "Flash attention with block mask but without full blocks",
)

SIGNATURE = Signature(
    id="flex_attention_unsupported",
    family="J",
    phase="lower",
    category="lowering_error",
    weight=60,
    anchors=FLEX,
    patterns=(f"(?P<what>{'|'.join(map(re.escape, FLEX))})",),
    summary="flex_attention is used in a way that Inductor's kernels do not cover: {what}",
    means=(
        "Its templates hold for some sizes, dtypes, devices and mask functions only; eager "
        "mode is more permissive."
    ),
    mistaken_for="A wrong attention mask",
    check="Does scaled_dot_product_attention in its place compile?",
    fixes=(
        fix("Change the size, dtype or captured tensor that the message names"),
        fix("Use scaled_dot_product_attention on this device"),
    ),
    guide="guides/lowering-and-cpp.md#lowering-exceptions",
    next_tool="minify",
    matches=(
        quoted(
            "NotImplementedError: NYI: embedding dimension of the query, key, and value must "
            "be at least 16 but got E=8 and Ev=8",
            "words of torch/_inductor/kernel/flex/flex_attention.py",
        ),
    ),
)
