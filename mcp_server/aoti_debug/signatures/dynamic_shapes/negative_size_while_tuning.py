from aoti_debug.signatures.signature import Signature, fix, quoted

SIGNATURE = Signature(
    id="negative_size_while_tuning",
    family="B",
    phase="autotune",
    category="autotune_error",
    weight=76,
    anchors=("Storage size calculation overflowed with sizes=[",),
    patterns=(
        (
            "Storage size calculation overflowed with "
            r"sizes=\[(?P<sizes>[^\]]{0,80}-\d[^\]]{0,80})\]"
        ),
    ),
    summary="A tensor of sizes [{sizes}] was to be allocated: a size is negative",
    means=(
        "Inductor guesses sizes that come from data independently, so a difference of two can "
        "be negative in the tuning block (or at run time, from a wrong assertion)."
    ),
    mistaken_for="Out of memory or an illegal access in your kernel.",
    fixes=(
        fix("Bound the data-dependent size with torch._check(u0 <= x.shape[0]) before export"),
        fix("Upgrade torch"),
    ),
    guide="guides/dynamic-shapes.md#negative-sizes-while-tuning",
    references=("pytorch/pytorch#190589",),
    matches=(
        quoted(
            "RuntimeError: Storage size calculation overflowed with sizes=[-1008, 64] and "
            "strides=[64, 1]",
            "pytorch/pytorch#190589",
        ),
    ),
    neighbours=(
        quoted(
            "RuntimeError: Storage size calculation overflowed with sizes=[9223372036854775807]",
            "another failure",
        ),
    ),
)
