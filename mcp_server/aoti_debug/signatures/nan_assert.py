from aoti_debug.model import Fix
from aoti_debug.signatures.signature import Sample, Signature

SIGNATURE = Signature(
    id="nan_assert",
    family="M",
    phase="run",
    category="nan_or_inf",
    weight=80,
    confidence="proved",
    anchors=(
        "At least one NaN in ",
        "At least one INF in ",
        "aoti_torch_check_inf_and_nan",
        "NaN or Inf found",
    ),
    patterns=(
        r"At least one (?P<what>NaN|INF) in (?P<tensor>\w+)",
        (
            r"aoti_torch_check_inf_and_nan\(\"(?P<tensor>[^\"]{1,80})\".{0,200}API call fail"
            "ed"
        ),
        "Assertion `(?P<tensor>NaN or Inf found)` failed",
    ),
    summary="A NaN or infinity was found: {tensor}",
    means=(
        "TORCHINDUCTOR_NAN_ASSERTS stopped at the first tensor it looked at with such a "
        "value; argN_1 is input N of the graph. It looks at inputs and arguments of Triton "
        "kernels only and also rejects a legitimate -inf mask."
    ),
    mistaken_for="The kernel where the NaN is born",
    check="Is the named tensor an input? Then the caller delivers it",
    fixes=(
        Fix(
            what=(
                "Follow the value back: print min and max of the inputs, then of the "
                "kernels before with the value printer"
            )
        ),
    ),
    guide="guides/wrong-results.md#nan-and-inf",
    next_tool="triage",
    matches=(
        Sample("RuntimeError: At least one NaN in arg1_1", "recorded", "torch 2.13 CPU"),
        Sample("RuntimeError: At least one INF in arg1_1", "recorded", "torch 2.13 CPU"),
        Sample(
            (
                'Error: aoti_torch_check_inf_and_nan("arg1_1", arg1_1) API call failed at '
                "/tmp/e2/ic/cua5wyije3m4hfmu3tsi5zhhe2ywibcq7zfiwz4k4u6rrg5aegqw/c"
                "wtcdzwvykynbmo7wqxwxg64nqdbqleoglmxe2uvr7cz55pepgfm.wrapper.cpp, line 877"
            ),
            "recorded",
            "torch 2.13 CPU, stderr",
        ),
    ),
)
