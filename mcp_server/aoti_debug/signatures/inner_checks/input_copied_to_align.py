from aoti_debug.signatures.signature import Signature, fix, recorded

SIGNATURE = Signature(
    id="input_copied_to_align",
    family="A",
    phase="run",
    category="performance",
    role="symptom",
    weight=40,
    confidence="proved",
    anchors=("-bytes aligned, but it is not aligned at run time",),
    patterns=(
        (
            r"Input (?P<input>\d{1,20}) was compiled as (?P<bytes>\d{1,20})-bytes aligned"
            r", but it is "
            "not aligned at run time"
        ),
    ),
    summary=("Input {input} does not start on a {bytes}-byte boundary and is copied at each call"),
    means=(
        "A warning: the result is right, the call is slower. It comes from views with an odd "
        "offset."
    ),
    mistaken_for="The reason of a crash or of wrong numbers.",
    fixes=(fix("Pass input {input} as x.clone(), or export with a view of the same offset"),),
    guide="guides/inputs-and-devices.md#misaligned-inputs",
    since="2.7",
    references=("pytorch/pytorch#141891",),
    matches=(
        recorded(
            "c5thbkdbl4vr4i2xtdohaf7bnv6ue4eovn2zj2gnzjfcbkkbu7dt.wrapper.cpp:851] Warning: "
            '"Input 0 was compiled as 16-bytes aligned, but it is not aligned at run time.',
            "torch 2.11.0, H200",
        ),
    ),
    apart_from=("input_not_aligned",),
)
