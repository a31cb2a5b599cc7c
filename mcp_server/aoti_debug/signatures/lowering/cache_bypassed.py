from aoti_debug.signatures.signature import Signature, quoted

SIGNATURE = Signature(
    id="cache_bypassed",
    family="J",
    phase="lower",
    category="no_fault",
    role="symptom",
    weight=4,
    confidence="possible",
    anchors=(
        "BypassFxGraphCache",
        "BypassAOTAutogradCache",
        "Failed to pickle cache key",
        "unable to load compiled graph",
        "unable to serialize compiled graph",
        "fx graph unable to write to cache",
        "Failed to remove temporary cache dir",
    ),
    patterns=(
        (
            "BypassFxGraphCache|BypassAOTAutogradCache|Failed to pickle cache key|unable to "
            "(?:load|serialize) compiled graph|fx graph unable to write to cache|Failed to "
            "remove temporary cache dir"
        ),
    ),
    summary="Inductor's cache was not used (a notice, not an error)",
    means="The graph is compiled without the cache, which only takes longer.",
    mistaken_for="The reason of a failure further down",
    guide="guides/memory-and-time.md#slow-compile",
    matches=(
        quoted(
            "torch._inductor.codecache.BypassFxGraphCache: Failed to pickle cache key",
            "words of torch/_inductor/codecache.py",
        ),
    ),
)
