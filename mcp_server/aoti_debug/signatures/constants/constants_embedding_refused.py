from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="constants_embedding_refused",
    family="D",
    phase="cpp_compile",
    category="lowering_error",
    weight=76,
    anchors=(
        "doesn't support constants greater than 2GB",
        "use_mmap_weights and use_mmap_weights_external",
        "use_external_weights and  use_mmap_weights",
        "use_mmap_weights should not be true",
        "allow_h2d_copy is not supported with user_managed",
    ),
    patterns=(
        (
            "(?P<what>Models with buffer mutation included doesn't support constants greater "
            "than 2GB|use_mmap_weights and use_mmap_weights_external should be "
            "true|use_external_weights and  use_mmap_weights cannot|use_mmap_weights should "
            "not be true|allow_h2d_copy is not supported with user_managed)"
        ),
    ),
    summary="This way of keeping the weights is not possible: {what}",
    means=(
        "Options for embedded, mapped and external weights exclude each other, and a model "
        "that writes to its buffers cannot have mapped weights."
    ),
    fixes=(
        fix(
            "Leave one of the options out, or keep the weights outside: "
            "package_constants_in_so=False"
        ),
    ),
    guide="guides/constants.md#too-large-to-embed",
    matches=(
        quoted(
            "ValueError: Models with buffer mutation included doesn't support constants "
            "greater than 2GB!",
            "words of torch/_inductor/codecache.py",
        ),
    ),
)
