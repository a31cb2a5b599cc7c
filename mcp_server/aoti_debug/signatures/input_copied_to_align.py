from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

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
            r"Input (?P<input>\d+) was compiled as (?P<bytes>\d+)-bytes aligned, but it is "
            r"not aligned at run time"
        ),
    ),
    summary=("Input {input} does not start on a {bytes}-byte boundary and is copied at each call"),
    means=(
        "A warning: the result is right, the call is slower. It comes from views with "
        "an odd offset."
    ),
    mistaken_for="The reason of a crash or of wrong numbers.",
    fixes=(Fix(what="Pass input {input} as x.clone(), or export with a view of the same offset"),),
    guide="guides/inputs-and-devices.md#misaligned-inputs",
    since="2.7",
    references=("pytorch/pytorch#141891",),
    matches=(
        Sample(
            (
                "[W1121 05:21:19.617029979 c5thbkdbl4vr4i2xtdohaf7bnv6ue4eovn2zj2gnzjfcbkkbu7dt."
                'wrapper.cpp:851] Warning: "Input 0 was compiled as 16-bytes aligned, but it is '
                "not aligned at run time. Copying to an aligned tensor to guarantee "
                'correctness, but expect a performance hit." (function run_impl)'
            ),
            "recorded",
            "torch 2.11.0, H200",
        ),
    ),
    neighbours=(
        Sample("RuntimeError: arg0_1 is not aligned to 16 bytes", "quoted", "another failure"),
    ),
)
